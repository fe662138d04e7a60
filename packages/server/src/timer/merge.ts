/**
 * Which of two records of one timer survives. One pure function; the order of its rules is the rule.
 *
 * M1  A higher version wins: a later client request beats everything known of an earlier one.
 * M2  At equal version the further state wins: a tombstone over a dead letter over a live timer.
 * M3  Then the higher sequence, then the higher attempt.
 * M4  Equal in all of these: the same state of the same timer. Only the list of replicas may still differ; it is taken
 *     over when it is the one the receiver's own view asks for and the stored one is not.
 * M5  Of the two times the earlier one is right, whichever record survives: a record comes later on its way, by as long
 *     as it lay in the socket of a member that stood still, and never earlier.
 *
 * Examples. Stored is version 1000 of a timer, live, sequence 3, attempt 0, held by [a, b]. Incoming is
 *
 *   version 1001, live, sequence 0              take (M1): a client has replaced the timer
 *   version  999, tombstone                     keep (M1): an older cancel, which came late
 *   version 1000, tombstone, sequence 3         take (M2): the timer has ended
 *   version 1000, live, sequence 3, attempt 1   take (M3): another replica has tried and failed
 *   version 1000, live, sequence 2              keep (M3)
 *   the same state, held by [c, a]              list (M4) where the view asks for [c, a], keep where it asks for [a, b]
 *   the same state, due 300 ms earlier          keep, and the stored one becomes due 300 ms earlier (M5)
 */
import {
  compareProgress,
  compareVersions,
  isInterval,
  State,
  type TimerRecord,
} from '@carillon/core';

/** take: the incoming record replaces the stored one. list: only its replicas do. keep: nothing changes. */
export type Verdict = 'take' | 'list' | 'keep';

export function merge(
  stored: TimerRecord | undefined,
  incoming: TimerRecord,
  wanted: readonly string[],
): Verdict {
  if (stored === undefined) return 'take';
  const order = compareProgress(incoming, stored);
  if (order !== 0) return order > 0 ? 'take' : 'keep';
  if (sameNames(stored.replicas, incoming.replicas)) return 'keep';
  if (!startsWith(incoming.replicas, wanted)) return 'keep';
  return 'list';
}

/** The time a message may be on its way: no reason to write a record again. */
const wayMs = 20;

/** How much later than `other` knows better the record says that its timer is due (M5). */
function lateMs(record: TimerRecord, other: TimerRecord): number {
  if (record.state !== State.live || compareVersions(record, other) !== 0) return 0;
  // All pops of an interval timer count from its start; any other due time was read from a wall clock after the last
  // pop.
  if (isInterval(record.body)) return Math.max(0, record.startMs - other.startMs);
  return compareProgress(record, other) === 0 ? Math.max(0, record.dueMs - other.dueMs) : 0;
}

/** Whether the earlier time that `other` knows is worth a second write. */
export function isLate(record: TimerRecord, other: TimerRecord): boolean {
  return lateMs(record, other) > wayMs;
}

/** Whether a due time that another member tells is worth a second write. */
export function isDueLater({ state, dueMs }: TimerRecord, otherDueMs: number): boolean {
  return state === State.live && dueMs - otherDueMs > wayMs;
}

/** The record, due as early as `other` knows that it is. */
export function onTime(record: TimerRecord, other: TimerRecord): TimerRecord {
  const byMs = lateMs(record, other);
  if (byMs === 0) return record;
  const dueMs = record.dueMs - byMs;
  // A retry counts from the failed attempt.
  const retryMs = record.attempt === 0 ? dueMs : record.retryMs;
  const triedMs = record.triedMs === record.dueMs ? dueMs : record.triedMs;
  return { ...record, startMs: record.startMs - byMs, dueMs, retryMs, triedMs };
}

export function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && startsWith(a, b));
}

export function startsWith(list: readonly string[], start: readonly string[]): boolean {
  if (list.length < start.length) return false;
  for (let i = 0; i < start.length; i++) if (list[i] !== start[i]) return false;
  return true;
}
