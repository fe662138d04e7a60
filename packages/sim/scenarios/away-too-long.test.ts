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

const five = ['m0', 'm1', 'm2', 'm3', 'm4'];

type Change = (story: Story, id: string, via: string) => unknown;

/** One member is cut off from the others, takes a change of their timer, and all lose power before the split heals. */
async function changedAndRestarted(change: Change, isReplica = false) {
  const tombstoneRetentionMs = isReplica ? 3_600_000 : 60_000;
  const config = new Map([['tombstoneRetentionMs', tombstoneRetentionMs]]);
  const story = await Story.begin({ members: five, config });
  await story.pass(5);
  const { id, replicas } = await story.set({ seconds: 140, times: 2, factor: 2, opaque: 'old' });
  const [alone = ''] = five.filter((name) => replicas.includes(name) === isReplica);
  await story.pass(50);
  const mends = five.filter((name) => name !== alone).map((name) => story.part(alone, name));
  await story.pass(3);
  await change(story, id, alone);
  const changedMs = story.cluster.world.nowMs;
  await story.pass(35);
  for (const name of five) story.cluster.member(name).crash({ power: true, wipe: false });
  await story.pass(15);
  for (const name of five) story.cluster.member(name).start();
  await story.pass(11);
  for (const mend of mends) mend();
  await story.pass(400);
  expect(story.bugs).toEqual([]);
  const calls = story.calls(id).filter(({ startMs }) => startMs > changedMs);
  return calls.map(({ body }) => body);
}

test('cancelled by a stand-in that was cut off, and all restart before the split heals: it does not pop', async () => {
  const bodies = await changedAndRestarted((story, id, via) => story.cancel(id, via));
  expect(bodies).toEqual([]);
});

test('replaced by a stand-in that was cut off, and all restart before the split heals: only the new definition pops', async () => {
  const bodies = await changedAndRestarted((story, id, via) =>
    story.replace(id, { seconds: 100, opaque: 'new' }, via),
  );
  expect(bodies).toEqual(['new']);
});

test('changed by a replica that was cut off, and all restart before the split heals: the others hear of it at once', async () => {
  const cancel: Change = (story, id, via) => story.cancel(id, via);
  expect(await changedAndRestarted(cancel, true)).toEqual([]);
  const replace: Change = (story, id, via) =>
    story.replace(id, { seconds: 100, opaque: 'new' }, via);
  expect(await changedAndRestarted(replace, true)).toEqual(['new']);
});
