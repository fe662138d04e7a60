/**
 * Turns of scans over many records. However many lists and counts are under way, of clients and of peers, one turn of
 * the event loop works on one slice of one of them; they take turns in the order in which they asked.
 */
import type { Clock } from '@carillon/core';

export class ScanTurns {
  private readonly clock: Clock;
  private waiting: (() => void)[] = [];
  private isAwaited = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Resolves when the next slice of the caller's scan may be worked on. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.await();
    });
  }

  private await(): void {
    if (this.isAwaited) return;
    this.isAwaited = true;
    this.clock.soon(() => {
      this.isAwaited = false;
      this.waiting.shift()?.();
      if (this.waiting.length > 0) this.await();
    });
  }
}
