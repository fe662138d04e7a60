/** Since when a member runs without a break, and what it may have missed before. */
import type { TimerRecord } from '@carillon/core';

/** After a sleep or a start, the time until the others have told what was missed. */
const catchUpMs = 3000;
/** An alarm that rings this much too late: the member stood still, and others may have popped meanwhile. */
const sleptMs = 500;
/** An answer that was awaited this much too long: there was no time to get it. */
const stoodMs = 100;

export class Awake {
  private since: number;

  constructor(nowMs: number) {
    this.since = nowMs;
  }

  get sinceMs(): number {
    return this.since;
  }

  wakeUp(nowMs: number): void {
    this.since = nowMs;
  }

  /** Something that was to happen at `wantedMs` happens now. True: the member stood still for so long that others had no time. */
  rang(wantedMs: number, nowMs: number): boolean {
    const lateMs = nowMs - wantedMs;
    if (lateMs > sleptMs) this.since = nowMs;
    return lateMs > stoodMs;
  }

  /** Whether the pop fell due while this member slept, or was not there. */
  sleptOver(record: TimerRecord): boolean {
    return record.retryMs < this.since;
  }

  /** Also what falls due soon after: the others may not have told yet what became of it meanwhile. */
  mayBeStale(record: TimerRecord, alarmMs: number): boolean {
    return record.startMs < this.since && alarmMs < this.since + catchUpMs;
  }
}
