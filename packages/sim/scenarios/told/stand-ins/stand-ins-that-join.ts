/** A story for tests: the one replica of a timer is down, and two members join that rank before its stand-in. */
import { Story } from '../../../src/story.ts';
import { viewMember } from '../../../src/world/views.ts';
import { numberOf } from './number-of.ts';

/** The sequences of all callbacks. The members that join find the replica absent 30 s after the others do. */
export async function standInsThatJoin(seed: number, betweenSeconds: number): Promise<number[]> {
  const order = ['m1', 'm3', 'm4', 'm2', 'm0'];
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'], seed });
  const { cluster } = story;
  const joins = (name: string, all: readonly string[]): void => {
    cluster.add(name).start();
    cluster.views.change(all.map((listed) => viewMember(listed)));
  };
  cluster.member('m1').crash({ power: false, wipe: false });
  await story.pass(25);
  const number = numberOf(order, seed * 1000);
  const { id } = await story.replace(`${number}-1`, { seconds: 1, times: 50, factor: 1 }, 'm0');
  await story.pass(10);
  joins('m4', ['m0', 'm1', 'm2', 'm4']);
  await story.pass(betweenSeconds);
  joins('m3', ['m0', 'm1', 'm2', 'm4', 'm3']);
  await story.pass(60);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.calls(id).map(({ sequence }) => sequence);
}
