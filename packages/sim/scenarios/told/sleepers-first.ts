/**
 * A story for tests: two replicas sleep over a pop, wake up one after the other, claim it, and get no processor again.
 * The third was awake all the time. Found by seed 1682004950.
 */
import { Story } from '../../src/story.ts';

/** When the pop of a timer of 5 s was made; `wakesS`: when the second replica wakes up. */
export async function sleepersFirst(wakesS: number): Promise<number> {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const { id, replicas } = await story.set({ seconds: 5, factor: 3 });
  const [first, second] = replicas.map((name) => story.cluster.member(name));
  await story.until(4);
  second?.stall((wakesS - 4) * 1000);
  // The claim of the first is on its way, and it misses the answer of the second.
  await story.until(5.03);
  first?.stall(4000);
  await story.until(wakesS + 0.25);
  second?.stall(4000);
  await story.until(30);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.pops(id)[0]?.at ?? Infinity;
}
