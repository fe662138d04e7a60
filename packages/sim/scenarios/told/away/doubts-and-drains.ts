/**
 * A story for tests: a member comes back after a long time, cut off from the others, and doubts its records. The other
 * replica of a timer that was cancelled leaves before it can be asked. Then the member itself drains.
 */
import { Story } from '../../../src/story.ts';
import { viewMember } from '../../../src/world/views.ts';
import { numberOf } from '../stand-ins/number-of.ts';

/** Whether the drain of the member comes to its end within two minutes. */
export async function doubtsAndDrains(): Promise<boolean> {
  const config = new Map([['tombstoneRetentionMs', 60_000]]);
  const [doubting, leaver, last] = ['m1', 'm0', 'm2'] as const;
  const story = await Story.begin({ members: [doubting, leaver, last], config });
  const { cluster } = story;
  const number = `${numberOf([doubting, leaver, last], 1000)}-2`;
  await story.replace(number, { seconds: 1000 });
  await story.cancel(number);
  const mends = [leaver, last].map((name) => story.part(doubting, name));
  cluster.member(doubting).crash({ power: true, wipe: false });
  await story.pass(35);
  cluster.member(doubting).start();
  await story.pass(2);
  const rest = [doubting, last].map((name) => viewMember(name));
  void cluster
    .member(leaver)
    .drain()
    .then(() => cluster.views.change(rest));
  await story.pass(15);
  // It forgets that the doubting member has not confirmed the record.
  cluster.member(last).crash({ power: true, wipe: false });
  cluster.member(last).start();
  for (const mend of mends) mend();
  await story.pass(5);
  let isDrained = false;
  const drained = (): void => {
    isDrained = true;
  };
  void cluster.member(doubting).drain().then(drained);
  await story.pass(120);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return isDrained;
}
