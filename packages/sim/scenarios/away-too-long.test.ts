/**
 * P5 and P6: a member that was away for longer than ended timers are remembered asks the others before it trusts its
 * records.
 * Found by seed 7000838.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';
import { apartForLong } from './told/away/apart-for-long.ts';
import { type Change, changedAndRestarted } from './told/away/changed-and-restarted.ts';
import { cancelledWhileAway } from './told/away/cancelled-while-away.ts';
import { doubtsAndDrains } from './told/away/doubts-and-drains.ts';

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

/** The bodies of the callbacks after the change. */
async function bodiesAfter(change: Change, isReplica = false): Promise<string[]> {
  const { story, bodies } = await changedAndRestarted(change, isReplica);
  expect(story.bugs).toEqual([]);
  return bodies;
}

test('cancelled by a stand-in that was cut off, and all restart before the split heals: it does not pop', async () => {
  const bodies = await bodiesAfter((story, id, via) => story.cancel(id, via));
  expect(bodies).toEqual([]);
});

test('replaced by a stand-in that was cut off, and all restart before the split heals: only the new definition pops', async () => {
  const bodies = await bodiesAfter((story, id, via) =>
    story.replace(id, { seconds: 100, opaque: 'new' }, via),
  );
  expect(bodies).toEqual(['new']);
});

test('changed by a replica that was cut off, and all restart before the split heals: the others hear of it at once', async () => {
  const cancel: Change = (story, id, via) => story.cancel(id, via);
  expect(await bodiesAfter(cancel, true)).toEqual([]);
  const replace: Change = (story, id, via) =>
    story.replace(id, { seconds: 100, opaque: 'new' }, via);
  expect(await bodiesAfter(replace, true)).toEqual(['new']);
});

test.each(
  (['etcd', 'static'] as const).flatMap((left) => [2, 3].map((factor) => ({ left, factor }))),
)(
  'a member that was cut off for longer than ends are remembered, and ran on, asks before it trusts its records: a cancelled timer stays cancelled (P6): %j',
  async ({ left, factor }) => {
    expect(await apartForLong(left, factor)).toEqual({ holders: [], pops: 0, kept: 1 });
  },
);

/** Found by seed 986051727. */
test('a member that doubts a record does not wait for a replica that has left for good: its drain comes to an end (P8)', async () => {
  expect(await doubtsAndDrains()).toBe(true);
});
