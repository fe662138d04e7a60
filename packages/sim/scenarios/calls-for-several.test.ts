/**
 * P5: a call that stands for several pops goes before every claim for one of them, also where the claimant has made the
 * first.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';

test('two slow calls from the time of a cut: the one for several pops is waited for when that for the first ends', async () => {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  const { id, replicas } = await story.set({ seconds: 0.1, times: 17 });
  const [a = '', b = ''] = replicas;
  story.zero();
  story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 4500 });
  await story.until(1);
  const mend = story.part(a, b);
  await story.until(1.4);
  mend();
  await story.until(15);
  const [first, several, last, ...more] = story.pops(id);
  expect(first).toEqual({ at: 0.1, by: a, sequence: 1 });
  expect(several).toMatchObject({ at: 1.1, by: b });
  expect(several?.sequence).toBeGreaterThan(5);
  // Not at 4.6 s, when the answer to pop 1 is there.
  expect(last).toMatchObject({ at: 5.6, sequence: 17 });
  expect(more).toEqual([]);
  expect(story.bugs).toEqual([]);
});
