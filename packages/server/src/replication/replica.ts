/**
 * The records of this member. Every record comes in through here, from clients, peers and pops alike:
 * merge → journal → store → alarm, and an answer once it is on disk.
 *
 * R1  An answer that promises something is given after the sync that covers it.
 * R2  Every stored record has an alarm: a live record its pop, a tombstone or dead letter its end.
 */
import {
  type Clock,
  compareProgress,
  compareVersions,
  invariant,
  type Progress,
  State,
  type TimerRecord,
  type VersionClock,
} from '@carillon/core';
import { Usage } from '../quotas/usage.ts';
import type { Journal } from '../store/journal/journal.ts';
import type { Bodiless } from '../store/row-restore.ts';
import type { Store } from '../store/store.ts';
import { BackupCounts, type SpokenFor } from './backup-counts.ts';
import type { Digests } from './digests.ts';
import { ScanTurns } from './scan-turns.ts';
import { isLate, merge, onTime } from '../timer/merge.ts';
import { onWallTime } from '../timer/late-wall.ts';
import { keepingKey } from '../timer/request-digest.ts';
import { type Instant, lookMs } from '../timer/schedule.ts';
import type { Answer } from './wire/answer.ts';
import type { StoreMode } from './wire/message.ts';

export interface Retention {
  readonly tombstoneMs: number;
  /** For timers set under an idempotency key. */
  readonly idempotentMs: number;
  /** Of dead letters, as their namespace wishes; null: for ever. */
  readonly letterMs: (namespace: string) => number | null;
}

/** Gives the answer to a write a span, where the write is recorded. */
export interface ReplicaTracing {
  replicating(record: TimerRecord, done: (answer: Answer) => void): (answer: Answer) => void;
}

export interface ReplicaOptions {
  readonly self: string;
  readonly clock: Clock;
  /** Both clocks, the wall clock corrected by the cluster's; without it the member's own. */
  readonly instant?: () => Instant;
  readonly store: Store;
  /** null: `durability: memory`, or still recovering. */
  readonly journal: () => Journal | null;
  readonly digests: Digests;
  readonly versions: VersionClock;
  readonly retention: Retention;
  /** Whether this member gives its records away, and will be gone. */
  readonly leaving?: () => boolean;
  /** The members that should hold a record in the present view. */
  readonly desired: (record: TimerRecord) => readonly string[];
  /** null: nothing is recorded. */
  readonly tracing?: ReplicaTracing | null;
  /** Called when a client or a peer brings a record that was missing here, or a newer one. */
  readonly onTaken?: (record: TimerRecord) => void;
  /** Called after each change; `record` is null when it was dropped. */
  readonly onChange: (handle: number, record: TimerRecord | null) => void;
  /** Called after each change of a record but a new list (`relist`). `wanted`: `desired` of it, if known already. */
  readonly onSaved?: (record: TimerRecord, wanted: readonly string[] | undefined) => void;
}

/** Beyond the life of any member. */
const foreverMs = 100 * 365 * 86_400_000;
/** One replica after the other comes to the age of a letter, so that mostly one of them drops it. */
const letterStepMs = 2000;

export class Replica {
  private readonly options: ReplicaOptions;
  readonly store: Store;
  /** Timers and bytes of each namespace here. */
  readonly usage = new Usage();
  /** Scans over many records here take turns. */
  readonly scans: ScanTurns;
  private readonly instant: () => Instant;
  /** Records here whose primary is another member. */
  readonly backups = new BackupCounts();
  private primaryCount = 0;
  private primaryLetterCount = 0;
  private retryingCount = 0;
  private primaryRetryingCount = 0;
  private singleCount = 0;
  /** By handle: 1 for records from disk that may be out of date (see cluster/doubt.ts). */
  private doubtful = new Uint8Array(0);
  private doubtfulLeft = 0;

  constructor(options: ReplicaOptions) {
    this.options = options;
    this.store = options.store;
    this.scans = new ScanTurns(options.clock);
    const { clock } = options;
    this.instant = options.instant ?? (() => ({ nowMs: clock.now(), wallMs: clock.wall() }));
  }

