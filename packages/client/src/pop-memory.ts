/**
 * Which pops were handled already. Callbacks can come twice after a fault; a receiver that remembers them drops the
 * second.
 */
import { refuseUnless } from '@carillon/core';

/** `fresh`: handle it. `handled`: drop it. `busy`: it is being handled right now, perhaps elsewhere. */
export type PopState = 'fresh' | 'handled' | 'busy';

/** Implement it to share the memory of handled pops between processes; each step may be asynchronous. */
export interface PopMemory {
  /** Looks the pop up and, if it is fresh, marks it as busy in the same step. */
  begin(key: string): PopState | Promise<PopState>;
  /** It was handled: `begin` answers `handled` from now on. */
  handled(key: string): void | Promise<void>;
  /** Handling failed: `begin` answers `fresh` again, so that the next attempt gets through. */
  failed(key: string): void | Promise<void>;
}

/** The newest keys of this process, in memory. Beyond the limit the oldest handled ones are forgotten. */
export class BoundedPopMemory implements PopMemory {
  private readonly keyCountMax: number;
  private readonly busy = new Set<string>();
  private readonly done = new Set<string>();
  /** The same keys in the order in which they came; from `nextAt` on the oldest ones, once it is full. */
  private readonly order: string[] = [];
  private nextAt = 0;

  /** Throws TypeError for a limit that is no whole number from 1 on. */
  constructor(keyCountMax = 100_000) {
    const fits = Number.isSafeInteger(keyCountMax) && keyCountMax >= 1;
    refuseUnless(fits, 'keyCountMax', 'a whole number from 1 on', keyCountMax);
    this.keyCountMax = keyCountMax;
  }

  begin(key: string): PopState {
    if (this.done.has(key)) return 'handled';
    if (this.busy.has(key)) return 'busy';
    this.busy.add(key);
    return 'fresh';
  }

  handled(key: string): void {
    this.busy.delete(key);
    if (this.done.has(key)) return;
    this.done.add(key);
    // Asking the set for its oldest key would take longer with every key that was deleted before.
    const oldest = this.order[this.nextAt];
    if (oldest !== undefined) this.done.delete(oldest);
    this.order[this.nextAt] = key;
    this.nextAt = (this.nextAt + 1) % this.keyCountMax;
  }

  failed(key: string): void {
    this.busy.delete(key);
  }
}
