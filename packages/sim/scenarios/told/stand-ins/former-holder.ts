/** A story for tests: a timer is replaced through a member that held it once, and its replica is down. */
import { Story } from '../../../src/story.ts';
import { numberOf } from './number-of.ts';

/** The sequences of all callbacks after the replace. */
export async function formerHolder(seed: number): Promise<number[]> {
  const story = await Story.begin({ members: ['m0'], etcd: true, seed });
  const { cluster } = story;
  const number = numberOf(['m1', 'm2', 'm0'], seed * 1000);
  const old = await story.replace(`${number}-1`, { seconds: 1000, factor: 1 });
  cluster.add('m1').start();
  cluster.add('m2').start();
  await story.pass(20);
  cluster.member('m1').crash({ power: true, wipe: false });
  const { id } = await story.replace(old.id, { seconds: 1, factor: 1 }, 'm0');
  await story.pass(5);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.calls(id).map(({ sequence }) => sequence);
}