  get(hi: number, lo: number): TimerRecord | undefined {
    return this.store.get(hi, lo);
  }

  /** The fields that order two records of a timer; null: none is here. Cheaper than the whole record. */
  progressOf(hi: number, lo: number): Progress | null {
    const handle = this.store.find(hi, lo);
    return handle === -1 ? null : this.store.progressOf(handle);
  }

  /** Live timers of which this member is the primary. */
  get primaries(): number {
    return this.primaryCount;
  }

  /** Records of which this member is the primary, or the first replica that is not silent. */
  spokenFor(isSilent: (name: string) => boolean): SpokenFor {
    const backups = this.backups.spokenFor(isSilent);
    return {
      timers: this.primaryCount + backups.timers,
      letters: this.primaryLetterCount + backups.letters,
      retrying: this.primaryRetryingCount + backups.retrying,
    };
  }

  /** Live timers of which this member has the only copy. */
  get singles(): number {
    return this.singleCount;
  }

  /** Live timers whose present pop has failed before. */
  get retrying(): number {
    return this.retryingCount;
  }

  /** No room on disk for new timers. */
  get full(): boolean {
    return this.options.journal()?.full ?? false;
  }

  /** A member that leaves may be gone the next moment, with records that it confirmed after it gave the last away. */
  private mayTakeNew(): boolean {
    return !this.full && this.options.leaving?.() !== true;
  }

  /** Takes a record from a client's request or a peer if it is newer, and answers when that is safe. */
  receive(record: TimerRecord, mode: StoreMode, answered: (answer: Answer) => void): void {
    const done = this.options.tracing?.replicating(record, answered) ?? answered;
    this.options.versions.observe(record);
    const stored = this.store.get(record.hi, record.lo);
    if (stored === undefined) {
      if (mode === 'update') return done({ type: 'stored' });
      if (record.state === State.live && !this.mayTakeNew())
        return done({ type: 'refused', why: 'full' });
    } else if (stored.namespace !== record.namespace) {
      return done({ type: 'refused', why: 'namespace' });
    } else if (mode === 'create') {
      return this.answerSynced({ type: 'have', progress: stored }, done);
    }
    if (stored === undefined) {
      this.take(this.inTime(record, stored), stored);
      return this.answerSynced({ type: 'stored' }, done);
    }
    this.answerSynced(this.merged(stored, record), done);
  }

  /**
   * Stores a new record where its number is free, for a caller that stores many and waits once: the answer counts when
   * `sync` has called back.
   */
  create(record: TimerRecord): 'stored' | 'taken' | 'full' {
    this.options.versions.observe(record);
    if (this.store.find(record.hi, record.lo) !== -1) return 'taken';
    if (this.full && record.state === State.live) return 'full';
    this.take(record, undefined);
    return 'stored';
  }

  /**
   * Stores a client's change of a record that is here, for the same kind of caller. False: nothing was stored. The
   * record is not here, is of another namespace, or is not older.
   */
  replace(record: TimerRecord): boolean {
    this.options.versions.observe(record);
    const handle = this.store.find(record.hi, record.lo);
    if (handle === -1) return false;
    const stored = this.store.glance(handle);
    if (stored.namespace !== record.namespace || compareVersions(record, stored) <= 0) return false;
    this.take(record, stored);
    return true;
  }

  /** Keeps the survivor of two records; returns the answer to the sender of the second. */
  private merged(stored: TimerRecord, incoming: TimerRecord): Answer {
    const wanted = this.options.desired(incoming);
    const verdict = merge(stored, incoming, wanted);
    const kept = onTime(stored, incoming);
    if (verdict === 'take')
      this.take(keepingKey(this.inTime(incoming, stored), stored), stored, wanted);
    else if (verdict === 'list')
      this.save({ ...kept, replicas: incoming.replicas }, stored, wanted);
    else if (isLate(stored, incoming)) this.save(kept, stored, wanted);
    if (verdict !== 'keep') return { type: 'stored' };
    if (compareProgress(stored, incoming) > 0) return { type: 'have', progress: stored };
    return this.disowns(stored, incoming) ? { type: 'unknown' } : { type: 'stored' };
  }

