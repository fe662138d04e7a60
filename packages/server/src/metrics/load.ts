/**
 * How busy this member is, in the few numbers that it tells the others once a second. Looks at the metrics when it is
 * asked, at most once a second, and compares them with their values ten seconds before: no timer of its own.
 */
import type { Clock } from '@carillon/core';
import type { Metrics } from './metrics.ts';

export interface Load {
  /** Delivered pops a second, over the last ten seconds. */
  readonly popsPerSecond: number;
  /** Failed attempts a second whose pop is tried again, over the same time; 0 for a member that does not tell. */
  readonly retriedPerSecond: number;
  /** Pops a second that became dead letters. */
  readonly givenUpPerSecond: number;
  /** Lateness of the pops of the last ten seconds; null without any. */
  readonly latenessP50Ms: number | null;
  readonly latenessP99Ms: number | null;
  /** How late the event loop came around at worst in the last ten seconds; null when that is not measured. */
  readonly lagMs: number | null;
}

interface Mark {
  readonly atMs: number;
  readonly delivered: number;
  readonly retried: number;
  readonly dead: number;
  readonly lateness: Float64Array;
  readonly lag: Float64Array;
}

const everyMs = 1000;
const windowMs = 10_000;

export class LoadMeter {
  private readonly metrics: Metrics;
  private readonly clock: Clock;
  /** Oldest first; the first is the newest that is at least a window old, once there is one. */
  private readonly marks: Mark[];
  /** The mark that left the window last. */
  private unused: Mark | null = null;
  private newest: Load = {
    popsPerSecond: 0,
    retriedPerSecond: 0,
    givenUpPerSecond: 0,
    latenessP50Ms: null,
    latenessP99Ms: null,
    lagMs: null,
  };

  constructor(metrics: Metrics, clock: Clock) {
    this.metrics = metrics;
    this.clock = clock;
    this.marks = [this.mark(null)];
  }

  now(): Load {
    const last = this.marks.at(-1) as Mark;
    if (this.clock.now() - last.atMs < everyMs) return this.newest;
    const mark = this.mark(this.unused);
    this.unused = null;
    this.marks.push(mark);
    while (this.marks.length > 2 && mark.atMs - (this.marks[1] as Mark).atMs >= windowMs) {
      this.unused = this.marks.shift() ?? null;
    }
    this.newest = this.since(this.marks[0] as Mark, mark);
    return this.newest;
  }

  /** Overwrites the counts of a mark that is not used any more, if there is one. */
  private mark(unused: Mark | null): Mark {
    const { pops, popLateness, eventLoopLag } = this.metrics;
    return {
      atMs: this.clock.now(),
      delivered: pops.count('delivered'),
      retried: pops.count('retried'),
      dead: pops.count('dead'),
      lateness: popLateness.snapshot(unused?.lateness),
      lag: eventLoopLag.snapshot(unused?.lag),
    };
  }

  private since(before: Mark, now: Mark): Load {
    const { popLateness, eventLoopLag } = this.metrics;
    const seconds = (now.atMs - before.atMs) / 1000;
    return {
      popsPerSecond: rounded((now.delivered - before.delivered) / seconds),
      retriedPerSecond: rounded((now.retried - before.retried) / seconds),
      givenUpPerSecond: rounded((now.dead - before.dead) / seconds),
      latenessP50Ms: roundedOrNull(popLateness.percentileMs(0.5, before.lateness)),
      latenessP99Ms: roundedOrNull(popLateness.percentileMs(0.99, before.lateness)),
      lagMs: roundedOrNull(eventLoopLag.percentileMs(1, before.lag)),
    };
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

function roundedOrNull(value: number | null): number | null {
  return value === null ? null : rounded(value);
}
