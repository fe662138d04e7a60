/**
 * A story for tests: stand-ins hand timers of 250 ms back to their replica in the first moments after its start. It has
 * slept over the pops that are due just then, and one member is cut off from it, so it waits for news.
 */
import { View } from '@carillon/server/internal';
import { Story } from '../../src/story.ts';
import { viewMember } from '../../src/world/views.ts';

const four = ['m0', 'm1', 'm2', 'm3'];
const timerCount = 18;
const gapMs = 250;
const times = 12;

/** Numbers of which m0 is the replica. */
function numbers(): string[] {
  const members = four.map((name) => viewMember(name));
  const view = new View({ source: 'test', revision: 1, members });
  const found: string[] = [];
  for (let lo = 1000; found.length < timerCount; lo++) {
    const [first, second] = view.place(0, lo, 2);
    if (first === 'm0' && second !== 'm3') found.push(lo.toString(16).padStart(16, '0'));
  }
  return found;
}

/**
 * By how many milliseconds the latest pop came after twice its gap; `startMs`: when the replica starts, after the
 * timers were set.
 */
export async function handedToAStarter(startMs: number): Promise<number> {
  const story = await Story.begin({ members: four });
  const { cluster } = story;
  cluster.member('m0').crash({ power: true, wipe: false });
  cluster.cables.cut('m3', 'm0');
  await story.pass(40);
  const set = new Map<string, number>();
  for (const number of numbers()) {
    const wish = { seconds: gapMs / 1000, times, factor: 1 };
    const { id } = await story.replace(`${number}-1`, wish, 'm3');
    set.set(id, cluster.world.nowMs);
    await story.pass(0.013);
  }
  await story.pass(startMs / 1000);
  cluster.member('m0').start();
  await story.pass(5);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return Math.max(...[...set].map(([id, setMs]) => latestMs(story, id, setMs)));
}

/** A call stands for the pops that were merged into it. */
function latestMs(story: Story, id: string, setMs: number): number {
  const calls = story.calls(id);
  const lateMs = Array.from({ length: times }, (_, i) => {
    const call = calls.find(({ sequence }) => sequence > i);
    return (call?.startMs ?? Number.POSITIVE_INFINITY) - setMs - (i + 2) * gapMs;
  });
  return Math.max(...lateMs);
}
