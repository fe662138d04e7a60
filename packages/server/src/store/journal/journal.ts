/**
 * The promise "on disk". Entries are collected and written as a group: everything that arrives while one
 * group is being synced shares the next sync, and whoever asked is told when the sync that covers its
 * entries has returned.
 *
 * Neighbours: `segment.ts` (the form of files), `segments.ts` (the one being written, and the table of contents), `recovery.ts`
 * (what is found at the start), `snapshot.ts` (how old segments become unnecessary), `reserve.ts` (room for when the disk
 * is full). The member decides what to write: merge → journal → store.
 *
 * Invariants:
 *  J1  `done(null)` only after a sync that returned well and began after everything appended before `commit`.
 *  J2  Entries reach the disk in the order they were appended, all of them: those for which there is no room
 *      are kept until there is.
 *  J3  A failed sync is never tried again: from then on nothing is written and everything gets the error.
 *  J4  A segment gets its first entry after its header is synced, all earlier segments are complete, and it is noted.
 *  J5  Old segments go only after the snapshot that replaces them has its final name.
 */
import {
  type Cancel,
  type Clock,
  type Disk,
  DiskError,
  type Log,
  type TimerRecord,
} from '@carillon/core';
import type { Filed, Lost } from './contents.ts';
import { type Done, EntryGroup } from './entry-group.ts';
import type { Damage } from './file-reader.ts';
import { type Recovered, recover, type Replay } from './recovery.ts';
import { Reserve } from './reserve.ts';
import { Segments } from './segments.ts';
import { writeSnapshot } from './snapshot.ts';

export interface JournalLimits {
  /** Room set aside for pops and cancels on a full disk. */
  readonly reserveBytes: number;
  /** A snapshot is not worth it for less journal than this. */
  readonly snapshotBytesMin: number;
  /** How often a full disk is tried again. */
  readonly fullRetryMs: number;
  /** With more than this to write and no room for it, the member gives up. */
  readonly backlogBytesMax: number;
}

const defaults: JournalLimits = {
  reserveBytes: 16 * 1024 * 1024,
  snapshotBytesMin: 64 * 1024 * 1024,
  fullRetryMs: 5000,
  backlogBytesMax: 256 * 1024 * 1024,
};

/** A write for which there was no room is tried again after this. */
const writeAgainAfterMs = 100;

/** A group larger than this does not keep its buffer. */
const bufferBytesKept = 4 * 1024 * 1024;

export interface JournalOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  /** Whose records these are: files of another identity are refused. */
  readonly identity: string;
  readonly replay: Replay;
  /** Called once: what was not synced is lost and nothing is written any more. The member must stop. */
  readonly onFailed: (error: DiskError) => void;
  /** Called after each sync with the time it took. */
  readonly onSync?: (tookMs: number) => void;
  readonly limits?: Partial<JournalLimits>;
}

export class Journal {
  private readonly options: JournalOptions;
  private readonly limits: JournalLimits;
  private readonly reserve: Reserve;
  private readonly segments: Segments;
  /** Found by recovery; their entries are lost here and should be fetched from replicas. */
  readonly damaged: readonly Damage[];
  /** How much that is, with what an earlier start lost and nobody has made up for since; null: everything is there. */
  readonly lost: Lost | null;
  /** Whether recovery cut something off that was being written, or damaged in the last seconds. */
  readonly torn: boolean;
  /** Damaged files are to be replaced by a snapshot of what is in memory. */
  private rewrites = false;
  /** What is being collected, what is being written, and the buffer in between. */
  private group = new EntryGroup();
  private writing: EntryGroup | null = null;
  private spare = new EntryGroup();
  private flushing = false;
  private writeAgainMs = Number.NEGATIVE_INFINITY;
  private markedMs: number;
  private isFull = false;
  private failure: DiskError | null = null;
  private closing = false;
  private cancelRetry: Cancel | null = null;
  /** In segments that the next snapshot would make unnecessary. */
  private journalBytes: number;
  private putCount = 0;
  private snapshotBytesNext = 0;
  private snapshotRun: Promise<boolean> | null = null;
  private snapshotPart: Promise<unknown> | null = null;
  private rotation: ((done: boolean) => void) | null = null;

