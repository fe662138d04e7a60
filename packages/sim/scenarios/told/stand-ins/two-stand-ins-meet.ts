/**
 * A story for tests: the one replica of a timer is down, and a net-split parts the member that stands in for it from
 * all others for longer than half the time that ends are remembered. On the other side the timer is replaced, and
 * another member stands in for the replica there. When the split heals, neither list names the other member.
 */
import { Story } from '../../../src/story.ts';
import { numberOf } from './number-of.ts';

export interface Meeting {
  /** The members as the view ranks them for the timer: the replica that is down first. */
  readonly order: readonly [string, string, string];
  /** Seconds of the net-split. */
  readonly parted: number;
}

/** How many callbacks of the timer as it was come later than 3 s after the split healed. */
export async function twoStandInsMeet({ order, parted }: Meeting): Promise<number> {
  const [replica] = order;
  const [former, other] = ['m1', 'm2'] as const;
  const config = new Map([['tombstoneRetentionMs', 60_000]]);
  const story = await Story.begin({ members: ['m0', former, other], config });
  story.cluster.member(replica).crash({ power: true, wipe: false });
  await story.pass(5);
  const mend = story.part(former, other);
  await story.pass(2);
  const number = `${numberOf(order, 1000)}-1`;
  const series = { seconds: 2, times: 100, factor: 1 };
  await story.replace(number, { ...series, opaque: 'former' }, former);
  await story.pass(parted - 10);
  await story.replace(number, { ...series, opaque: 'new' }, other);
  await story.pass(10);
  mend();
  await story.pass(3);
  const count = (): number => story.calls(number).filter(({ body }) => body === 'former').length;
  const before = count();
  await story.pass(30);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return count() - before;
}
