/**
 * A story for tests: a replica is down, and its stand-in was away when the timer was replaced, so there is another one.
 */
import { Story } from '../../../src/story.ts';

const three = ['m0', 'm1', 'm2'];

/** The sequences of all callbacks of a timer whose only replica does not come back. */
export async function formerStandIn(seed: number): Promise<number[]> {
  const story = await Story.begin({ members: three, seed });
  const { cluster } = story;
  const set = await story.set({ seconds: 100, factor: 1 });
  const [first = ''] = set.replicas;
  cluster.member(first).crash({ power: false, wipe: false });
  await story.pass(2);
  const others = three.filter((name) => name !== first);
  const once = await story.replace(set.id, { seconds: 100, factor: 1 }, others[0]);
  const former = once.replicas.at(-1) ?? '';
  cluster.member(former).pause();
  await story.pass(3);
  const present = others.find((name) => name !== former);
  const { id } = await story.replace(
    once.id,
    { seconds: 3, times: 10, factor: 1, opaque: 'new' },
    present,
  );
  await story.pass(1);
  cluster.member(former).resume();
  await story.pass(40);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  const calls = story.calls(id).filter(({ body }) => body === 'new');
  return calls.map(({ sequence }) => sequence);
}
