/**
 * Since when a member runs without a break, and of which records it may not have heard the news before.
 *
 * Example: an alarm that was set to 10.000 s rings at 10.700 s. The member has slept, and is awake since 10.700 s. A
 * pop that was due at 10.300 s was slept over. One that is due at 12.000 s may be stale: until 13.700 s other members
 * may not have told yet of its cancel.
 */
import type { TimerRecord } from '@carillon/core';
import type { Sleep } from './claims/claim-terms.ts';

/** After a sleep or a start, the time until the others have told their news. */
const catchUpMs = 3000;
/** An alarm that rings this much too late: the member stood still, and others may have popped meanwhile. */
const sleptMs = 500;
/**
 * A sleep longer than this is, to the others, as good as a death: for a shorter one the pops of long intervals come by
 * twice the gap.
 */
const longSleepMs = 1000;
/** An answer that was awaited this much too long: there was no time to get it. */
const stoodMs = 100;

export class Awake {
  private since: number;
  /** When the last long sleep was over. */
  private longSince = Number.NEGATIVE_INFINITY;
  private readonly alarmMs: (record: TimerRecord) => number;

  /** `alarmMs`: when this member lets a record pop. */
  constructor(nowMs: number, alarmMs: (record: TimerRecord) => number) {
    this.since = nowMs;
    this.alarmMs = alarmMs;
  }

  get sinceMs(): number {
    return this.since;
  }

  wakeUp(nowMs: number): void {
    this.since = nowMs;
  }

  /**
   * An event that was planned for `wantedMs` comes now. True: the member stood still for so long that others had no
   * time.
   */
  rang(wantedMs: number, nowMs: number): boolean {
    const lateMs = nowMs - wantedMs;
    if (lateMs > sleptMs) this.since = nowMs;
    if (lateMs > longSleepMs) this.longSince = nowMs;
    return lateMs > stoodMs;
  }

  /** Whether the pop fell due while this member slept, or was not there. */
  sleptOver(record: TimerRecord): boolean {
    return record.retryMs < this.since;
  }

  /** How a sleep of this member concerns the pop. */
  sleepOf(record: TimerRecord): Sleep {
    if (!this.mayBeStale(record)) return 'no';
    if (record.retryMs < this.longSince) return 'long';
    return this.sleptOver(record) ? 'over' : 'stale';
  }

  /** Whether the others may not have told yet of a change: the pop was slept over, or falls due soon after. */
  mayBeStale(record: TimerRecord): boolean {
    return record.startMs < this.since && this.alarmMs(record) < this.since + catchUpMs;
  }
}
