/**
 * Many waits of one length. They end in the order they began, so a list and one alarm serve them all: an alarm of its
 * own for each of some ten thousand writes a second costs more than the writes.
 */
import type { Cancel, Clock } from './env.ts';
import { invariant } from './errors.ts';

/** Something that waits; the two links belong to the list it is in. */
export interface Deadlined {
  readonly startMs: number;
  before: Deadlined | null;
  after: Deadlined | null;
  /** The wait is over; it is in no list any more. */
  overdue(): void;
}

export class Deadlines {
  private readonly clock: Clock;
  private readonly lengthMs: number;
  private first: Deadlined | null = null;
  private last: Deadlined | null = null;
  private cancelAlarm: Cancel | null = null;

  constructor(clock: Clock, lengthMs: number) {
    this.clock = clock;
    this.lengthMs = lengthMs;
  }

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    return this.first === null;
  }

  /** None that is added later may have started earlier. */
  add(waiting: Deadlined): void {
    invariant(waiting.before === null && waiting.after === null, 'a wait is in one list');
    invariant(
      this.last === null || this.last.startMs <= waiting.startMs,
      'waits are added in the order of their beginning',
    );
    waiting.before = this.last;
    if (this.last === null) this.first = waiting;
    else this.last.after = waiting;
    this.last = waiting;
    if (this.cancelAlarm === null) this.arm(waiting);
  }

  /** Nothing happens where it was not in the list. */
  remove(waiting: Deadlined): void {
    const { before, after } = waiting;
    if (before !== null) before.after = after;
    else if (this.first === waiting) this.first = after;
    else return;
    if (after === null) this.last = before;
    else after.before = before;
    waiting.before = null;
    waiting.after = null;
  }

  /** No wait ends any more, and no alarm keeps the process alive. */
  stop(): void {
    this.cancelAlarm?.();
  }

  private arm(first: Deadlined): void {
    // A late alarm would run before answers that have arrived meanwhile; `soon` lets the answers come first.
    const rings = (): void => this.clock.soon(() => this.ring());
    this.cancelAlarm = this.clock.at(first.startMs + this.lengthMs, rings);
  }

  private ring(): void {
    this.cancelAlarm = null;
    const nowMs = this.clock.now();
    while (this.first !== null && this.first.startMs + this.lengthMs <= nowMs) {
      const { first } = this;
      this.remove(first);
      first.overdue();
    }
    // The alarm may have been for one that is long gone.
    if (this.first !== null && this.cancelAlarm === null) this.arm(this.first);
  }
}
