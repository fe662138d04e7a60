/**
 * A clock that moves only when told to. Alarms run in order of their time, then in the order they were set; `soon`
 * runs at the present time, after the alarms that are already there.
 */
import type { Cancel, Clock } from '../env.ts';
import { EventQueue } from './event-queue.ts';

export class VirtualClock implements Clock {
  private nowMs: number;
  /** Added to the monotonic time to give the wall clock; change it to step the wall clock. */
  wallOffsetMs: number;
  private readonly alarms = new EventQueue();

  constructor(options: { nowMs?: number; wallMs?: number } = {}) {
    this.nowMs = options.nowMs ?? 0;
    this.wallOffsetMs = (options.wallMs ?? Date.UTC(2026, 0, 1)) - this.nowMs;
  }

  now(): number {
    return this.nowMs;
  }

  wall(): number {
    return Math.floor(this.nowMs + this.wallOffsetMs);
  }

  at(atMs: number, fn: () => void): Cancel {
    const alarm = this.alarms.plan(Math.max(atMs, this.nowMs), fn);
    return () => {
      alarm.fn = null;
    };
  }

  soon(fn: () => void): void {
    this.at(this.nowMs, fn);
  }

  /** When the next alarm runs; null when there is none. */
  nextMs(): number | null {
    this.dropCancelled();
    return this.alarms.first?.atMs ?? null;
  }

  /** Runs the next alarm, moving time to it. False when there is none. */
  step(): boolean {
    this.dropCancelled();
    const alarm = this.alarms.first;
    if (alarm === undefined) return false;
    this.alarms.removeFirst();
    this.nowMs = alarm.atMs;
    alarm.fn?.();
    return true;
  }

  /**
   * Moves time to `toMs`, running every alarm on the way. Between two alarms all settled promises get
   * their turn, so that code awaiting something sees the world as it would in real life.
   */
  async advanceTo(toMs: number): Promise<void> {
    await settle();
    for (let next = this.nextMs(); next !== null && next <= toMs; next = this.nextMs()) {
      this.step();
      await settle();
    }
    this.nowMs = Math.max(this.nowMs, toMs);
  }

  advance(byMs: number): Promise<void> {
    return this.advanceTo(this.nowMs + byMs);
  }

  /** Moves time on, by 20 s at most, until the promise is settled. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    const state = { done: false };
    const mark = (): void => {
      state.done = true;
    };
    promise.then(mark, mark);
    for (let i = 0; i < 20_000 && !state.done; i++) await this.advance(1);
    return promise;
  }

  private dropCancelled(): void {
    while (this.alarms.first?.fn === null) this.alarms.removeFirst();
  }
}

/** One macrotask: every chain of promises that can settle has settled. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
