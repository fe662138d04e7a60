/**
 * P4: "A timer set for n pops by 2n while any replica of it is alive and able to reach the receiver, for every n from
 * 100 ms and from 40 ms × factor up; below that by n + 40 ms × factor."
 */
import { expect, test } from 'vitest';
import { allowedMs } from '../src/checkers/by-twice.ts';
import { Story } from '../src/story.ts';

const cases = [
  { seconds: 0.1, power: true },
  { seconds: 0.1, power: false },
  { seconds: 1, power: true },
  { seconds: 3, power: true },
  { seconds: 20, power: false },
];

test.each(cases)(
  'pop: the primary is dead (n=$seconds s, R=3, power=$power)',
  async ({ seconds, power }) => {
    const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
    const { id, replicas } = await story.set({ seconds, times: 10, factor: 3 });
    const setAt = story.seconds;
    story.cluster.member(replicas[0] ?? '').crash({ power, wipe: false });
    await story.pass(seconds * 12);
    const calls = story.calls(id);
    expect(calls.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for (const { startMs, sequence } of calls) {
      const since = startMs / 1000 - 5 - setAt;
      expect(since).toBeLessThanOrEqual(seconds * (sequence + 1));
    }
  },
);

test.each(cases)(
  'pop: the two first replicas are dead (n=$seconds s, R=3, power=$power)',
  async ({ seconds, power }) => {
    const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
    const { id, replicas } = await story.set({ seconds, factor: 3 });
    const [a = '', b = '', c = ''] = replicas;
    for (const name of [a, b]) story.cluster.member(name).crash({ power, wipe: false });
    await story.until(2 * seconds);
    expect(story.calls(id).map(({ by, sequence }) => [by, sequence])).toEqual([[c, 1]]);
  },
);

test('pop: the primary dies while its callback is under way (n=1 s, R=2)', async () => {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  const { id, replicas } = await story.set({ seconds: 1 });
  const [a = '', b = ''] = replicas;
  // The receiver never answers, so the claim is held while the call is in flight.
  story.cluster.receivers.behave('r0', { does: 'hang' });
  await story.until(1.01);
  expect(story.pops(id)).toEqual([{ at: 1, by: a, sequence: 1 }]);
  story.cluster.member(a).crash({ power: true, wipe: false });
  story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 1 });
  await story.until(2);
  // When the claim ends (half the interval), and after another wait for answers that do not come.
  const last = story.pops(id).at(-1);
  expect(last).toMatchObject({ by: b, sequence: 1 });
  expect(last?.at).toBeGreaterThanOrEqual(1.5);
});

test.each([
  { seconds: 0.1, downMs: 38 },
  { seconds: 0.3, downMs: 38 },
  { seconds: 1, downMs: 38 },
  { seconds: 3, downMs: 38 },
])(
  'pop: all were down, and only the holder is back: it asks the others in vain, not again and again: %j (R=1)',
  async ({ seconds, downMs }) => {
    const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
    const { id, replicas } = await story.set({ seconds, times: 50, factor: 1 });
    const setMs = story.cluster.world.nowMs;
    const holder = story.cluster.member(replicas[0] ?? '');
    await story.pass(5.2 * seconds);
    for (const member of story.cluster.members.values()) member.crash({ power: true, wipe: false });
    await story.pass(downMs / 1000);
    holder.start();
    await story.pass(Math.max(3, 4 * seconds));
    const { servingSinceMs } = holder;
    for (let sequence = 1; ; sequence++) {
      const dueMs = setMs + sequence * seconds * 1000;
      if (dueMs + seconds * 1000 > story.cluster.world.nowMs) break;
      if (dueMs < servingSinceMs) continue;
      const begun = story.calls(id).find((call) => call.sequence >= sequence);
      // The record on disk has whole milliseconds, and one more.
      expect(begun?.startMs, `pop ${sequence}`).toBeLessThanOrEqual(dueMs + seconds * 1000 + 3);
    }
    expect(story.bugs).toEqual([]);
  },
);

const sixteen = Array.from({ length: 16 }, (_, i) => `m${i}`);

test.each([1, 8, 16].flatMap((factor) => [20, 99, 100, 320].map((n) => ({ factor, n }))))(
  'pop: all replicas but the last are dead, for every n and factor: %j',
  async ({ factor, n }) => {
    const story = await Story.begin({ members: sixteen });
    const { id, replicas } = await story.set({ seconds: n / 1000, factor }, 'm0');
    const setMs = story.cluster.world.nowMs;
    for (const name of replicas.slice(0, -1))
      story.cluster.member(name).crash({ power: true, wipe: false });
    await story.pass(3);
    const [call] = story.calls(id);
    const limitMs = n + allowedMs({ intervalMs: n, factor });
    expect((call?.startMs ?? Number.POSITIVE_INFINITY) - setMs).toBeLessThanOrEqual(limitMs);
    expect(story.bugs).toEqual([]);
  },
);
