/**
 * The wall-clock time at which a pop is due, for people. Records keep due times on the monotonic clock, and going back to the
 * wall clock is off by the millisecond in which the two were read: midnight would read 23:59:59.999, the day before. Where
 * the client asked for a time of the wall clock, that time is told.
 */
import type { TimerRecord, Timing } from '@carillon/core';
import type { Instant } from './schedule.ts';

const cronTickMs = 1000;

export function dueWallMs({ dueMs }: TimerRecord, timing: Timing, at: Instant): number {
  if (timing.kind === 'at') return timing.atMs;
  // Down, so that no callback seems early.
  const wallMs = Math.floor(dueMs - at.nowMs + at.wallMs);
  return timing.kind === 'cron' ? Math.round(wallMs / cronTickMs) * cronTickMs : wallMs;
}
