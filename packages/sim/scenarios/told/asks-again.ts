/**
 * A story for tests: a replica sleeps over a pop, and its questions reach the other ones, but their answers do not
 * reach it. It asks again for five seconds. The others were awake all the time. Found by seed 4192670844.
 */
import { Story } from '../../src/story.ts';

/** When the pop of a timer of 5 s was made; `wakesS`: when the first replica wakes up. */
export async function asksAgain(factor: number, wakesS: number): Promise<number> {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const { id, replicas } = await story.set({ seconds: 5, factor });
  const [first = '', ...others] = replicas;
  for (const name of others) story.cluster.cables.cut(name, first);
  await story.until(4);
  story.cluster.member(first).stall((wakesS - 4) * 1000);
  await story.until(30);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.pops(id)[0]?.at ?? Infinity;
}
