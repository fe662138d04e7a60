/** The first pops of a timer if it were set now: a look ahead, for which nothing is stored. */
import type { Timing } from '@carillon/core';
import { firstPop, followingPop } from './schedule.ts';

export interface Upcoming {
  /** Wall-clock milliseconds, in order. */
  readonly dueMs: readonly number[];
  /** Whether more pops follow. */
  readonly more: boolean;
}

export function upcoming(timing: Timing, wallMs: number, countMax: number): Upcoming {
  // Both clocks are the wall clock here: only differences matter.
  const at = { nowMs: wallMs, wallMs };
  const definition = { timing, origin: null };
  const dueMs: number[] = [];
  let next = firstPop(timing, at);
  while (next !== null && dueMs.length < countMax) {
    dueMs.push(next.dueMs);
    const done = { sequence: dueMs.length - 1, startMs: wallMs, dueMs: next.dueMs };
    next = followingPop(done, definition, at);
  }
  return { dueMs, more: next !== null };
}
