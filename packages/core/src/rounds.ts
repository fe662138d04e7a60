import type { Clock } from './env.ts';

/**
 * When the next round of work with this period begins. Rounds of one process begin together, so that a processor that
 * sleeps is woken once for all of them: rounds of 2 s at 2, 4, 6 … s of the clock, rounds of 5 s at 5, 10, 15 … s.
 */
export function nextRoundMs(clock: Pick<Clock, 'now'>, periodMs: number): number {
  return (Math.floor(clock.now() / periodMs) + 1) * periodMs;
}
