/**
 * Turns of scans over many records. However many lists and counts are under way, of clients and of peers, one turn of
 * the event loop works on one slice of one of them; they take turns in the order in which they asked. A slice ends when
 * it has read as much as a turn has room for.
 */
import type { Clock, TimerRecord } from '@carillon/core';
import { recordBytes, turnBytesMax } from './sizes.ts';

/** A record with many short fields takes as long to compare as this many bytes, however short it is. */
const leastBytes = 1024;

export class ScanTurns {
  private readonly clock: Clock;
  private waiting: (() => void)[] = [];
  private isAwaited = false;
  private readBytes = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Whether as much was read in this turn as there is room for: the rest is for the next one. */
  get isFull(): boolean {
    return this.readBytes >= turnBytesMax;
  }

  /** A record was read in this turn. */
  count(record: Pick<TimerRecord, 'body'>): void {
    if (this.readBytes === 0) {
      this.clock.soon(() => {
        this.readBytes = 0;
      });
    }
    this.readBytes += leastBytes + recordBytes(record);
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
      this.readBytes = 0;
      this.waiting.shift()?.();
      if (this.waiting.length > 0) this.await();
    });
  }
}
