/**
 * A story for tests: a member is cut off from the others for longer than these remember that a timer has ended, and
 * runs on. Meanwhile the others go on without it, and a timer of which it has a copy is cancelled.
 */
import { Story } from '../../../src/story.ts';
import { viewMember } from '../../../src/world/views.ts';

const members = ['m0', 'm1', 'm2', 'm3'];

/** How the others come to go on without the member: it loses its place in etcd, or is taken off the list. */
export type Left = 'etcd' | 'static';

/** Members with a copy of the cancelled timer after the split, and its callbacks. */
export async function apartForLong(left: Left, factor: number) {
  const config = new Map([['tombstoneRetentionMs', 60_000]]);
  const story = await Story.begin({ members, etcd: left === 'etcd', config });
  const { id, replicas } = await story.set({ seconds: 2000, factor });
  const kept = await story.set({ seconds: 2000, factor });
  const [gone = ''] = replicas;
  const rest = members.filter((name) => name !== gone);
  await story.until(400);
  const mends = rest.map((name) => story.part(gone, name));
  const rejoin = story.etcd?.cut(gone);
  const list = (names: readonly string[], later = {}): void => {
    if (left === 'static')
      story.cluster.views.change(
        names.map((name) => viewMember(name)),
        later,
      );
  };
  await story.pass(60);
  list(rest, { [gone]: 10_000_000 });
  await story.pass(10);
  await story.cancel(id, rest[0]);
  await story.pass(600);
  for (const mend of mends) mend();
  rejoin?.();
  list(members);
  await story.pass(100);
  const holders = story.holders(id);
  await story.until(2100);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return { holders, pops: story.calls(id).length, kept: story.calls(kept.id).length };
}
