/**
 * A member joins by the members file while the only holder of all timers is down. When the holder is back, it makes the
 * pops that it slept over and gives the newcomer its copies, to which it still counts as silent.
 */
import { Story } from '../../src/story.ts';
import { viewMember } from '../../src/world/views.ts';

/** How often each of 20 timers of so many seconds was called back. */
export async function joinsWhileAway(seconds: number, seed: number): Promise<number[]> {
  const story = await Story.begin({ members: ['m0'], seed });
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.push((await story.set({ seconds })).id);
  const holder = story.cluster.member('m0');
  void holder.stop();
  while (holder.up) await story.pass(0.05);
  await story.pass(3);
  story.cluster.add('m1').start();
  story.cluster.views.change([viewMember('m0'), { ...viewMember('m1'), phase: 'joining' }]);
  await story.until(seconds + 2);
  holder.start();
  await story.pass(60);
  return ids.map((id) => story.calls(id).length);
}
