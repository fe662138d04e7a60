/**
 * A story for tests: a backup stands still while a cron timer is set and while the primary tells of its first pop. It
 * reads both records late, has no older copy to tell by how much, and is then alone.
 */
import { View } from '@carillon/server/internal';
import { Story, timerBody } from '../../../src/story.ts';
import { viewMember } from '../../../src/world/views.ts';
import { epochMs } from '../../../src/world/world.ts';

const two = ['m0', 'm1'];
/** A number of the client's own choice. */
const number = '00000000000004d2';

/** The sequences that were called back; of a pattern of 30 s, ended by its sixth time. */
export async function lateCronUnknown(
  standsS: number,
): Promise<{ story: Story; sequences: number[] }> {
  const story = await Story.begin({ members: two });
  const members = two.map((name) => viewMember(name));
  const ranked = new View({ source: 'test', revision: 1, members }).place(0, 0x4d2, two.length);
  const [primary = '', backup = ''] = ranked;
  // The story began at 5 s of the world: the times of the pattern are at its 25, 55, 85, 115, 145 and 175 s.
  const until = new Date(epochMs + 180_000).toISOString();
  const timing = { cron: '*/30 * * * * *', until };
  const content = timerBody({ seconds: 0, timing });
  await story.until(20);
  story.cluster.member(backup).pause();
  story.send({ method: 'PUT', path: `/timers/${number}-2`, content, via: primary }, () => {});
  await story.pass(standsS);
  story.cluster.member(primary).crash({ power: true, wipe: false });
  story.cluster.member(backup).resume();
  await story.until(300);
  return { story, sequences: story.calls(number).map(({ sequence }) => sequence) };
}
