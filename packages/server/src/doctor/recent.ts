/** Percentiles of the last minutes: a disk that has become slow must not hide behind days in which it was quick. */
import type { Cancel, Clock } from '@carillon/core';
import type { Metrics } from '../metrics/metrics.ts';

const names = ['journalSync', 'eventLoopLag', 'popLateness'] as const;
type Name = (typeof names)[number];
type Marks = Readonly<Record<Name, Float64Array>>;

const everyMs = 60_000;
const markCountMax = 5;
/** The time of the percentiles, at most. */
export const recentMs = everyMs * markCountMax;

export class Recent {
  private readonly metrics: Pick<Metrics, Name>;
  private readonly clock: Clock;
  /** Oldest first. */
  private readonly marks: Marks[];
  private cancel: Cancel = () => {};

  constructor(metrics: Pick<Metrics, Name>, clock: Clock) {
    this.metrics = metrics;
    this.clock = clock;
    this.marks = [this.mark()];
  }

  start(): void {
    this.cancel = this.clock.at(this.clock.now() + everyMs, () => {
      this.marks.push(this.mark());
      if (this.marks.length > markCountMax) this.marks.shift();
      this.start();
    });
  }

  stop(): void {
    this.cancel();
  }

  /** Of the last five minutes; null: nothing was measured. */
  p99Ms(name: Name): number | null {
    return this.metrics[name].percentileMs(0.99, this.marks[0]?.[name]);
  }

  private mark(): Marks {
    const { journalSync, eventLoopLag, popLateness } = this.metrics;
    return {
      journalSync: journalSync.snapshot(),
      eventLoopLag: eventLoopLag.snapshot(),
      popLateness: popLateness.snapshot(),
    };
  }
}
