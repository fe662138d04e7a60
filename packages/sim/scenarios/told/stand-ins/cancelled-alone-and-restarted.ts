/**
 * A story for tests: a member that is cut off from all others takes the cancel of a timer as a stand-in for both
 * replicas. It restarts before the net-split heals, and no longer remembers which members lack the cancel.
 */
import { Story } from '../../../src/story.ts';
import { numberOf } from './number-of.ts';

export interface Told {
  /** Seconds from the cancel to the end of the net-split. */
  readonly mended: number;
  readonly seed: number;
}

/** How many callbacks come later than 3 s after the split healed. */
export async function cancelledAloneAndRestarted({ mended, seed }: Told): Promise<number> {
  const others = ['m1', 'm2', 'm3'];
  const members = [...others, 'm0'];
  const story = await Story.begin({ members, seed });
  const number = numberOf(members, seed * 1000);
  const { id } = await story.replace(`${number}-2`, { seconds: 3, times: 50 });
  const mends = others.map((name) => story.part('m0', name));
  await story.pass(5);
  await story.cancel(id, 'm0');
  await story.pass(2);
  const alone = story.cluster.member('m0');
  alone.crash({ power: true, wipe: false });
  await story.pass(1);
  alone.start();
  await story.pass(mended - 3);
  for (const mend of mends) mend();
  await story.pass(3);
  const before = story.calls(id).length;
  await story.pass(30);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.calls(id).length - before;
}
