/**
 * A member restarts just after it made pops. The other replica is down since a while, and a third member has a copy, of
 * which the first may not know: the copy came when the first restarted for the first time, and was given to others for
 * a moment.
 */
import { Story } from '../../../src/story.ts';

const three = ['m0', 'm1', 'm2'];

export interface Restarts {
  /** When the member restarts first; timers are due at 30 s. */
  readonly firstS: number;
  /** When it restarts again, and for how long it is down then. */
  readonly againS: number;
  readonly downS: number;
  readonly seed: number;
}

/** How often each of 40 timers was called back. */
export async function restartsAfterItsPops(restarts: Restarts): Promise<number[]> {
  const { firstS, againS, downS, seed } = restarts;
  const story = await Story.begin({ members: three, etcd: true, seed });
  const ids: string[] = [];
  for (let i = 0; i < 40; i++) ids.push((await story.set({ seconds: 30 }, three[i % 3])).id);
  await story.until(firstS);
  await restart(story, 0.05);
  await story.pass(0.2);
  story.cluster.member('m2').crash({ power: true, wipe: true });
  await story.until(againS);
  await restart(story, downS);
  await story.until(70);
  return ids.map((id) => story.calls(id).length);
}

async function restart(story: Story, downS: number): Promise<void> {
  const member = story.cluster.member('m0');
  void member.stop();
  while (member.up) await story.pass(0.05);
  await story.pass(downS);
  member.start();
}
