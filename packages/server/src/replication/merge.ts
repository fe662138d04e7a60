/**
 * Which of two records of one timer survives. One pure function; the order of its rules is the rule.
 *
 * M1  A higher version wins: a later client request beats everything known of an earlier one.
 * M2  At equal version the further state wins: a tombstone over a dead letter over a live timer.
 * M3  Then the higher sequence, then the higher attempt.
 * M4  Equal in all of these: the same state of the same timer. Only the list of replicas may still differ;
 *     it is taken over when it is the one the receiver's own view asks for and the stored one is not.
 */
import { compareProgress, type TimerRecord } from '@carillon/core';

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

export function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && startsWith(a, b));
}

export function startsWith(list: readonly string[], start: readonly string[]): boolean {
  if (list.length < start.length) return false;
  for (let i = 0; i < start.length; i++) if (list[i] !== start[i]) return false;
  return true;
}
