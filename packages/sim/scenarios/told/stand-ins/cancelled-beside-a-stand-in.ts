/**
 * A story for tests: a timer is cancelled while one of its two replicas is cut off. The other replica, which took the
 * cancel, stands still when the net-split heals: only the stand-in can tell of the cancel.
 */
import { Story } from '../../../src/story.ts';
import { numberOf } from './number-of.ts';

export interface Told {
  /** The timer is replaced on the other side of the split, by a client that knows nothing of the cancel. */
  readonly replaced: boolean;
  readonly seed: number;
}

/** How many callbacks come later than 3 s after the split healed. */
export async function cancelledBesideAStandIn({ replaced, seed }: Told): Promise<number> {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'], seed });
  const [asked, cutOff, standIn] = ['m0', 'm2', 'm1'] as const;
  const { id } = await story.replace(`${numberOf([asked, cutOff, standIn], seed * 1000)}-2`, {
    seconds: 10,
    times: 20,
  });
  await story.until(11);
  const mends = [story.part(cutOff, asked), story.part(cutOff, standIn)];
  await story.pass(5);
  if (replaced) await story.replace(id, { seconds: 10, times: 20 }, cutOff);
  await story.cancel(id, asked);
  await story.pass(2);
  story.cluster.member(asked).pause();
  await story.pass(10);
  for (const mend of mends) mend();
  await story.pass(3);
  const before = story.calls(id).length;
  await story.pass(30);
  const { length } = story.calls(id);
  story.cluster.member(asked).resume();
  await story.pass(20);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return length - before;
}
