/**
 * A story for tests: the backup of a cron timer stood still for a moment when the timer was set, and takes it to be
 * younger than it is. Later it makes a pop for the primary, which stands still, and whose copy knows better.
 */
import { View } from '@carillon/server/internal';
import { Story, timerBody } from '../../../src/story.ts';
import { viewMember } from '../../../src/world/views.ts';

const three = ['m0', 'm1', 'm2'];
/** Of the pattern. */
const periodMs = 30_000;
/** A number of the client's own choice. */
const number = '00000000000004d2';

/**
 * By how much each pop came before its time of the pattern, at most. `firstS`, `thenS`: how long the word lay at the
 * two.
 */
export async function lateCronTwice(firstS: number, thenS: number): Promise<number[]> {
  const story = await Story.begin({ members: three });
  const members = three.map((name) => viewMember(name));
  const ranked = new View({ source: 'test', revision: 1, members }).place(0, 0x4d2, three.length);
  const [primary = '', backup = '', via = ''] = ranked;
  const timing = { cron: '*/30 * * * * *', count: 4 };
  const path = `/timers/${number}-2`;
  story.cluster.member(backup).pause();
  story.send({ method: 'PUT', path, content: timerBody({ seconds: 0, timing }), via }, () => {});
  await story.pass(firstS);
  story.cluster.member(backup).resume();
  // The story began at 5 s of the world: the first pop is at its 25 s, and the turn of the backup 2 s later.
  await story.until(24);
  story.cluster.member(primary).pause();
  await story.until(27 + thenS);
  story.cluster.member(primary).resume();
  await story.until(130);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story
    .calls(number)
    .map(({ sequence, startMs }) => Math.max(0, sequence * periodMs - startMs));
}