  /** The incoming record, due as early as the stored one, or else its version, shows that it is. */
  private inTime(incoming: TimerRecord, stored: TimerRecord | undefined): TimerRecord {
    const onTimeOfStored = stored === undefined ? incoming : onTime(incoming, stored);
    return onWallTime(onTimeOfStored, stored, this.instant);
  }

  private take(
    record: TimerRecord,
    stored: TimerRecord | undefined,
    wanted?: readonly string[],
  ): void {
    this.save(record, stored, wanted);
    this.options.onTaken?.(record);
  }

  /**
   * Whether the sender counts on this member although this member is about to give the record away. Two members that
   * counted on each other would both drop it.
   */
  private disowns(stored: TimerRecord, incoming: TimerRecord): boolean {
    const { self } = this.options;
    return incoming.replicas.includes(self) && !this.owns(stored);
  }

  /** Whether the record is here to stay, as far as this member knows. */
  owns(record: TimerRecord): boolean {
    return record.replicas.includes(this.options.self);
  }

  /**
   * Stores a decision of this member itself: the outcome of a pop, an end. `stored`: the present record, if at hand.
   */
  write(record: TimerRecord, stored = this.store.get(record.hi, record.lo)): void {
    this.save(record, stored);
    this.options.journal()?.commit(ignore);
  }

  /** The same record with another list. The caller sees to it that the listed members get it. */
  relist(record: TimerRecord, replicas: readonly string[]): void {
    this.put({ ...record, replicas }, record);
  }

  drop(record: TimerRecord): void {
    const handle = this.store.find(record.hi, record.lo);
    if (handle === -1) return;
    const stored = this.store.read(handle);
    this.settleDoubt(handle, stored);
    this.uncount(stored);
    this.options.journal()?.drop(record.hi, record.lo);
    this.options.onChange(handle, null);
    this.store.remove(record.hi, record.lo);
  }

  /** Puts a record back as it was on disk. The record is only read during the call. */
  restore(record: TimerRecord): void {
    const handle = this.store.find(record.hi, record.lo);
    if (handle !== -1) {
      // A record that was written during a snapshot is often in both.
      if (this.holds(handle, record)) return;
      this.uncount(this.store.read(handle));
    }
    this.options.versions.observe(record);
    this.count(record);
    this.store.arm(this.store.put(record), this.alarm(record));
  }

  /**
   * The same for a block of rows, before any record is here; how many were taken. Throws MalformedError for bytes that
   * are no block.
   */
  restoreRows(bytes: Uint8Array, baseMs: number): number {
    return this.store.restoreRows(bytes, baseMs, this.alarmOfRow);
  }

  private readonly alarmOfRow = (row: Bodiless): number => {
    this.options.versions.observe(row);
    this.count(row);
    return this.alarm(row);
  };

  /** All rows are here. */
  endRestore(): void {
    this.store.endRestore((record) => this.uncount(record));
  }

  /** Whether this very record is here: one with the same progress differs in its list at most. */
  private holds(handle: number, record: TimerRecord): boolean {
    if (compareProgress(this.store.progressOf(handle), record) !== 0) return false;
    const listed = this.store.replicasOf(handle);
    const { replicas } = record;
    return listed.length === replicas.length && listed.every((name, i) => name === replicas[i]);
  }

  get doubtfulCount(): number {
    return this.doubtfulLeft;
  }

  isDoubtful(handle: number): boolean {
    return this.doubtful[handle] === 1;
  }

  /**
   * Everything that is here now may be out of date, after a long time: not to be offered to others before they are
   * asked.
   */
  doubtAll(): void {
    const handles: number[] = [];
    for (let after = this.store.next(null, 1000, handles); after !== null; ) {
      after = this.store.next(after, 1000, handles);
    }
    const before = this.doubtful;
    this.doubtful = new Uint8Array(handles.reduce((most, handle) => Math.max(most, handle + 1), 0));
    this.doubtfulLeft = handles.length;
    for (const handle of handles) {
      if (before[handle] !== 1) this.options.digests.toggle(this.store.read(handle));
      this.doubtful[handle] = 1;
    }
  }

