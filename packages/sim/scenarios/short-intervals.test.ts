/** P4: "A timer set for n pops by 2n while any replica of it is alive and able to reach the receiver, for every n from 100 ms up." */
import { expect, test } from 'vitest';
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
