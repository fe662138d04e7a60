/**
 * P2: "Every due pop ends in a 2xx from the receiver or as a dead letter." Also when no member can keep the letter at
 * first.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';

const limit = { limit: 3, base: 0.5, cap: 1 };

test('a pop that waits for an open circuit is given up while no member can keep its letter: it is tried later', async () => {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  const { cluster } = story;
  cluster.receivers.behave('r0', { does: 'refuse' });
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) {
    ids.push((await story.set({ seconds: 5, times: 20, retry: limit })).id);
  }
  const mend = story.part('m0', 'm1');
  await story.pass(3);
  // m0 is draining, so it keeps nothing new itself, and it reaches no other member.
  void cluster.member('m0').drain();
  await story.pass(40);
  cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 1 });
  mend();
  await story.pass(150);
  expect(story.bugs).toEqual([]);
  for (const id of ids) expect(story.calls(id).at(-1)?.sequence, id).toBe(20);
});
