/**
 * A story for tests: the one replica of a timer leaves. Its stand-in hears of the new view first and gives the timer to
 * the new replica; then the timer is replaced through a member that has not heard of the view, and asks the stand-in.
 */
import { Story } from '../../../src/story.ts';
import { viewMember } from '../../../src/world/views.ts';
import { numberThatMoves } from './number-of.ts';

const members = ['m0', 'm1', 'm2', 'm3'];

/** Seconds between the replace and each callback after it. `via`: the member that takes the replace. */
export async function replacedByAnOlderView(via: 'm1' | 'm3', seed: number): Promise<number[]> {
  const story = await Story.begin({ members, seed });
  const { cluster } = story;
  cluster.member('m0').crash({ power: false, wipe: false });
  cluster.views.change(
    members.slice(1).map((name) => viewMember(name)),
    { m0: 0, m1: via === 'm1' ? 1500 : 0, m2: 800, m3: 1500 },
  );
  const move = { members, before: ['m0', 'm2'], after: 'm1' } as const;
  const number = numberThatMoves({ from: seed * 1000, ...move });
  const old = await story.replace(`${number}-1`, { seconds: 2, factor: 1 }, via);
  await story.until(1);
  if (story.holders(old.id).join() !== 'm1') throw new Error('The stand-in gave the timer to m1.');
  // The client names no holders of the id: it has not read the timer since.
  await story.replace(old.id, { seconds: 5, factor: 1 }, via);
  const replacedSeconds = story.seconds;
  await story.pass(12);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.pops(old.id).map(({ at }) => Math.round(at - replacedSeconds));
}
