/**
 * Activity of this member, and of all members as they report it, for the charts of the dashboard: second by second for
 * five minutes, so that a newly opened page shows more than the moment, and coarsely for an hour and a day. Counts are
 * differences of the member's metrics.
 */
import type { Load } from '../../metrics/load.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { MemberView } from '../../metrics/status.ts';
import { CoarseSamples } from './coarse-samples.ts';

/** Activity in one second. */
export interface Sample {
  /** Wall-clock milliseconds at its end. */
  readonly at: number;
  readonly delivered: number;
  readonly retried: number;
  readonly dead: number;
  /** Lateness of the pops of the last ten seconds; null without any. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** How much later than asked the event loop came around. */
  readonly lag: number;
  /** All members that are heard, over the ten seconds before. */
  readonly all: AllMembers;
}

export interface AllMembers {
  /** Delivered pops a second. */
  readonly pops: number;
  /** Failed and tried again, and given up, a second. */
  readonly retried: number;
  readonly dead: number;
  /** Lateness at the member where it is largest; null without pops. */
  readonly p50: number | null;
  readonly p99: number | null;
}

export const sampleCountMax = 300;
/** Ranges that charts can show. */
export const ranges = ['5m', '1h', '1d'] as const;
export type Range = (typeof ranges)[number];
/** One second has too few pops for a percentile that means something. */
const latenessSecondCount = 10;

/** Figures at the end of some seconds without a sample. */
export interface Passed {
  /** Wall-clock milliseconds at their end. */
  readonly at: number;
  readonly seconds: number;
  readonly lag: number;
  readonly members: readonly MemberView[];
}

interface Counts {
  readonly delivered: number;
  readonly retried: number;
  readonly dead: number;
}

export class Samples {
  private readonly metrics: Metrics;
  private readonly latest: Sample[] = [];
  private readonly hour = new CoarseSamples({ stepMs: 10_000, countMax: 360 });
  private readonly day = new CoarseSamples({ stepMs: 60_000, countMax: 1440 });
  private readonly lateness: Float64Array[];
  private before: Counts;

  constructor(metrics: Metrics) {
    this.metrics = metrics;
    this.before = this.counts();
    this.lateness = [metrics.popLateness.snapshot()];
  }

  /** Oldest first. */
  get all(): readonly Sample[] {
    return this.latest;
  }

  /** Whether no member had a pop in the last ten seconds, as far as the newest sample tells. */
  get isQuiet(): boolean {
    const newest = this.latest.at(-1);
    if (newest === undefined || newest.p50 !== null || newest.all.p50 !== null) return false;
    const { delivered, retried, dead, all } = newest;
    return delivered + retried + dead + all.pops + all.retried + all.dead === 0;
  }

  /** Takes a sample for each second. Where several have passed, each has its share of the counts. */
  take({ at, seconds, lag, members }: Passed): void {
    const { popLateness } = this.metrics;
    const now = this.counts();
    const { before } = this;
    const since = this.lateness[0];
    const sample = {
      delivered: share(now.delivered - before.delivered, seconds),
      retried: share(now.retried - before.retried, seconds),
      dead: share(now.dead - before.dead, seconds),
      p50: rounded(popLateness.percentileMs(0.5, since)),
      p99: rounded(popLateness.percentileMs(0.99, since)),
      lag: Math.round(lag * 10) / 10,
      all: together(members),
    };
    this.before = now;
    const snapshot = popLateness.snapshot();
    for (let ago = Math.min(seconds, sampleCountMax) - 1; ago >= 0; ago--) {
      this.add({ at: at - ago * 1000, ...sample });
      if (this.lateness.push(snapshot) > latenessSecondCount) this.lateness.shift();
    }
  }

  of(range: Range): readonly Sample[] {
    if (range === '5m') return this.latest;
    return range === '1h' ? this.hour.all : this.day.all;
  }

  private add(sample: Sample): void {
    if (this.latest.push(sample) > sampleCountMax) this.latest.shift();
    this.hour.add(sample);
    this.day.add(sample);
  }

  private counts(): Counts {
    const { pops } = this.metrics;
    return {
      delivered: pops.count('delivered'),
      retried: pops.count('retried'),
      dead: pops.count('dead'),
    };
  }
}

function together(members: readonly MemberView[]): AllMembers {
  const loads = members.flatMap(({ load, reachable }) => (reachable && load ? [load] : []));
  const worst = (values: readonly (number | null)[]): number | null => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? null : Math.max(...known);
  };
  const sum = (read: (load: Load) => number): number =>
    Math.round(loads.reduce((all, load) => all + read(load), 0) * 100) / 100;
  return {
    pops: sum(({ popsPerSecond }) => popsPerSecond),
    retried: sum(({ retriedPerSecond }) => retriedPerSecond),
    dead: sum(({ givenUpPerSecond }) => givenUpPerSecond),
    p50: worst(loads.map(({ latenessP50Ms }) => latenessP50Ms)),
    p99: worst(loads.map(({ latenessP99Ms }) => latenessP99Ms)),
  };
}

function share(count: number, seconds: number): number {
  return Math.round((count / seconds) * 1000) / 1000;
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 100) / 100;
}
