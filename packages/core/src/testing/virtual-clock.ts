/**
 * A clock that moves only when told to. Alarms run in order of their time, then in the order they were set; `soon`
 * runs at the present time, after the alarms that are already there.
 */
import type { Cancel, Clock } from '../env.ts';

interface Alarm {
  atMs: number;
  order: number;
  fn: (() => void) | null;
}

export class VirtualClock implements Clock {
  private nowMs: number;
  /** Added to the monotonic time to give the wall clock; change it to step the wall clock. */
  wallOffsetMs: number;
  private order = 0;
  /** A binary heap: the earliest alarm first. */
  private readonly heap: Alarm[] = [];

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
    const alarm: Alarm = { atMs: Math.max(atMs, this.nowMs), order: this.order++, fn };
    this.push(alarm);
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
    return this.heap[0]?.atMs ?? null;
  }

  /** Runs the next alarm, moving time to it. False when there is none. */
  step(): boolean {
    this.dropCancelled();
    const alarm = this.pop();
    if (alarm === undefined) return false;
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
    while (this.heap.length > 0 && this.heap[0]?.fn === null) this.pop();
  }

  private push(alarm: Alarm): void {
    const { heap } = this;
    let i = heap.length;
    heap.push(alarm);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(alarm, heap[parent] as Alarm)) break;
      heap[i] = heap[parent] as Alarm;
      i = parent;
    }
    heap[i] = alarm;
  }

  private pop(): Alarm | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let i = 0;
    for (let child = 1; child < heap.length; child = 2 * i + 1) {
      const right = child + 1;
      if (right < heap.length && before(heap[right] as Alarm, heap[child] as Alarm)) child = right;
      if (!before(heap[child] as Alarm, last)) break;
      heap[i] = heap[child] as Alarm;
      i = child;
    }
    heap[i] = last;
    return first;
  }
}

function before(a: Alarm, b: Alarm): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/** One macrotask: every chain of promises that can settle has settled. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
