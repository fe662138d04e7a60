/**
 * A story for tests: the replica of a timer is down and a member stands in for it. The timer is cancelled through that
 * member, by an id that does not name it, and another member stands in for the cancel.
 */
import { Story } from '../../../src/story.ts';
import { numberOf } from './number-of.ts';

/** How many callbacks come after the cancel was confirmed. */
export async function cancelledThroughAStandIn(seed: number): Promise<number> {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'], seed });
  const [replica, next, last] = ['m1', 'm0', 'm2'] as const;
  const number = `${numberOf([replica, next, last], seed * 1000)}-1`;
  story.cluster.member(replica).crash({ power: true, wipe: false });
  const mend = story.part(next, last);
  await story.pass(5);
  await story.replace(number, { seconds: 20, factor: 1 }, last);
  mend();
  await story.pass(2);
  await story.cancel(number, last);
  const before = story.calls(number).length;
  await story.pass(40);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.calls(number).length - before;
}
