/**
 * Wall-clock times of a record, for people. Records keep times on the monotonic clock of their member, and going back
 * to the wall clock is off by the millisecond in which the two were read, and at another replica by the way of the
 * message: midnight would read 23:59:59.999, the day before, and each reading would give another time. Where the client
 * asked for a time of the wall clock, that time is told; where the version tells when the timer was set, times count
 * from the version, which is the same at all replicas.
 */
import type { TimerRecord, Timing } from '@carillon/core';
import type { Instant } from './schedule.ts';

const cronTickMs = 1000;
/**
 * A version further ahead of the start was not given by the clock at that moment: it had to be above a version of
 * another clock.
 */
const versionAheadMsMax = 50;
/** A start further behind its version: the record was on its way for less, and members' clocks differ by less. */
const versionBehindMsMax = 1000;

type Times = Pick<TimerRecord, 'startMs' | 'dueMs' | 'versionMs'>;

/** When the timer was set. */
export function setWallMs({ startMs, versionMs }: Omit<Times, 'dueMs'>, at: Instant): number {
  const wallMs = Math.round(startMs - at.nowMs + at.wallMs);
  const behindMs = wallMs - versionMs;
  return behindMs >= -versionAheadMsMax && behindMs <= versionBehindMsMax ? versionMs : wallMs;
}

/** When it ended; `record` is its tombstone. */
export function endWallMs(record: Times, at: Instant): number {
  return Math.round(setWallMs(record, at) + record.dueMs - record.startMs);
}

/** When its next pop is due. */
export function dueWallMs(record: Times, timing: Timing, at: Instant): number {
  if (timing.kind === 'at') return timing.atMs;
  const { startMs, dueMs, versionMs } = record;
  // Down, so that no callback seems early.
  const wallMs = Math.floor(dueMs - at.nowMs + at.wallMs);
  if (timing.kind === 'cron') return Math.round(wallMs / cronTickMs) * cronTickMs;
  return setWallMs(record, at) === versionMs ? Math.round(versionMs + dueMs - startMs) : wallMs;
}

/**
 * Both clocks, with the distance between them as it was at an earlier reading while it is about the same: the wall
 * clock has whole milliseconds and the monotonic one has fractions, so that a time would otherwise read a millisecond
 * more or less from one reading to the next.
 */
export class SteadyInstants {
  private keptMs = Number.NaN;

  of(at: Instant): Instant {
    return { nowMs: at.nowMs, wallMs: at.nowMs + this.keep(at) };
  }

  /** From the monotonic to the wall clock, in whole milliseconds. */
  distanceMs(at: Instant): number {
    return Math.round(this.keep(at));
  }

  private keep({ nowMs, wallMs }: Instant): number {
    const distanceMs = wallMs - nowMs;
    if (!(Math.abs(distanceMs - this.keptMs) <= distanceMsMax)) this.keptMs = distanceMs;
    return this.keptMs;
  }
}

/** Readings differ by less than one; the rest is for a wall clock that is being set right slowly. */
const distanceMsMax = 5;
