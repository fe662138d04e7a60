/** The numbers of new timers, reserved in the journal ahead of their use. */
import type { Parts } from './parts.ts';

/** How far ahead of its clock a member reserves numbers, so that none repeats after a restart. */
export const reserveMs = 60_000;

/** A number that was never given out before, not even before a restart with a clock that went back. */
export function nextNumber(
  { journal, numbers }: Parts,
  wallMs: number,
  member: number,
): { hi: number; lo: number } {
  const latestMs = Math.max(wallMs, numbers.usedMs);
  if (journal !== null && latestMs > journal.marked - reserveMs / 2) {
    journal.mark(latestMs + reserveMs);
  }
  return numbers.next(wallMs, member);
}
