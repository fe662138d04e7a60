/**
 * A story for tests: a member stands in for the one replica of a timer, which it could not reach. When the replica is
 * back it drains, and the stand-in, which has not heard of that, gives it the timer.
 */
import { Story } from '../../../src/story.ts';
import { numberOf } from './number-of.ts';

/** How often the timer is called back. */
export async function givenToALeaver(drainSeconds: number): Promise<number> {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  const { cluster } = story;
  const mend = story.part('m0', 'm1');
  await story.pass(1);
  const number = numberOf(['m0', 'm1'], 1);
  const { id } = await story.replace(`${number}-1`, { seconds: 20, factor: 1 }, 'm1');
  await story.pass(1);
  mend();
  await story.until(drainSeconds);
  // The program takes a while to end: it waits for answers of others.
  void cluster.member('m0').member?.drain();
  await story.pass(0.5);
  cluster.member('m0').crash({ power: true, wipe: false });
  await story.pass(60);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.calls(id).length;
}
