/**
 * A story for tests: a member that gets no processor again and again has a pop to make, and the other replica stands
 * still. Found by seed 866907844.
 */
import { Story } from '../../src/story.ts';

const stillS = 0.92;

/**
 * When the pop of a timer of 5 s was made; `fromS`: when the member first gets no processor; `gapS`: how long it runs
 * in between.
 */
export async function againAndAgain(fromS: number, gapS: number): Promise<number> {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  const { id, replicas } = await story.set({ seconds: 5 });
  const [first = '', second = ''] = replicas;
  const member = story.cluster.member(first);
  await story.until(1);
  story.cluster.member(second).pause();
  for (let atS = fromS; atS < 14; atS += stillS + gapS) {
    await story.until(atS);
    member.pause();
    await story.until(atS + stillS);
    member.resume();
  }
  await story.until(30);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.pops(id)[0]?.at ?? Infinity;
}
