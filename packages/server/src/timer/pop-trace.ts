/**
 * The trace of a pop, from the trace of the set. A pop that comes soon after the set, and is the only one, goes on with
 * its trace. Every other pop has a trace of its own that points back: a trace that runs for hours, or grows with each
 * pop of a recurring timer, is of no use to any reader (decision 0040).
 */
import type { Definition, TimerRecord, Timing } from '@carillon/core';

/** As `traceparent`. */
export interface PopTrace {
  /** The trace that the callback belongs to; null: the receiver may begin one. */
  readonly own: string | null;
  /** The trace of the set, where it is another one; null: it is the same, or the set had none. */
  readonly set: string | null;
}

/** After this long a trace is over, also for retries of a pop that came in time. */
const continueMsMax = 600_000;

type Popped = Pick<TimerRecord, 'startMs'>;

/** Whether an attempt that leaves now belongs to the trace of the set. */
export function isContinued({ startMs }: Popped, definition: Definition, nowMs: number): boolean {
  const { timing, origin } = definition;
  return origin === null && nowMs - startMs <= continueMsMax && popsOnce(timing);
}

/** The trace of a pop at a member that records none: that of the set, for the receiver to go on with or to point to. */
export function passedOn(record: Popped, definition: Definition, nowMs: number): PopTrace | null {
  const { trace } = definition;
  if (trace === null) return null;
  return isContinued(record, definition, nowMs)
    ? { own: trace, set: null }
    : { own: null, set: trace };
}

/** Chronos has no other way to say "once" than an interval that is repeated for one interval. */
export function popsOnce(timing: Timing): boolean {
  if (timing.kind === 'at') return true;
  const { repeatForMs, untilMs, count, forever } = timing.ending;
  if (count === 1) return true;
  if (timing.kind === 'cron' || forever || untilMs !== null || count !== null) return false;
  return repeatForMs === null || repeatForMs < 2 * timing.intervalMs;
}
