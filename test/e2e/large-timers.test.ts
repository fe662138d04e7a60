/** Large timers in a cluster of processes: bounded in bytes everywhere, so that readers of them are in nobody's way (P1, P5, P7). */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { RealCluster } from './support/real-cluster.ts';
import { latenessAt, Recorder } from './support/recorder.ts';
import { until } from './support/until.ts';

const opaque = 'x'.repeat(64 * 1024);
const timerCount = 200;
const perRequest = 20;
const times = 2;
const intervalSeconds = 5;
const readerCount = 3;

let cluster: RealCluster | null = null;
const recorder = new Recorder();
afterEach(async () => {
  await cluster?.end();
  recorder.close();
}, 60_000);

interface Page {
  readonly timers: readonly { readonly id: string }[];
  readonly cursor: string | null;
  readonly missing: readonly string[];
}

test('timers of 64 KiB are confirmed with all copies, listed completely while they pop, and no reader makes a pop twice', async () => {
  cluster = await RealCluster.start({ names: ['n0', 'n1', 'n2'] });
  const urls = cluster.running.map(({ url }) => url);
  const uri = await recorder.listen();
  const copies: string[] = [];
  for (let i = 0; i < timerCount / perRequest; i++) {
    copies.push(...(await setSome(urls[i % urls.length] ?? '', uri)));
  }
  expect(copies).toEqual(copies.map(() => '2/2'));
  const expected = timerCount * times;
  const isOver = (): boolean => popCount() >= expected;
  const lists = await Promise.all(
    Array.from({ length: readerCount }, (_, i) => readUntil(urls[i % urls.length] ?? '', isOver)),
  );
  await until('every pop delivered', 120_000, async () => isOver());
  await sleep(1000);
  const { calls } = recorder;
  console.log(
    `${calls.length} callbacks while ${lists.flat().length} lists were read, p99 lateness ${latenessAt(calls, 0.99)} ms`,
  );
  const complete = lists.flat().filter(({ isEarly }) => isEarly);
  expect(complete.map(({ count }) => count)).toEqual(complete.map(() => timerCount));
  expect(popCount()).toBe(expected);
  expect(calls.length - popCount()).toBe(0);
}, 300_000);

function popCount(): number {
  return new Set(recorder.calls.map(({ popId }) => popId)).size;
}

async function setSome(url: string, uri: string): Promise<string[]> {
  const timer = {
    timing: { interval: intervalSeconds, 'repeat-for': intervalSeconds * times + 0.001 },
    callback: { http: { uri, opaque } },
    reliability: { 'replication-factor': 2 },
  };
  const body = JSON.stringify(Array.from({ length: perRequest }, () => timer));
  const answer = await fetch(`${url}/timers/batch`, { method: 'POST', body });
  return ((await answer.json()) as { copies: string }[]).map(({ copies }) => copies);
}

/** Lists all timers again and again. `isEarly`: before the last pop of any of them can have come. */
async function readUntil(url: string, isOver: () => boolean) {
  const lists: { readonly count: number; readonly isEarly: boolean }[] = [];
  while (!isOver()) {
    const ids = new Set<string>();
    let cursor: string | null = null;
    do {
      const from: string = cursor === null ? '' : `&cursor=${cursor}`;
      const answer = await fetch(`${url}/timers?limit=1000${from}`);
      const page = (await answer.json()) as Page;
      expect(page.missing).toEqual([]);
      for (const { id } of page.timers) ids.add(id);
      ({ cursor } = page);
    } while (cursor !== null);
    lists.push({
      count: ids.size,
      isEarly: recorder.calls.every(({ sequence }) => sequence < times),
    });
  }
  return lists;
}
