/**
 * One world: true time and everything that will happen in it. Events run in order of their time, then in the order they
 * were planned; between two of them all promises settle. Nothing here is random and nothing reads a real clock, so the
 * same plan gives the same run.
 *
 * True time moves in steps of 1/1024 ms: sums of such numbers are exact, so a clock without drift never rounds.
 */
import { drainPromises, inOwnTurn } from './system-turns.ts';
import { Trace } from './trace.ts';

/** Wall-clock time at which every world begins. */
export const epochMs = Date.UTC(2026, 0, 1);
const grainsPerMs = 1024;

export interface WorldEvent {
  readonly atMs: number;
  readonly order: number;
  fn: (() => void) | null;
}

/** The first moment of true time that is not before `ms`. */
export function grain(ms: number): number {
  return Math.ceil(ms * grainsPerMs) / grainsPerMs;
}

export class World {
  readonly trace: Trace;
  private currentMs = 0;
  private order = 0;
  private ran = 0;
  private stopped = false;
  private readonly heap: WorldEvent[] = [];

  constructor(trace: Trace = new Trace(false)) {
    this.trace = trace;
  }

  get nowMs(): number {
    return this.currentMs;
  }

  get eventCount(): number {
    return this.ran;
  }

  /** Plans `fn`; setting `fn` of the returned event to null takes it back. */
  at(atMs: number, fn: () => void): WorldEvent {
    const event: WorldEvent = {
      atMs: Math.max(grain(atMs), this.currentMs),
      order: this.order++,
      fn,
    };
    this.push(event);
    return event;
  }

  after(byMs: number, fn: () => void): WorldEvent {
    return this.at(this.currentMs + byMs, fn);
  }

  sleep(byMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(byMs, resolve);
    });
  }

  /** Ends the run after the present event. */
  stop(): void {
    this.stopped = true;
  }

  /** Lets everything happen up to `untilMs`. */
  run(untilMs: number): Promise<void> {
    return inOwnTurn(() => {
      drainPromises();
      for (;;) {
        const next = this.heap[0];
        if (this.stopped || next === undefined || next.atMs > untilMs) break;
        this.pop();
        if (next.fn === null) continue;
        this.currentMs = next.atMs;
        this.ran++;
        next.fn();
        drainPromises();
      }
      if (!this.stopped) this.currentMs = Math.max(this.currentMs, untilMs);
    });
  }

  private push(event: WorldEvent): void {
    const { heap } = this;
    let i = heap.length;
    heap.push(event);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(event, heap[parent] as WorldEvent)) break;
      heap[i] = heap[parent] as WorldEvent;
      i = parent;
    }
    heap[i] = event;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let i = 0;
    for (let child = 1; child < heap.length; child = 2 * i + 1) {
      const right = child + 1;
      if (right < heap.length && before(heap[right] as WorldEvent, heap[child] as WorldEvent)) {
        child = right;
      }
      if (!before(heap[child] as WorldEvent, last)) break;
      heap[i] = heap[child] as WorldEvent;
      i = child;
    }
    heap[i] = last;
  }
}

function before(a: WorldEvent, b: WorldEvent): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
