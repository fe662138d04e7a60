/**
 * A story for tests: a change that one member took while it was cut off, and a restart of all before the split heals.
 */
import { Story } from '../../../src/story.ts';

const five = ['m0', 'm1', 'm2', 'm3', 'm4'];

export type Change = (story: Story, id: string, via: string) => unknown;

/** One member is cut off from the others, takes a change of their timer, and all lose power before the split heals. */
export async function changedAndRestarted(change: Change, isReplica = false) {
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
  const calls = story.calls(id).filter(({ startMs }) => startMs > changedMs);
  return { story, bodies: calls.map(({ body }) => body) };
}
