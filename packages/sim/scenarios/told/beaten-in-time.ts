/** A story for tests: the others come back, with something newer, while a member waits for them to confirm a cancel. */
import { Story } from '../../src/story.ts';

/** The answer of a member with a slow clock to the cancel, and the state of the timer there at that moment. */
export async function beatenInTime(
  seed: number,
): Promise<{ status: number; state: number | null }> {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'], seed });
  const { cluster } = story;
  const { id, replicas } = await story.set({ seconds: 300 });
  const [first = '', second = ''] = replicas;
  const others = [...cluster.members.keys()].filter((name) => name !== first);
  const mends = others.map((name) => story.part(first, name));
  cluster.member(first).clock.wallOffsetMs -= 5000;
  await story.pass(20);
  await story.replace(id, { seconds: 300 }, second);
  story.forget();
  // The member has stored the cancel itself, and asks the others in vain.
  cluster.world.after(20, () => {
    for (const mend of mends) mend();
  });
  const { status } = await story.cancel(id, first);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return { status, state: story.record(id, first)?.state ?? null };
}
