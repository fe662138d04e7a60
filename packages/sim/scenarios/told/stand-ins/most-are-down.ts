/** A story for tests: most members of a cluster are down, one of them for longer than the others. */
import { View } from '@carillon/server/internal';
import { Story } from '../../../src/story.ts';
import { viewMember } from '../../../src/world/views.ts';

const five = ['m0', 'm1', 'm2', 'm3', 'm4'];
/** A number of the client's own choice. */
const number = '00000000000004d2';

/** The sequences of all callbacks of a timer that the last two in rank hold for its replicas. */
export async function mostAreDown(seed: number, factor: number): Promise<number[]> {
  const members = five.map((name) => viewMember(name));
  const ranked = new View({ source: 'test', revision: 1, members }).place(0, 0x4d2, five.length);
  const [first = '', second = '', third = '', fourth = ''] = ranked;
  const story = await Story.begin({ members: five, seed });
  const crash = (name: string): void =>
    story.cluster.member(name).crash({ power: false, wipe: false });
  crash(first);
  await story.pass(35);
  crash(second);
  crash(third);
  await story.pass(2);
  const { id } = await story.replace(
    `${number}-${factor}`,
    { seconds: 1, times: 25, factor },
    fourth,
  );
  await story.pass(30);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.calls(id).map(({ sequence }) => sequence);
}
