/** How long a page of a list may take. A page is never given out empty while more may follow. */
import { CarillonError, type Clock } from '@carillon/core';

/** Time limit of a page that has at least one record. */
const fillMs = 3000;
/** Time limit of an empty page: a walk over ten million timers without an index takes this long. */
const emptyMs = 60_000;

export class Patience {
  private readonly clock: Clock;
  private readonly startMs: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.startMs = clock.now();
  }

  /**
   * Whether a page with so many records is given out before it is full. Throws CarillonError where it would be empty.
   */
  isOver(count: number): boolean {
    const tookMs = this.clock.now() - this.startMs;
    if (count > 0) return tookMs > fillMs;
    if (tookMs <= emptyMs) return false;
    throw new CarillonError(
      'overloaded',
      'Members looked for a minute, not at all timers yet, and found none that matches; ask for a whole tag, a receiver or a state.',
    );
  }
}
