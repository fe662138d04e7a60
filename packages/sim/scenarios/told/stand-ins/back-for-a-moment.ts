/**
 * A story for tests: the replica of a timer comes back and is down again within a second or so. Meanwhile the holder of
 * the timer has given it to a stand-in and begun to give it back, so there are two holders, each with a list of its
 * own.
 */
import { View } from '@carillon/server/internal';
import { Story } from '../../../src/story.ts';
import { viewMember } from '../../../src/world/views.ts';

const five = ['m0', 'm1', 'm2', 'm3', 'm4'];

/** A number of which m0 is the replica; its stand-in is not the replica of a view without m0. */
function numberAndStandIn(): { number: string; standIn: string } {
  const viewOf = (names: readonly string[]): View =>
    new View({ source: 'test', revision: 1, members: names.map((name) => viewMember(name)) });
  const [all, without] = [viewOf(five), viewOf(five.slice(1))];
  for (let lo = 1000; ; lo++) {
    const [first, standIn = ''] = all.place(0, lo, five.length);
    if (first !== 'm0' || without.place(0, lo, 1)[0] === standIn) continue;
    return { number: lo.toString(16).padStart(16, '0'), standIn };
  }
}

/**
 * The sequences of all callbacks of a timer whose only replica is back for `backMs`. `slowPpm`: by how much the clock
 * of the stand-in is too slow.
 */
export async function backForAMoment(backMs: number, slowPpm = 0): Promise<number[]> {
  const story = await Story.begin({ members: five, etcd: true });
  const { cluster } = story;
  const { number, standIn } = numberAndStandIn();
  const replica = cluster.member('m0');
  const restarted = cluster.member(standIn);
  restarted.crash({ power: true, wipe: false });
  restarted.clock.driftPpm = -slowPpm;
  restarted.start();
  await story.pass(10);
  replica.crash({ power: true, wipe: false });
  await story.pass(60);
  const { id } = await story.replace(`${number}-1`, { seconds: 6, times: 3, factor: 1 }, 'm4');
  await story.pass(3);
  replica.start();
  await story.pass(backMs / 1000);
  replica.crash({ power: true, wipe: false });
  await story.pass(40);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.calls(id).map(({ sequence }) => sequence);
}
