/**
 * A story for tests: a stand-in gives a timer back while its pop is due, and both replicas stand still as soon as they
 * have it. Found by seed 866905179.
 */
import { View } from '@carillon/server/internal';
import { Story, timerBody } from '../../src/story.ts';
import { viewMember } from '../../src/world/views.ts';

const three = ['m0', 'm1', 'm2'];
/** A number of the client's own choice. */
const number = '00000000000004d2';

/** When pop 3, due at 9 s, was made; `standsS`: when the first replica stands still before it. */
export async function givenAwayWhileDue(standsS: number): Promise<number> {
  const story = await Story.begin({ members: three });
  const members = three.map((name) => viewMember(name));
  const ranked = new View({ source: 'test', revision: 1, members }).place(0, 0x4d2, three.length);
  const [a = '', b = '', via = ''] = ranked;
  const first = story.cluster.member(a);
  const second = story.cluster.member(b);
  first.pause();
  await story.pass(2);
  story.zero();
  const content = timerBody({ seconds: 3, times: 8 });
  const asked = { method: 'PUT', path: `/timers/${number}-2`, content, via };
  story.send(asked, () => {});
  // The stand-in looks at the list again 5 s and 10 s after it was given the timer.
  await story.until(7);
  first.resume();
  await story.until(standsS);
  first.pause();
  await story.until(10.15);
  second.pause();
  await story.until(10.3);
  first.resume();
  await story.until(10.42);
  first.pause();
  await story.until(20);
  first.resume();
  second.resume();
  await story.until(30);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.pops(number).find(({ sequence }) => sequence >= 3)?.at ?? Infinity;
}
