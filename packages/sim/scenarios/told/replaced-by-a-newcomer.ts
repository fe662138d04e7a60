/**
 * A story for tests: a member joins, is the replica of a timer, and takes a replace of it before the former replica has
 * heard that there is a new member.
 */
import { Story } from '../../src/story.ts';
import { viewMember } from '../../src/world/views.ts';
import { numberThatMoves } from './stand-ins/number-of.ts';

const three = ['m0', 'm1', 'm2'];
const times = 5;

/** The sequences of all callbacks after the replace. */
export async function replacedByANewcomer(seconds: number): Promise<number[]> {
  const story = await Story.begin({ members: three });
  const { cluster } = story;
  const four = [...three, 'm3'];
  const number = numberThatMoves({ from: 1000, members: four, before: ['m3', 'm1'], after: 'm0' });
  const old = await story.replace(`${number}-1`, { seconds: 60, factor: 1 }, 'm0');
  cluster.add('m3').start();
  await story.pass(0.5);
  const laterMs = (seconds * times + 3) * 1000;
  cluster.views.change(
    four.map((name) => viewMember(name)),
    { m0: laterMs, m1: laterMs, m2: laterMs, m3: 0 },
  );
  await story.pass(1.5);
  await story.replace(old.id, { seconds, times, factor: 1 }, 'm3');
  await story.pass(90);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.calls(old.id).map(({ sequence }) => sequence);
}
