/** Timers of 64 KiB in a cluster of processes that pop while clients list all of them again and again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RealCluster } from './real-cluster.ts';
import { latenessAt, Recorder } from './recorder.ts';
import { until } from './until.ts';

const opaque = 'x'.repeat(64 * 1024);
export const timerCount = 200;
const perRequest = 20;
const intervalSeconds = 5;
const readerCount = 3;

export interface LargeTimers {
  /** As the answers to the sets say. */
  readonly copies: readonly string[];
  /** Timers in each list that was read before any timer can have ended. */
  readonly listed: readonly number[];
  readonly pops: number;
  readonly repeated: number;
  readonly p99LatenessMs: number;
}

interface Page {
  readonly timers: readonly { readonly id: string }[];
  readonly cursor: string | null;
  readonly missing: readonly string[];
}

/** Each timer pops `times` times. */
export async function largeTimers(times: number): Promise<LargeTimers> {
  const cluster = await RealCluster.start({ names: ['n0', 'n1', 'n2'] });
  const recorder = new Recorder();
  try {
    return await read(cluster, recorder, times);
  } finally {
    await cluster.end();
    recorder.close();
  }
}

async function read(cluster: RealCluster, recorder: Recorder, times: number): Promise<LargeTimers> {
  const urls = cluster.running.map(({ url }) => url);
  const uri = await recorder.listen();
  const copies: string[] = [];
  for (let i = 0; i < timerCount / perRequest; i++) {
    copies.push(...(await setSome(urls[i % urls.length] ?? '', uri, times)));
  }
  const expected = timerCount * times;
  const popCount = (): number => new Set(recorder.calls.map(({ popId }) => popId)).size;
  const isOver = (): boolean => popCount() >= expected;
  const isEarly = (): boolean => recorder.calls.every(({ sequence }) => sequence < times);
  const lists = await Promise.all(
    Array.from({ length: readerCount }, (_, i) =>
      readUntil(urls[i % urls.length] ?? '', isOver, isEarly),
    ),
  );
  await until('every pop delivered', 120_000, async () => isOver());
  await sleep(1000);
  const { calls } = recorder;
  return {
    copies,
    listed: lists.flat(),
    pops: popCount(),
    repeated: calls.length - popCount(),
    p99LatenessMs: latenessAt(calls, 0.99),
  };
}

async function setSome(url: string, uri: string, times: number): Promise<string[]> {
  const timer = {
    timing: { interval: intervalSeconds, 'repeat-for': intervalSeconds * times + 0.001 },
    callback: { http: { uri, opaque } },
    reliability: { 'replication-factor': 2 },
  };
  const body = JSON.stringify(Array.from({ length: perRequest }, () => timer));
  const answer = await fetch(`${url}/timers/batch`, { method: 'POST', body });
  return ((await answer.json()) as { copies: string }[]).map(({ copies }) => copies);
}

/** Lists all timers again and again; how many were in each list that ended early. */
async function readUntil(
  url: string,
  isOver: () => boolean,
  isEarly: () => boolean,
): Promise<number[]> {
  const counts: number[] = [];
  while (!isOver()) {
    const ids = new Set<string>();
    let cursor: string | null = null;
    do {
      const from: string = cursor === null ? '' : `&cursor=${cursor}`;
      const answer = await fetch(`${url}/timers?limit=1000${from}`);
      const page = (await answer.json()) as Page;
      if (page.missing.length > 0) throw new Error(`${page.missing.join()} did not answer.`);
      for (const { id } of page.timers) ids.add(id);
      ({ cursor } = page);
    } while (cursor !== null);
    if (isEarly()) counts.push(ids.size);
  }
  return counts;
}
