/** Lateness second by second, in memory that does not grow with the pops: a few hundred counters for each second. */
import type { Second } from './arrivals.ts';

const stepsPerDoubling = 8;
const leastMs = 0.01;
const counterCount = 256;

interface Counted {
  readonly second: number;
  readonly counters: Uint32Array;
  count: number;
  maxMs: number;
}

export class Seconds {
  private readonly startMs: number;
  private readonly all: Counted[] = [];

  constructor(startMs: number) {
    this.startMs = startMs;
  }

  add(nowMs: number, lateMs: number): void {
    const second = Math.floor((nowMs - this.startMs) / 1000);
    const counted = this.at(second);
    counted.count++;
    counted.maxMs = Math.max(counted.maxMs, lateMs);
    const counter = counterOf(lateMs);
    counted.counters[counter] = (counted.counters[counter] ?? 0) + 1;
  }

  summary(): Second[] {
    return this.all.map(({ second, counters, count, maxMs }) => ({
      second,
      count,
      p50Ms: Math.min(maxMs, percentile(counters, count * 0.5)),
      p99Ms: Math.min(maxMs, percentile(counters, count * 0.99)),
      maxMs,
    }));
  }

  private at(second: number): Counted {
    const newest = this.all.at(-1);
    if (newest !== undefined && newest.second >= second) return newest;
    const next = { second, counters: new Uint32Array(counterCount), count: 0, maxMs: 0 };
    this.all.push(next);
    return next;
  }
}

function counterOf(lateMs: number): number {
  const doublings = Math.log2(Math.max(lateMs, leastMs) / leastMs);
  return Math.min(counterCount - 1, Math.ceil(doublings * stepsPerDoubling));
}

function percentile(counters: Uint32Array, rank: number): number {
  let passed = 0;
  const counter = counters.findIndex((count) => {
    passed += count;
    return passed >= rank;
  });
  return leastMs * 2 ** (counter / stepsPerDoubling);
}
