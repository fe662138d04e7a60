/** Real members whose journals were damaged while they were down. */
import { afterEach, expect, test } from 'vitest';
import { Receiver } from './receiver.ts';
import { damageEntries } from './support/damage.ts';
import { whereabouts } from './support/holders.ts';
import { RealCluster } from './support/real-cluster.ts';
import type { RealMember } from './support/real-member.ts';
import { until } from './support/until.ts';

const timerCount = 600;
const damagedCount = 100;
/** Due when everything before that has been looked at: on a quiet machine, and in a second attempt on a busy one. */
const dueSeconds = { first: 25, second: 75 };
const minuteMs = 60_000;

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
}, minuteMs);

async function setMany(member: RealMember, uri: string, interval: number): Promise<string[]> {
  const timers = Array.from({ length: timerCount }, (_, i) => ({
    timing: { interval },
    callback: { http: { uri, opaque: `timer ${i}` } },
    reliability: { 'replication-factor': 2 },
  }));
  const answer = await fetch(`${member.url}/timers/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(timers),
  });
  expect(answer.status).toBe(200);
  const outcomes = (await answer.json()) as { id: string }[];
  return outcomes.map(({ id }) => id);
}

async function mended(member: RealMember): Promise<void> {
  await until(`${member.name} has mended what it lost`, minuteMs, async () => {
    return (await member.cluster()).damage?.state === 'mended';
  });
}

test('100 entries damaged while a member was down: two intact copies of every timer within a minute, and each pops once', async ({
  task,
}) => {
  const receiver = new Receiver();
  ends.push(() => receiver.close());
  const uri = `${await receiver.listen()}/pop`;
  const flags = ['--callbacks-allow', 'loopback'];
  const cluster = await RealCluster.start({ names: ['n0', 'n1', 'n2'], flags });
  ends.push(() => cluster.end());
  const isSecond = (task.result?.retryCount ?? 0) > 0;
  const interval = isSecond ? dueSeconds.second : dueSeconds.first;
  const ids = await setMany(cluster.member('n0'), uri, interval);
  const damaged = cluster.member('n1');
  const before = await damaged.copies();
  await damaged.stop();
  expect(damageEntries(cluster.dataOf('n1'), damagedCount)).toBeGreaterThan(damagedCount);
  await damaged.start();
  await mended(damaged);
  expect((await damaged.cluster()).damage?.['entries-lost']).toBe(damagedCount);
  await until('two copies of every timer, where they belong', minuteMs, async () => {
    return (await whereabouts(cluster.running, ids, 2)).wrong.length === 0;
  });
  expect(await damaged.copies()).toBe(before);
  // Intact: read from the disk once more, everything is there.
  await damaged.kill();
  await damaged.start();
  expect((await damaged.cluster()).damage).toBeNull();
  expect(await damaged.copies()).toBe(before);
  expect(receiver.callbacks).toEqual([]);
  await receiver.received(timerCount);
  await until('no callback is under way', minuteMs, async () => (await cluster.copies()) === 0);
  expect(receiver.callbacks.map(({ opaque }) => opaque).toSorted()).toEqual(
    ids.map((_, i) => `timer ${i}`).toSorted(),
  );
}, 300_000);
