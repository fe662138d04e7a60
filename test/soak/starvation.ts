/**
 * Tells a machine without time from a member with a bug. A thread that could run and is not let run waits in a queue of
 * the kernel, which counts that; the count of a wait rises when it ends. A hypervisor that takes the processors away
 * shows as stolen time instead.
 */
import type { ProcessReading } from './proc.ts';

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** More than this share of the time between two looks: half a second within a second. */
const starvedShare = 0.5;

/** The longest wait of one thread between two readings; a process that was started anew counts from its start. */
export function waitedMs(before: ProcessReading | null, after: ProcessReading): number {
  const known = before?.pid === after.pid ? before.waitedNs : null;
  let mostNs = 0;
  for (const [thread, ns] of after.waitedNs)
    mostNs = Math.max(mostNs, ns - (known?.get(thread) ?? 0));
  return mostNs / 1e6;
}

/** Time stolen from the processor that lost most. */
export function stolenMs(before: readonly number[], after: readonly number[]): number {
  return Math.max(0, ...after.map((ms, i) => ms - (before[i] ?? ms)));
}

/**
 * The window that counts as a pause; null: it had its time. A wait that is longer than the time between the looks began
 * before the earlier one.
 */
export function starvedIn(looked: Span, waitMs: number): Span | null {
  const betweenMs = looked.toMs - looked.fromMs;
  if (waitMs <= betweenMs * starvedShare) return null;
  return { fromMs: Math.min(looked.fromMs, looked.toMs - waitMs), toMs: looked.toMs };
}
