/**
 * A story for tests: the wall clocks of three members differ, and one member is cut off from the others and from etcd
 * until its view has shrunk. A timer is replaced there, and three seconds later on the other side.
 */
import { Story } from '../../src/story.ts';

const offMs = { m0: 2200, m1: 3000, m2: -4500 };

/** The bodies of all callbacks of the timer. */
export async function shrunkSplit(): Promise<{ story: Story; bodies: string[] }> {
  const story = await Story.begin({ members: Object.keys(offMs), etcd: true });
  const { cluster, etcd } = story;
  for (const [name, ms] of Object.entries(offMs)) cluster.member(name).clock.wallOffsetMs = ms;
  await story.pass(60);
  const { id } = await story.set({ seconds: 100, factor: 3, opaque: 'first' }, 'm0');
  const mends = [story.part('m1', 'm0'), story.part('m1', 'm2'), etcd?.cut('m1')];
  await story.pass(20);
  await story.replace(id, { seconds: 100, factor: 3, opaque: 'earlier' }, 'm1');
  await story.pass(3);
  story.forget();
  await story.replace(id, { seconds: 100, factor: 3, opaque: 'later' }, 'm2');
  await story.pass(5);
  for (const mend of mends) mend?.();
  await story.pass(150);
  return { story, bodies: story.calls(id).map(({ body }) => body) };
}
