/**
 * A story for tests: the one replica of a timer drains and gives the timer to another member. The others have not heard
 * of a new view, so a cancel finds the replica gone and is kept by its stand-in.
 */
import { Story } from '../../../src/story.ts';
import { numberThatMoves } from './number-of.ts';

/** How often the timer is called back after its cancel. */
export async function cancelledAfterADrain(seed: number): Promise<number> {
  const members = ['m0', 'm1', 'm2', 'm3'];
  const story = await Story.begin({ members, seed });
  const move = { members, before: ['m1', 'm3'], after: 'm0' } as const;
  const number = numberThatMoves({ from: seed * 1000, ...move });
  const { id } = await story.replace(`${number}-1`, { seconds: 4, factor: 1 }, 'm2');
  void story.cluster.member('m1').drain();
  await story.pass(1);
  if (story.holders(id).join() !== 'm0') throw new Error('m1 gave the timer to m0.');
  await story.cancel(id, 'm3');
  await story.pass(12);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.calls(id).length;
}
