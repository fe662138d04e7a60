/** Stories of damaged disks, for the scenarios and for the test of the tests. */
import { Story } from '../../src/story.ts';

const minute = 60;

/**
 * One of the two members that hold a timer goes away for most of an hour; the other one loses the timer to damage
 * meanwhile. The last copy is then with the one that was away, and that one asks the other whether the timer has ended.
 */
export async function lastCopyAway(): Promise<{ story: Story; id: string }> {
  const story = await Story.begin({ members: ['m0', 'm1'] });
  const { id } = await story.set({ seconds: 3 * 60 * minute, factor: 2 });
  const [away, damaged] = [story.cluster.member('m0'), story.cluster.member('m1')];
  await story.until(10 * minute);
  away.crash({ power: false, wipe: false });
  await story.until(15 * minute);
  damaged.crash({ power: false, wipe: false });
  zeroEntries(story, 'm1');
  damaged.start();
  await story.until(60 * minute);
  away.start();
  return { story, id };
}

/** Everything behind the header of each segment and snapshot is zeros. */
export function zeroEntries(story: Story, member: string): void {
  const { storage } = story.cluster.member(member);
  for (const { name, size } of storage?.look() ?? []) {
    if (/^(journal|snapshot)-/.test(name)) storage?.zero(name, headerBytes, size);
  }
}

/** No header is longer in these stories. */
const headerBytes = 64;
