/** Entries of the journal that are written and synced together, and the callers that wait for that. */
import type { DiskError } from '@carillon/core';
import { EntryWriter } from './files/segment.ts';

export type Committed = (error: DiskError | null) => void;

export class EntryGroup {
  readonly entries = new EntryWriter();
  waiting: Committed[] = [];
  /** Callers that wait too, but for no sync of their own. */
  patient: Committed[] = [];
  /** From the wall's time to the clock's, at the group's first record; NaN: there is none yet. */
  baseMs = Number.NaN;

  get isEmpty(): boolean {
    return this.entries.length === 0 && this.waiting.length + this.patient.length === 0;
  }

  reset(): void {
    this.entries.reset();
    this.baseMs = Number.NaN;
  }

  /** Takes over the entries of a later group, and the callers that wait for them. */
  absorb(later: EntryGroup): void {
    this.entries.absorb(later.entries);
    this.waiting = this.waiting.concat(later.waiting);
    this.patient = this.patient.concat(later.patient);
    this.baseMs = Number.NaN;
    later.waiting = [];
    later.patient = [];
  }

  finish(error: DiskError | null): void {
    const { waiting, patient } = this;
    this.waiting = [];
    this.patient = [];
    for (const done of waiting) done(error);
    for (const done of patient) done(error);
  }
}
