/**
 * Many timers that are set or replaced at a member that is alone: all are stored in one go, and one sync of the disk
 * confirms them. While the disk works, nothing is kept of a timer but its outcome: no record, no definition, no closure
 * for each. When they were kept, the garbage collector spent most of its time on batches that waited.
 */
import type { TimerRecord } from '@carillon/core';
import type { Action } from '../history/entry.ts';
import type { Replica } from '../replication/replica.ts';
import type { ClientIds } from './client-ids.ts';
import { askedMs, noteChange, type NotingParts } from './noting.ts';
import { noRoom } from './outcome.ts';
import type { Changed, ChangeOutcome } from './service.ts';

export interface AloneParts extends NotingParts {
  readonly replica: Pick<Replica, 'create' | 'replace' | 'sync'>;
  readonly ids: ClientIds;
}

/** How many were stored as new ones, in place of others, and not at all. */
export interface AloneCounts {
  readonly created: number;
  readonly replaced: number;
  readonly refused: number;
}

type Made = Extract<Action, 'set' | 'replace'>;

const copies = { have: 1, wanted: 1 } as const;

/** A timer that is stored, and not synced yet. */
interface Stored extends Changed {
  readonly ok: true;
  readonly index: number;
  readonly namespace: string;
  readonly hi: number;
  readonly lo: number;
  readonly action: Made;
  readonly actor: string;
}

export class SetsAlone {
  private readonly parts: AloneParts;
  private readonly stored: Stored[] = [];
  private replacedCount = 0;

  constructor(parts: AloneParts) {
    this.parts = parts;
  }

  /** False: the number is taken, or there is no room; nothing was stored. */
  create(index: number, record: TimerRecord, actor: string): boolean {
    if (this.parts.replica.create(record) !== 'stored') return false;
    this.add(index, record, 'set', actor);
    return true;
  }

  /** False: there is no such timer, or none that this record is newer than; nothing was stored. */
  replace(index: number, record: TimerRecord, actor: string): boolean {
    if (!this.parts.replica.replace(record)) return false;
    this.replacedCount++;
    this.add(index, record, 'replace', actor);
    return true;
  }

  private add(index: number, record: TimerRecord, action: Made, actor: string): void {
    const { namespace, hi, lo, versionMs, versionTie } = record;
    const version = { versionMs, versionTie };
    const id = this.parts.ids.of(record);
    this.stored.push({ ok: true, id, copies, version, index, namespace, hi, lo, action, actor });
  }

  /** Puts the outcomes into their places once the disk has them. */
  finish(outcomes: ChangeOutcome[], done: (counts: AloneCounts) => void): void {
    const { stored, replacedCount: replaced } = this;
    if (stored.length === 0) return done({ created: 0, replaced: 0, refused: 0 });
    this.parts.replica.sync((ok) => {
      const { wallMs } = this.parts.instant();
      for (const one of stored) {
        outcomes[one.index] = ok ? one : { ok: false, error: noRoom() };
        if (ok) this.note(one, wallMs);
      }
      const refused = { created: 0, replaced: 0, refused: stored.length };
      done(ok ? { created: stored.length - replaced, replaced, refused: 0 } : refused);
    });
  }

  private note({ namespace, hi, lo, version, action, actor }: Stored, nowMs: number): void {
    const { versionMs, versionTie } = version;
    const changed = { namespace, hi, lo, versionMs, versionTie };
    const wallMs = askedMs(changed, nowMs);
    noteChange(this.parts, changed, { action, actor, tag: '', wallMs });
  }
}
