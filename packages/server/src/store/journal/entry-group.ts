/** Entries of the journal that are written and synced together, and the callers that wait for that. */
import type { DiskError } from '@carillon/core';
import { EntryWriter } from './files/segment.ts';

export type Committed = (error: DiskError | null) => void;

export class EntryGroup {
  readonly entries = new EntryWriter();
  waiting: Committed[] = [];
  /** From the wall's time to the clock's, at the group's first record; NaN: there is none yet. */
  baseMs = Number.NaN;

  get isEmpty(): boolean {
    return this.entries.length === 0 && this.waiting.length === 0;
  }

  reset(): void {
    this.entries.reset();
    this.baseMs = Number.NaN;
  }

  /** Takes over the entries of a later group, and the callers that wait for them. */
  absorb(later: EntryGroup): void {
    this.entries.absorb(later.entries);
    this.waiting = this.waiting.concat(later.waiting);
    this.baseMs = Number.NaN;
    later.waiting = [];
  }

  finish(error: DiskError | null): void {
    const { waiting } = this;
    this.waiting = [];
    for (const done of waiting) done(error);
  }
}
