/** When each replica of a timer would pop: the primary at the due time, each backup a step later (spec: skew). */
import type { TimerShape } from '../shapes.ts';

const stepMsMax = 2000;
const stepMsMin = 20;

export interface ReplicaSkew {
  readonly member: string;
  readonly role: string;
  /** How long after the due time it would pop; null where the timer does not tell. */
  readonly skewMs: number | null;
}

export function skewsOf(timer: TimerShape): ReplicaSkew[] {
  const gapMs = gapOf(timer);
  const positions = Math.max(timer.reliability['replication-factor'], timer.replicas.length);
  const step = gapMs === null ? null : Math.min(stepMsMax, Math.max(stepMsMin, gapMs / positions));
  return timer.replicas.map((member, i) => ({
    member,
    role: i === 0 ? 'primary' : `backup ${i}`,
    skewMs: i === 0 ? 0 : step === null ? null : i * step,
  }));
}

/** From the set, or the pop before, to the next pop. Between pops of a cron timer it is not known here. */
function gapOf({ timing, sequence, set, 'next-due': due }: TimerShape): number | null {
  if (timing.interval !== undefined) return timing.interval * 1000;
  if (due === null || sequence > 0) return null;
  return Math.max(0, Date.parse(due) - Date.parse(set));
}
