/**
 * One world: true time and everything that will happen in it. Events run in order of their time, then in the order they
 * were planned; between two of them all promises settle. Nothing here is random and nothing reads a real clock, so the
 * same plan gives the same run.
 *
 * True time moves in steps of 1/1024 ms: sums of such numbers are exact, so a clock without drift never rounds.
 */
import { EventQueue, type PlannedEvent } from '@carillon/core/testing';
import { drainPromises, inOwnTurn } from './system-turns.ts';
import { Trace } from './trace.ts';

/** Wall-clock time at which every world begins. */
export const epochMs = Date.UTC(2026, 0, 1);
const grainsPerMs = 1024;

/** The first moment of true time that is not before `ms`. */
export function grain(ms: number): number {
  return Math.ceil(ms * grainsPerMs) / grainsPerMs;
}

export class World {
  readonly trace: Trace;
  private currentMs = 0;
  private ran = 0;
  private readonly events = new EventQueue();

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
  at(atMs: number, fn: () => void): PlannedEvent {
    return this.events.plan(Math.max(grain(atMs), this.currentMs), fn);
  }

  after(byMs: number, fn: () => void): PlannedEvent {
    return this.at(this.currentMs + byMs, fn);
  }

  sleep(byMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(byMs, resolve);
    });
  }

  /** Lets everything happen up to `untilMs`. */
  run(untilMs: number): Promise<void> {
    return inOwnTurn(() => {
      drainPromises();
      for (;;) {
        const next = this.events.first;
        if (next === undefined || next.atMs > untilMs) break;
        this.events.removeFirst();
        if (next.fn === null) continue;
        this.currentMs = next.atMs;
        this.ran++;
        next.fn();
        drainPromises();
      }
      this.currentMs = Math.max(this.currentMs, untilMs);
    });
  }
}