  private constructor(options: JournalOptions, recovered: Recovered) {
    this.options = options;
    this.limits = { ...defaults, ...options.limits };
    this.reserve = new Reserve(options.disk, this.limits.reserveBytes);
    this.segments = new Segments(options, recovered);
    this.damaged = recovered.damaged;
    this.lost = recovered.lost;
    this.torn = recovered.torn;
    this.markedMs = recovered.marked;
    this.journalBytes = recovered.journalBytes;
  }

  /** Replays what is there and opens a new segment. Rejects with RecoveryError rather than being silently wrong. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { disk, clock, log, identity, replay } = options;
    const startedMs = clock.now();
    const baseMs = startedMs - clock.wall();
    const recovered = await recover({ disk, log, identity, replay, baseMs });
    const journal = new Journal(options, recovered);
    await journal.start();
    log.info('The journal is open.', {
      segment: journal.segments.number,
      entries: recovered.entryCount,
      damaged: recovered.damaged.length,
      tookMs: Math.round(clock.now() - startedMs),
    });
    return journal;
  }

  /** In segments that no snapshot has made unnecessary yet. */
  get segmentBytes(): number {
    return this.journalBytes;
  }

  /** Records written since the start. */
  get recordCount(): number {
    return this.putCount;
  }

  /** The highest mark ever made; 0: none. */
  get marked(): number {
    return this.markedMs;
  }

  /** No room: new timers must be refused. Pops and cancels are still written while the reserve lasts. */
  get full(): boolean {
    return this.isFull;
  }

  /** Why nothing is written any more; null: all is well. */
  get failed(): DiskError | null {
    return this.failure;
  }

  /** Appended and not on disk yet. */
  get backlogBytes(): number {
    return this.group.entries.length + (this.writing?.entries.length ?? 0);
  }

  put(record: TimerRecord): void {
    this.putCount++;
    if (this.isStopped) return;
    const { group } = this;
    if (Number.isNaN(group.baseMs)) {
      group.baseMs = this.options.clock.now() - this.options.clock.wall();
    }
    group.entries.put(record, group.baseMs);
    this.schedule();
  }

  drop(hi: number, lo: number): void {
    if (this.isStopped) return;
    this.group.entries.drop(hi, lo);
    this.schedule();
  }

  /** Remembers that numbers up to these milliseconds may have been given out. */
  mark(ms: number): void {
    if (this.isStopped) return;
    this.markedMs = Math.max(this.markedMs, ms);
    this.group.entries.mark(this.markedMs);
    this.schedule();
  }

  /** Calls `done` when everything appended before is on disk, or with the reason why it is not. */
  commit(done: Done): void {
    const { failure } = this;
    if (failure !== null) {
      this.options.clock.soon(() => done(failure));
      return;
    }
    this.group.waiting.push(done);
    this.schedule();
  }

  /** Whether so much was written since the last snapshot that a new one pays; `liveBytes`: the store's rows. */
  wantsSnapshot(liveBytes: number): boolean {
    if (this.snapshotRun !== null || this.isFull || this.isStopped) return false;
    const { snapshotBytesMin } = this.limits;
    if (this.rewrites) return true;
    return this.journalBytes > Math.max(snapshotBytesMin, liveBytes, this.snapshotBytesNext);
  }

  /**
   * Writes all records, as `next` hands them out, to a new snapshot and removes what it replaces, while
   * entries go on being written. False when it was given up: for lack of room, or because of the end.
   */
  snapshot(next: () => TimerRecord | undefined): Promise<boolean> {
    if (this.isFull || this.isStopped) return Promise.resolve(false);
    this.snapshotRun ??= this.takeSnapshot(next).finally(() => {
      this.snapshotRun = null;
    });
    return this.snapshotRun;
  }

