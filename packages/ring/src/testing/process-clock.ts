/**
 * The clock of one simulated process: it can run fast or slow, its alarms come late, as in a busy process, and it can
 * be paused (SIGSTOP) or dead (SIGKILL). A paused process runs nothing; alarms and messages of that time run when it
 * goes on.
 */
import type { Cancel, Clock } from '@carillon/core';
import type { SeededRandom, VirtualClock } from '@carillon/core/testing';

export interface ProcessClockOptions {
  /** How fast it runs against true time; 1.01: one percent too fast. */
  readonly rate: number;
  /** Alarms run up to this much late. */
  readonly lagMsMax: number;
}

export class ProcessClock implements Clock {
  private readonly base: VirtualClock;
  private readonly random: SeededRandom;
  private readonly options: ProcessClockOptions;
  private state: 'running' | 'paused' | 'dead' = 'running';
  private readonly wallAtStartMs: number;
  private backlog: (() => void)[] = [];
  /** Added to the wall clock, as if an administrator had set it. */
  wallStepMs = 0;

  constructor(base: VirtualClock, random: SeededRandom, options: ProcessClockOptions) {
    this.base = base;
    this.wallAtStartMs = base.wall() - base.now() * options.rate;
    this.random = random;
    this.options = options;
  }

  now(): number {
    return this.base.now() * this.options.rate;
  }

  /** Driven by the same oscillator, so it is as fast or slow as `now`. */
  wall(): number {
    return Math.floor(this.wallAtStartMs + this.now() + this.wallStepMs);
  }

  at(atMs: number, fn: () => void): Cancel {
    const lagMs = this.random.unit() * this.options.lagMsMax;
    const alarm = { fn: fn as (() => void) | null };
    // A hair later than the quotient, so that rounding never makes an alarm early on this clock.
    const trueMs = atMs / this.options.rate + 1e-6 + lagMs;
    const cancel = this.base.at(trueMs, () => this.run(() => alarm.fn?.()));
    return () => {
      alarm.fn = null;
      cancel();
    };
  }

  soon(fn: () => void): void {
    this.base.soon(() => this.run(fn));
  }

  /** Runs something that reached the process from outside, now or when it goes on. */
  readonly run = (fn: () => void): void => {
    if (this.state === 'running') fn();
    else if (this.state === 'paused') this.backlog.push(fn);
  };

  pause(): void {
    if (this.state === 'running') this.state = 'paused';
  }

  resume(): void {
    if (this.state !== 'paused') return;
    this.state = 'running';
    const { backlog } = this;
    this.backlog = [];
    for (const fn of backlog) this.base.soon(() => this.run(fn));
  }

  kill(): void {
    this.state = 'dead';
    this.backlog = [];
  }
}
