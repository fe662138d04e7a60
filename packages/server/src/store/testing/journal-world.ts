/** For tests of the journal: small records, a model of its content, and a disk that can fail. */
import { DiskError, type Log, type LogFields, State, type TimerRecord } from '@carillon/core';
import { MemoryDisk, settle, VirtualClock } from '@carillon/core/testing';
import { Journal, type JournalLimits } from '../journal/journal.ts';
import type { SnapshotSource } from '../journal/snapshot.ts';
import { Store } from '../store.ts';

export const identity = 'cluster/member-1';

/** The state of number `lo`, told apart by `sequence`. */
export function recordOf(lo: number, sequence: number, bodyBytes = 20): TimerRecord {
  return {
    hi: 7,
    lo,
    namespace: 'default',
    factor: 2,
    versionMs: 1_800_000_000_000,
    versionTie: 1025,
    state: State.live,
    sequence,
    attempt: 0,
    startMs: 1000,
    dueMs: 61_000,
    gapMs: 60_000,
    retryMs: 61_000,
    triedMs: 61_000,
    outcome: 0,
    replicas: ['a', 'b'],
    body: new Uint8Array(bodyBytes).fill(lo),
  };
}

export class CollectedLog implements Log {
  readonly lines: { level: string; message: string; fields: LogFields }[] = [];

  debug(message: string, fields: LogFields): void {
    this.lines.push({ level: 'debug', message, fields });
  }
  info(message: string, fields: LogFields): void {
    this.lines.push({ level: 'info', message, fields });
  }
  warn(message: string, fields: LogFields): void {
    this.lines.push({ level: 'warn', message, fields });
  }
  error(message: string, fields: LogFields): void {
    this.lines.push({ level: 'error', message, fields });
  }
}

/** A journal on a memory disk, with the records that were replayed. */
export class World {
  clock = new VirtualClock({ nowMs: 5000 });
  log = new CollectedLog();
  disk: MemoryDisk;
  /** By the low half of the number. */
  records = new Map<number, TimerRecord>();
  failures: DiskError[] = [];
  /** The one that was opened last. */
  journal: Journal | null = null;
  limits: Partial<JournalLimits> = {
    reserveBytes: 4096,
    snapshotBytesMin: 2000,
    fullRetryMs: 1000,
  };

  constructor(disk?: MemoryDisk) {
    this.disk = disk ?? new MemoryDisk({ clock: this.clock });
  }

  /** `onReplayed` is called for each entry that is read. */
  async open(who = identity, onReplayed: () => void = () => {}): Promise<Journal> {
    this.records = new Map();
    const opening = Journal.open({
      disk: this.disk,
      clock: this.clock,
      log: this.log,
      identity: who,
      replay: {
        put: (record) => {
          onReplayed();
          this.records.set(record.lo, { ...record, body: record.body.slice() });
        },
        drop: (_hi, lo) => {
          onReplayed();
          this.records.delete(lo);
        },
        rows: (bytes, baseMs) => {
          onReplayed();
          const store = new Store();
          const taken = store.restoreRows(bytes, baseMs, ({ retryMs }) => retryMs);
          for (let handle = 0; handle < taken; handle++) {
            this.records.set(store.loOf(handle), store.read(handle));
          }
          return taken;
        },
        rowsEnd: () => {},
      },
      onFailed: (error) => this.failures.push(error),
      limits: this.limits,
    });
    this.journal = await this.until(opening);
    return this.journal;
  }

  /** Lets virtual time go by until the work is done. */
  async until<T>(work: Promise<T>): Promise<T> {
    const state = { ended: false };
    const ended = work.finally(() => {
      state.ended = true;
    });
    ended.catch(() => undefined);
    for (await settle(); !state.ended; await settle()) this.clock.step();
    return ended;
  }

  commit(journal: Journal): Promise<DiskError | null> {
    return this.until(new Promise((resolve) => journal.commit(resolve)));
  }

  /** The held records, as `lo: sequence`. */
  get sequences(): Record<number, number> {
    return Object.fromEntries([...this.records].map(([lo, { sequence }]) => [lo, sequence]));
  }

  /** The records in the order of a snapshot. */
  pull(): SnapshotSource {
    const all = [...this.records.values()];
    return { records: () => all.shift() };
  }

  /** The same with blocks of rows, for forms that have them. */
  pullRows(): SnapshotSource {
    const store = new Store();
    for (const record of this.records.values()) store.put(record);
    return { records: store.records(), rows: store.rowBlocks() };
  }
}