  /** Notes how much is on disk, so that a later start can tell what damage has taken. */
  async note(): Promise<void> {
    if (this.isStopped || this.isFull) return;
    try {
      await this.segments.note();
    } catch (cause) {
      const error = asDiskError(cause);
      if (error.kind === 'failed') this.fail(error);
    }
  }

  /** The files on disk, and how much of each is synced. */
  get files(): Segments['files'] {
    return this.segments.files;
  }

  /** Whether damaged files are still to be replaced. */
  get rewriting(): boolean {
    return this.rewrites;
  }

  /** What is in memory is all there is to be had: the next snapshot replaces the damaged files, and nothing counts as lost. */
  rewrite(): void {
    this.rewrites = true;
  }

  /** Writes and syncs what is left. Nothing can be appended any more. */
  async close(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    this.cancelRetry?.();
    await this.snapshotRun;
    await this.reserve.stop();
    const error = await new Promise<DiskError | null>((resolve) => this.commit(resolve));
    if (error !== null) this.options.log.error('The journal closes with an error.', { error });
    await this.closeSegments();
  }

  private async closeSegments(): Promise<void> {
    try {
      if (this.failure === null) await this.segments.note();
    } catch (cause) {
      this.options.log.warn('The end of the journal could not be noted.', {
        error: asDiskError(cause),
      });
    }
    await this.segments.close();
  }

  private get isStopped(): boolean {
    return this.closing || this.failure !== null;
  }

  private async start(): Promise<void> {
    try {
      await this.segments.open();
    } catch (cause) {
      if (asDiskError(cause).kind !== 'full') throw cause;
      await this.makeRoom();
      await this.segments.open();
    }
    if (!this.isFull) await this.refillReserve();
  }

  private schedule(): void {
    if (this.flushing) return;
    this.flushing = true;
    const { clock } = this.options;
    const flush = (): void => void this.flush();
    if (clock.now() < this.writeAgainMs) clock.at(this.writeAgainMs, flush);
    else clock.soon(flush);
  }

  private async flush(): Promise<void> {
    let goesOn = true;
    while (goesOn && this.failure === null && (!this.group.isEmpty || this.rotation !== null)) {
      if (this.rotation !== null) await this.rotate(this.rotation);
      else if (this.group.entries.length === 0) this.group.finish(null);
      else goesOn = await this.flushGroup();
    }
    this.flushing = false;
    // Whoever asked when told that it did not work.
    if (this.group.waiting.length > 0) this.schedule();
  }

  /** False when the group could not be written and is kept. */
  private async flushGroup(): Promise<boolean> {
    const { group } = this;
    this.group = this.spare;
    this.writing = group;
    const error = await this.write(group.entries.seal(this.segments.salt), group.entries.count);
    this.writing = null;
    if (error !== null && error.kind !== 'failed') {
      this.keep(group, error);
      return false;
    }
    this.spare = group.entries.length > bufferBytesKept ? new EntryGroup() : group;
    group.reset();
    group.finish(error);
    return true;
  }

  /** There was no room: what was to be written stays in front of what came meanwhile. */
  private keep(group: EntryGroup, error: DiskError): void {
    const { clock } = this.options;
    const behind = this.group;
    group.absorb(behind);
    this.group = group;
    this.spare = behind;
    behind.reset();
    this.writeAgainMs = clock.now() + writeAgainAfterMs;
    if (group.entries.length > this.limits.backlogBytesMax) {
      this.fail(new DiskError('failed', `More than the journal may keep back: ${error.message}`));
    }
    group.finish(error);
  }

  private async write(bytes: Uint8Array, entryCount: number): Promise<DiskError | null> {
    const { clock, onSync } = this.options;
    try {
      await this.append(bytes);
    } catch (cause) {
      const error = asDiskError(cause);
      if (error.kind === 'failed') this.fail(error);
      return error;
    }
    const startedMs = clock.now();
    try {
      await this.segments.sync(entryCount);
    } catch (cause) {
      // Whatever the reason: what was to be synced may be gone, and asking again would hide that.
      const error = new DiskError('failed', asDiskError(cause).message, { cause });
      this.fail(error);
      return error;
    }
    this.journalBytes += bytes.length;
    onSync?.(clock.now() - startedMs);
    return null;
  }

