/**
 * Samples of longer times, for the ranges of an hour and of a day: each stands for ten seconds, or for a minute. Made
 * of the samples of each second as they come; memory is bounded by the number of samples.
 */
import type { AllMembers, Sample } from './events-samples.ts';

export class CoarseSamples {
  private readonly samples: Sample[] = [];
  private readonly countMax: number;
  /** Wall-clock milliseconds that one sample stands for. */
  private readonly stepMs: number;
  /** Samples of the step that is under way. */
  private present: Sample[] = [];

  constructor({ stepMs, countMax }: { readonly stepMs: number; readonly countMax: number }) {
    this.stepMs = stepMs;
    this.countMax = countMax;
  }

  /** Oldest first; the last one stands for the step that is under way. */
  get all(): readonly Sample[] {
    return this.present.length === 0 ? this.samples : [...this.samples, combined(this.present)];
  }

  add(sample: Sample): void {
    const [first] = this.present;
    if (first !== undefined && this.stepOf(first) !== this.stepOf(sample)) this.close();
    this.present.push(sample);
    // A wall clock that is set back must not make a step longer than it is.
    if (this.present.length * 1000 > 2 * this.stepMs) this.close();
  }

  private close(): void {
    if (this.samples.push(combined(this.present)) >= this.countMax) this.samples.shift();
    this.present = [];
  }

  private stepOf({ at }: Sample): number {
    return Math.floor(at / this.stepMs);
  }
}

/** Counts stay counts a second: their mean. Of lateness and lag, the largest; of medians, the mean. */
export function combined(samples: readonly Sample[]): Sample {
  const each = <T>(read: (sample: Sample) => T): T[] => samples.map(read);
  const all: AllMembers = {
    pops: mean(each((sample) => sample.all.pops)),
    retried: mean(each((sample) => sample.all.retried)),
    dead: mean(each((sample) => sample.all.dead)),
    p50: meanOfKnown(each((sample) => sample.all.p50)),
    p99: largest(each((sample) => sample.all.p99)),
  };
  return {
    at: samples.at(-1)?.at ?? 0,
    delivered: mean(each((sample) => sample.delivered)),
    retried: mean(each((sample) => sample.retried)),
    dead: mean(each((sample) => sample.dead)),
    p50: meanOfKnown(each((sample) => sample.p50)),
    p99: largest(each((sample) => sample.p99)),
    lag: largest(each((sample) => sample.lag)) ?? 0,
    all,
  };
}

function mean(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  return Math.round((sum / Math.max(1, values.length)) * 1000) / 1000;
}

function meanOfKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : mean(known);
}

function largest(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>(
    (most, value) => (value === null || (most !== null && most >= value) ? most : value),
    null,
  );
}
