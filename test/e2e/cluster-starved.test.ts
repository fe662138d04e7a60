/**
 * Members on a machine without time for them: "a member that gets no processor for a second must come late, not twice".
 */
import { afterEach, expect, test } from 'vitest';
import { Story } from './support/story.ts';

let story: Story | null = null;
afterEach(async () => {
  await story?.end();
  story = null;
}, 60_000);

test('members that get no processor for up to a second, one or all of them, repeat no callback of timers of 4 s and more', async () => {
  const load = { intervalMsMin: 4000, intervalMsMax: 5000 };
  story = await Story.begin({ names: ['n0', 'n1', 'n2'], load });
  story.load.start();
  await story.pass(2000, 2000);
  const members = [...story.cluster.members.values()];
  await story.stall(members, 6000, 1000);
  await story.stall(members.slice(1, 2), 6000, 1000);
  expect(await story.finish('without a processor')).toEqual([]);
  expect(story.court.duplicates).toBe(0);
});