  private async append(bytes: Uint8Array): Promise<void> {
    try {
      await this.segments.append(bytes);
    } catch (cause) {
      if (asDiskError(cause).kind !== 'full') throw cause;
      await this.makeRoom();
      await this.segments.append(bytes);
    }
  }

  /** The disk is full: gives up what can be spared and tries from time to time to get it back. */
  private async makeRoom(): Promise<void> {
    const { clock, log } = this.options;
    if (!this.isFull)
      log.error('The disk is full: new timers are refused, the reserve is given up.');
    this.isFull = true;
    await this.snapshotPart?.catch(() => undefined);
    await this.reserve.giveUp();
    this.cancelRetry?.();
    if (this.isStopped) return;
    this.cancelRetry = clock.at(clock.now() + this.limits.fullRetryMs, () => {
      this.refillReserve().catch((cause: unknown) => this.fail(asDiskError(cause)));
    });
  }

  private async refillReserve(): Promise<void> {
    try {
      if (!(await this.reserve.fill())) return;
      if (this.isFull) this.options.log.info('The disk has room again: new timers are taken.');
      this.isFull = false;
      if (!this.group.isEmpty) this.schedule();
    } catch (cause) {
      const error = asDiskError(cause);
      if (error.kind === 'failed') this.fail(error);
      else await this.makeRoom();
    }
  }

  private fail(error: DiskError): void {
    if (this.failure !== null) return;
    this.failure = error;
    this.cancelRetry?.();
    this.options.log.error('The disk failed: nothing is written any more.', { error });
    this.group.finish(error);
    this.rotation?.(false);
    this.rotation = null;
    this.options.onFailed(error);
  }

  private async rotate(done: (rotated: boolean) => void): Promise<void> {
    this.rotation = null;
    try {
      await this.segments.open();
      done(true);
    } catch (cause) {
      const error = asDiskError(cause);
      if (error.kind === 'failed') this.fail(error);
      done(false);
    }
  }

  private async takeSnapshot(next: () => TimerRecord | undefined): Promise<boolean> {
    const rotated = await new Promise<boolean>((resolve) => {
      this.rotation = resolve;
      this.schedule();
    });
    const { number } = this.segments;
    const replacedBytes = this.journalBytes;
    const mended = this.rewrites;
    const written = rotated ? await this.writeSnapshot(number, next) : null;
    if (written === null) {
      this.snapshotBytesNext = this.journalBytes + this.limits.snapshotBytesMin;
      return false;
    }
    this.snapshotBytesNext = 0;
    this.journalBytes -= replacedBytes;
    if (mended) this.rewrites = false;
    await this.replaceBy(written, mended);
    this.options.log.info('A snapshot is written.', { number, bytes: written.bytes });
    return true;
  }

  /** null when it was given up. */
  private async writeSnapshot(
    number: number,
    next: () => TimerRecord | undefined,
  ): Promise<Filed | null> {
    const { disk, clock, identity, log } = this.options;
    const cancelled = (): boolean => this.isFull || this.isStopped;
    const salt = this.segments.drawSalt(number);
    const marked = this.markedMs;
    const part = writeSnapshot({ disk, clock, identity, number, salt, marked, next, cancelled });
    this.snapshotPart = part;
    try {
      return await part;
    } catch (cause) {
      log.warn('A snapshot is given up; the journal stays as it is.', {
        error: asDiskError(cause),
      });
      return null;
    } finally {
      this.snapshotPart = null;
    }
  }

  private async replaceBy(snapshot: Filed, mended: boolean): Promise<void> {
    try {
      await this.segments.replace(snapshot, mended);
    } catch (cause) {
      this.options.log.warn('Old segments could not be removed; the next start will.', {
        error: asDiskError(cause),
      });
    }
  }
}

function asDiskError(cause: unknown): DiskError {
  if (cause instanceof DiskError) return cause;
  return new DiskError('failed', cause instanceof Error ? cause.message : String(cause), { cause });
}
