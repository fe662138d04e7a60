/**
 * A story for tests: etcd is away for longer than a lease holds. Meanwhile the first replica of a timer crashes and
 * tries to start, and the timer is changed. When etcd is back, it shows the replica before the other member.
 */
import { Story } from '../../../src/story.ts';
import { numberOf } from './number-of.ts';

/** The callbacks of the timer as it was that come after the change. */
export async function startWithoutEtcd(
  seconds: number,
  change: (story: Story, id: string) => Promise<unknown>,
  factor = 2,
) {
  const story = await Story.begin({ members: ['m0', 'm1'], etcd: true });
  const { etcd } = story;
  if (etcd === null) throw new Error('This story has an etcd.');
  await story.pass(30);
  const number = `${numberOf(['m0', 'm1'], 1000)}-${factor}`;
  const { id } = await story.replace(number, { seconds, times: 20, factor, opaque: 'old' }, 'm0');
  etcd.away = true;
  await story.pass(4);
  story.cluster.member('m0').crash({ power: true, wipe: false });
  await story.pass(2);
  story.cluster.member('m0').start();
  await story.pass(8);
  await change(story, id);
  const changedMs = story.cluster.world.nowMs;
  await story.pass(36);
  etcd.away = false;
  await story.pass(40);
  return story.calls(id).filter(({ body, startMs }) => body === 'old' && startMs > changedMs);
}
