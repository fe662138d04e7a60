/** P5 and P6: a member that was away for longer than ended timers are remembered asks the others before it trusts its records. */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';
import { cancelledWhileAway } from './told/cancelled-while-away.ts';

test.each([2, 3])(
  'cancelled while a member is away, and forgotten before it is back after starts that failed: it does not pop (R=%i)',
  async (factor) => {
    expect(await cancelledWhileAway(factor)).toEqual({ holders: [], pops: 0 });
  },
);

test('ended while a member is away, at one that joined after the timer was set, and forgotten: no pop is made again', async () => {
  const config = new Map([['tombstoneRetentionMs', 60_000]]);
  const story = await Story.begin({ members: ['m0'], etcd: true, config });
  const { cluster } = story;
  const { id } = await story.set({ seconds: 230, times: 2 });
  await story.until(5);
  cluster.add('m1').start();
  await story.until(450);
  cluster.member('m0').crash({ power: true, wipe: false });
  await story.until(700);
  cluster.member('m0').start();
  await story.until(800);
  expect(story.calls(id).map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(story.holders(id)).toEqual([]);
  expect(story.bugs).toEqual([]);
});
