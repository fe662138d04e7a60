/**
 * The due time of a timer of the wall clock whose record was read late. A record travels with the time that is left,
 * so one that lay in the socket of a member that stood still for 26 s seems due 26 s later than it is. An older copy
 * of the same version tells by how much: both carry the moment at which the timer was set. Without such a copy the
 * version tells: its coordinator read it from the clock of the cluster at that moment. The timing tells whether to
 * believe either: a due time is the instant of the timer, or a time of its cron pattern.
 *
 *   set at 10:00:04, every 30 s   older copy: set 100 s ago   record read late: set 74 s ago, due at 10:02:26
 *   10:02:26 is no time of the pattern, and 26 s earlier, 10:02:00, is one: due at 10:02:00
 *
 *   no older copy, version of 10:00:04   the same record, read at 10:01:44: set at 10:00:30, 26 s after its version
 */
import {
  compareProgress,
  compareVersions,
  decodeDefinition,
  isInterval,
  State,
  type TimerRecord,
} from '@carillon/core';
import { nextCron } from './cron.ts';
import type { Instant } from './schedule.ts';

/** Clocks of members differ by this much without being wrong. */
const nearMs = 500;
/** A shorter delay is smaller than the difference between two clocks. */
const delayMsMin = 1000;

/** The record, due at the instant or the time of its pattern that it was due at before it lay in a socket. */
export function onWallTime(
  record: TimerRecord,
  older: TimerRecord | undefined,
  instant: () => Instant,
): TimerRecord {
  if (record.state !== State.live || record.attempt > 0 || isInterval(record.body)) return record;
  const at = instant();
  const startMs = toldStartMs(record, older, at);
  const byMs = record.startMs - startMs;
  if (byMs < delayMsMin) return record;
  const { timing, origin } = decodeDefinition(record.body);
  // A dead letter that is sent again is due at once, under any timing.
  if (timing.kind === 'interval' || origin !== null) return record;
  const toldMs = record.dueMs - byMs;
  /** How long after this moment the time of the wall clock is that it may stand for. */
  const leftMs = (ms: number): number => {
    const wallMs = ms - at.nowMs + at.wallMs;
    const timeMs =
      timing.kind === 'at'
        ? timing.atMs
        : nextCron(timing.cron, timing.timezone, wallMs - nearMs - 1);
    return timeMs === null ? Number.POSITIVE_INFINITY : timeMs - wallMs;
  };
  const toldLeftMs = leftMs(toldMs);
  const offMs = Math.abs(toldLeftMs);
  // A delay of whole periods leaves both near a time of a pattern: the nearer one is right.
  if (offMs > nearMs || Math.abs(leftMs(record.dueMs)) <= offMs) return record;
  // Part of the delay may be from the way to the sender, which has read the due time from its clock since: not before
  // the timing's.
  const dueMs = toldMs + Math.max(0, toldLeftMs);
  return { ...record, startMs, dueMs, retryMs: dueMs, triedMs: dueMs };
}

/** When the timer was set, by an older copy or else by the version, which is never behind its coordinator's clock. */
function toldStartMs(record: TimerRecord, older: TimerRecord | undefined, at: Instant): number {
  if (older === undefined || compareVersions(record, older) !== 0) {
    return record.versionMs - at.wallMs + at.nowMs;
  }
  return compareProgress(record, older) > 0 ? older.startMs : record.startMs;
}
