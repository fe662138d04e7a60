/**
 * P5 and spec §9: "Old and new replicas both know the timer meanwhile; claims prevent double pops." Here meanwhile
 * lasts.
 * Found by seed 3060.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';
import { replacedByANewcomer } from './told/replaced-by-a-newcomer.ts';
import { slowAndLeftBehind } from './told/slow-and-left-behind.ts';

const five = ['m0', 'm1', 'm2', 'm3', 'm4'];
const seconds = 10;
const times = 8;

/** Timers that are popping, by id, and when each was set. */
async function manyTimers(story: Story, factor: number): Promise<Map<string, number>> {
  const timers = new Map<string, number>();
  for (let i = 0; i < 60; i++) {
    const setMs = story.cluster.world.nowMs;
    const { id } = await story.set({ seconds, times, factor }, five[i % five.length]);
    timers.set(id, setMs);
  }
  return timers;
}

/** m2 loses its lease and does not get it back: to the others it is gone, and it has heard nothing of that. */
async function leaveOneBehind(story: Story): Promise<void> {
  const { etcd } = story;
  if (etcd === null) throw new Error('This story has an etcd.');
  const mend = etcd.cut('m2');
  await story.pass(20);
  etcd.away = true;
  mend();
}

test.each([
  { factor: 2, delayMs: 1 },
  { factor: 3, delayMs: 1 },
  { factor: 3, delayMs: 5 },
])(
  'out of the view without knowing it: the member and its successor pop once between them, and in time: %j',
  async ({ factor, delayMs }) => {
    const story = await Story.begin({ members: five, etcd: true });
    story.cluster.cables.delayMs = delayMs;
    await story.pass(5);
    const timers = await manyTimers(story, factor);
    await leaveOneBehind(story);
    await story.pass(seconds * times);
    const callers = new Set<string>();
    for (const [id, setMs] of timers) {
      const calls = story.calls(id);
      expect(
        calls.map(({ sequence }) => sequence),
        id,
      ).toEqual(Array.from({ length: times }, (_, i) => i + 1));
      for (const { by, sequence, startMs } of calls) {
        callers.add(by);
        // At worst each of the two is refused for the other, once.
        expect(startMs - setMs - sequence * seconds * 1000, id).toBeLessThan(3100);
      }
    }
    expect([...callers].toSorted()).toEqual(five);
    expect(story.bugs).toEqual([]);
  },
);

test.each([
  { interval: 0.25, delayMs: 1 },
  { interval: 1, delayMs: 5 },
  { interval: 3, delayMs: 1 },
])(
  'a claim arrives before the record it is for, from a member that the holder would not ask: the pop is made once: %j',
  async ({ interval, delayMs }) => {
    for (const sequences of await slowAndLeftBehind(interval, delayMs)) {
      expect(sequences).toEqual([...new Set(sequences)]);
      expect(sequences.length).toBeGreaterThan(10);
    }
  },
);

/** Found by seed 50002199 of a denser search. */
test.each([0.25, 1, 5])(
  'a former replica that has not heard of a new member, which pops its timer, is told of each pop: made once (R=1): every %d s',
  async (interval) => {
    expect(await replacedByANewcomer(interval)).toEqual([1, 2, 3, 4, 5]);
  },
);
