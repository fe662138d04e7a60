/** A story for tests: a member is out of the view without knowing it, and receivers are slow. */
import { Story } from '../../src/story.ts';

const five = ['m0', 'm1', 'm2', 'm3', 'm4'];

/** The sequences of the callbacks of each of many timers, whose calls take longer than their intervals. */
export async function slowAndLeftBehind(seconds: number, delayMs: number): Promise<number[][]> {
  const story = await Story.begin({ members: five, etcd: true });
  const { cluster, etcd } = story;
  if (etcd === null) throw new Error('This story has an etcd.');
  cluster.cables.delayMs = delayMs;
  cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 4500 });
  const ids: string[] = [];
  for (let i = 0; i < 10; i++) {
    const { id } = await story.set({ seconds, times: 60 / seconds }, five[i % five.length]);
    ids.push(id);
  }
  const mend = etcd.cut('m2');
  await story.pass(20);
  etcd.away = true;
  mend();
  await story.pass(50);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return ids.map((id) => story.calls(id).map(({ sequence }) => sequence));
}
