/** A story for tests: a member drains in the middle of a pop. */
import { Story, type Wish } from '../../src/story.ts';

/** Receivers are slow, and the first replica drains while its call is under way; the sequences of all calls. */
export async function drainedWhileCalling(
  seed: number,
  wish: Wish,
  atSeconds: number,
): Promise<number[]> {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'], seed });
  const { cluster } = story;
  cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 4500 });
  const { id, replicas } = await story.set(wish);
  await story.until(atSeconds);
  void cluster.member(replicas[0] ?? '').drain();
  await story.until(40);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.calls(id).map(({ sequence }) => sequence);
}
