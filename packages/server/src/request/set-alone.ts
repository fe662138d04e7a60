/**
 * Many new timers at a member that is alone: all are stored in one go, and one sync of the disk confirms them. While
 * the disk works, nothing is kept of a timer but its outcome: no record, no definition, no closure for each. With
 * those, most of the time of the garbage collector went into batches that wait.
 */
import type { TimerRecord } from '@carillon/core';
import type { Action } from '../history/entry.ts';
import type { Replica } from '../replication/replica.ts';
import type { ClientIds } from './client-ids.ts';
import { noteChange, type NotingParts } from './noting.ts';
import { noRoom } from './outcome.ts';
import type { Changed, ChangeOutcome } from './service.ts';

export interface AloneParts extends NotingParts {
  readonly replica: Pick<Replica, 'create' | 'sync'>;
  readonly ids: ClientIds;
}

const action: Action = 'set';
const copies = { have: 1, wanted: 1 } as const;

/** A timer that is stored, and not synced yet. */
interface Stored extends Changed {
  readonly ok: true;
  readonly index: number;
  readonly namespace: string;
  readonly hi: number;
  readonly lo: number;
  readonly actor: string;
}

export class SetsAlone {
  private readonly parts: AloneParts;
  private readonly stored: Stored[] = [];

  constructor(parts: AloneParts) {
    this.parts = parts;
  }

  /** False: the number is taken, or there is no room; nothing was stored. */
  add(index: number, record: TimerRecord, actor: string): boolean {
    const { replica, ids } = this.parts;
    if (replica.create(record) !== 'stored') return false;
    const { namespace, hi, lo, versionMs, versionTie } = record;
    const version = { versionMs, versionTie };
    this.stored.push({
      ok: true,
      id: ids.of(record),
      copies,
      version,
      index,
      namespace,
      hi,
      lo,
      actor,
    });
    return true;
  }

  /** Puts the outcomes into their places once the disk has them. */
  finish(outcomes: ChangeOutcome[], done: (created: number, refused: number) => void): void {
    const { stored } = this;
    if (stored.length === 0) return done(0, 0);
    this.parts.replica.sync((ok) => {
      const { wallMs } = this.parts.instant();
      for (const one of stored) {
        outcomes[one.index] = ok ? one : { ok: false, error: noRoom() };
        if (ok) this.note(one, wallMs);
      }
      done(ok ? stored.length : 0, ok ? 0 : stored.length);
    });
  }

  private note({ namespace, hi, lo, version, actor }: Stored, wallMs: number): void {
    const { versionMs, versionTie } = version;
    const changed = { namespace, hi, lo, versionMs, versionTie };
    noteChange(this.parts, changed, { action, actor, tag: '', wallMs });
  }
}