  /** The record is as good as any. */
  trust(record: TimerRecord): void {
    const handle = this.store.find(record.hi, record.lo);
    if (handle !== -1) this.settleDoubt(handle, this.store.read(handle));
  }

  private settleDoubt(handle: number, record: TimerRecord): void {
    if (!this.isDoubtful(handle)) return;
    this.doubtful[handle] = 0;
    this.doubtfulLeft--;
    invariant(this.doubtfulLeft >= 0, 'no more records leave doubt than were in it');
    this.options.digests.toggle(record);
  }

  /** Takes a record out again that the journal says was dropped. */
  forget(hi: number, lo: number): void {
    const stored = this.store.get(hi, lo);
    if (stored === undefined) return;
    this.uncount(stored);
    this.store.remove(hi, lo);
  }

  /** When the record needs attention next, claims aside. */
  alarm(record: Bodiless): number {
    const { self, retention } = this.options;
    if (record.state === State.live) return lookMs(record, self);
    if (record.state === State.dead) {
      const keepMs = retention.letterMs(record.namespace) ?? foreverMs;
      return record.dueMs + keepMs + positionOf(record, self) * letterStepMs;
    }
    const keepMs = record.body.length > 0 ? retention.idempotentMs : retention.tombstoneMs;
    return record.dueMs + Math.max(keepMs, record.gapMs);
  }

  /** Calls back when everything stored so far is on disk; false when that failed. */
  sync(done: (ok: boolean) => void): void {
    const journal = this.options.journal();
    if (journal === null) done(true);
    else journal.commit((error) => done(error === null));
  }

  private answerSynced(answer: Answer, done: (answer: Answer) => void): void {
    const journal = this.options.journal();
    if (journal === null) return done(answer);
    journal.commit((error) => done(error === null ? answer : { type: 'refused', why: 'full' }));
  }

  private save(
    record: TimerRecord,
    previous: TimerRecord | undefined,
    wanted?: readonly string[],
  ): void {
    this.put(record, previous);
    this.options.onSaved?.(record, wanted);
  }

  private put(record: TimerRecord, previous: TimerRecord | undefined): void {
    const { journal, onChange } = this.options;
    if (previous !== undefined) {
      const order = compareProgress(record, previous);
      invariant(order >= 0, 'the progress of a record never goes back');
      invariant(record.namespace === previous.namespace, 'a timer stays in its namespace');
      if (this.doubtfulLeft > 0) this.settleDoubt(this.store.find(record.hi, record.lo), previous);
      this.uncount(previous);
    }
    this.count(record);
    journal()?.put(record);
    const handle = this.store.put(record);
    this.store.arm(handle, this.alarm(record));
    onChange(handle, record);
  }

  private count(record: Bodiless): void {
    this.tally(record, 1);
  }

  private uncount(record: Bodiless): void {
    this.tally(record, -1);
  }

  private tally(record: Bodiless, by: 1 | -1): void {
    const { self } = this.options;
    const isPrimary = record.replicas[0] === self;
    if (!isPrimary) this.backups.count(record, record.replicas.indexOf(self), by);
    this.usage.count(record, by, isPrimary);
    this.options.digests.toggle(record);
    if (isPrimary && record.state === State.dead) this.primaryLetterCount += by;
    if (isPrimary && record.state === State.live) this.primaryCount += by;
    const isSingle = isPrimary && record.replicas.length === 1;
    if (isSingle && record.state === State.live) this.singleCount += by;
    if (record.attempt > 0 && record.state === State.live) {
      this.retryingCount += by;
      if (isPrimary) this.primaryRetryingCount += by;
    }
    const least = Math.min(this.primaryRetryingCount, this.primaryCount, this.primaryLetterCount);
    invariant(least >= 0, 'records are counted once');
  }
}

function positionOf({ replicas }: Bodiless, self: string): number {
  const position = replicas.indexOf(self);
  return position === -1 ? replicas.length : position;
}

function ignore(): void {}
