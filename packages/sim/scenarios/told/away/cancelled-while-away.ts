/** A story for tests: a timer ends and is forgotten while a member is away, which then fails to start a few times. */
import { Story } from '../../../src/story.ts';

export async function cancelledWhileAway(
  factor: number,
): Promise<{ holders: string[]; pops: number }> {
  const config = new Map([['tombstoneRetentionMs', 60_000]]);
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'], etcd: true, config });
  const { cluster, etcd } = story;
  if (etcd === null) throw new Error('This story has an etcd.');
  const { id, replicas } = await story.set({ seconds: 700, factor });
  const [gone = '', there = ''] = replicas;
  await story.until(400);
  cluster.member(gone).crash({ power: false, wipe: false });
  await story.until(420);
  await story.cancel(id, there);
  await story.until(520);
  // Each start reads the disk, waits for etcd in vain, and ends.
  etcd.away = true;
  cluster.member(gone).start();
  await story.until(560);
  etcd.away = false;
  await story.until(600);
  const holders = story.holders(id);
  await story.until(800);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return { holders, pops: story.calls(id).length };
}
