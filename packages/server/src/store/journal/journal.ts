/**
 * The promise "on disk". Entries go to a file, the segment, and a caller is told when the sync that covers its entries
 * has returned. The member decides which records to write: merge → journal → store.
 *
 *   put, drop, mark ──▶ group ──▶ segment 6 ──▶ commit's `done`        group-commit.ts, segments.ts, segment.ts
 *                                 the disk is full: the reserve goes   disk-room.ts, reserve.ts
 *   all records ──▶ snapshot 6, segments 4 and 5 go                    snapshots.ts, snapshot.ts
 *   the next start reads snapshot 6, then segment 6                    recovery.ts
 *
 * Example with two replicas of short names: timer 17 is set with a definition of 120 bytes (an entry of 193 bytes),
 * popped for the last time (a tombstone, 73 bytes) and, when the tombstone's time is over, dropped (17 bytes). A start
 * that reads all 283 bytes holds nothing for 17. A start after a power cut that left 250 bytes reads the set, finds the
 * second entry torn, and holds 17 as it was set. A snapshot taken after the drop does not contain 17 at all.
 *
 * Invariants:
 *  J1  `done(null)` only after a sync that returned well and began after everything appended before `commit`.
 *  J2  Entries reach the disk in the order they were appended, all of them: entries for which there is no room are kept
 *      until there is.
 *  J3  A failed sync is never tried again: from then on nothing is written and everything gets the error.
 *  J4  A segment gets its first entry after its header is synced, all earlier segments are complete, and it is noted.
 *  J5  Old segments go only after the snapshot that replaces them has its final name.
 */
import { type Clock, type Disk, DiskError, type Log, type TimerRecord } from '@carillon/core';
import type { Lost } from './files/contents.ts';
import { asDiskError } from './disk-error.ts';
import { DiskRoom } from './disk-room.ts';
import type { Committed } from './entry-group.ts';
import type { Damage } from './files/file-reader.ts';
import { forms } from './files/form.ts';
import { GroupCommit } from './group-commit.ts';
import { type Recovered, recover, type Replay } from './recovery.ts';
import { Segments } from './segments.ts';
import { Snapshots } from './snapshots.ts';

const closedError = new DiskError('failed', 'The journal is closed: the member stops.');

export interface JournalLimits {
  /** Room set aside for pops and cancels on a full disk: 16 MB are some 200,000 tombstones. */
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

export interface JournalOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  /** Whose records these are: files of another identity are refused. */
  readonly identity: string;
  readonly replay: Replay;
  /** Timers of which this member has the only copy; default: none. */
  readonly singles?: () => number;
  /** Called once: entries that were not synced are lost and nothing is written any more. The member must stop. */
  readonly onFailed: (error: DiskError) => void;
  /** Called after each sync with the time it took. */
  readonly onSync?: (tookMs: number) => void;
  readonly limits?: Partial<JournalLimits>;
}

/**
 * The door to the four parts. Itself it decides only when nothing may be appended any more: after a failed sync (J3)
 * and after `close`.
 */
export class Journal {
  private readonly options: JournalOptions;
  private readonly segments: Segments;
  private readonly room: DiskRoom;
  private readonly groups: GroupCommit;
  readonly snapshots: Snapshots;
  /** Found by recovery; their entries are lost here and should be fetched from replicas. */
  readonly damaged: readonly Damage[];
  /** Entries lost at this start, and at earlier starts unless made up for since; null: everything is there. */
  readonly lost: Lost | null;
  /** Timers of which this member had the only copy, as noted before this start; null: not known. */
  readonly singlesBefore: number | null;
  /** Whether recovery cut something off that was being written, or damaged in the last seconds. */
  readonly torn: boolean;
  /** See `mark`. Also written into each snapshot, which replaces the segments that have the mark. */
  private markedMs: number;
  private putCount = 0;
  private closing = false;

  private constructor(options: JournalOptions, recovered: Recovered) {
    this.options = options;
    const { clock } = options;
    const limits = { ...defaults, ...options.limits };
    const onFailed = (error: DiskError): void => this.fail(error);
    // Room, groups and snapshots need each other: the functions below are called after all three are there.
    const segments = new Segments(options, recovered);
    const room: DiskRoom = new DiskRoom({
      ...options,
      ...limits,
      isStopped: () => this.isStopped,
      // A snapshot that is being written gives up on a full disk too: its room comes free before the reserve is
      // touched.
      spared: () => this.snapshots.fileUnderWay,
      onRoom: () => this.groups.resume(),
      onFailed,
    });
    // The segments have grown by `bytes`: once they are larger than the records themselves, a snapshot is due.
    const onSync = (bytes: number, tookMs: number): void => {
      this.snapshots.grow(bytes);
      options.onSync?.(tookMs);
    };
    const { backlogBytesMax } = limits;
    this.segments = segments;
    this.room = room;
    this.groups = new GroupCommit({ clock, segments, room, backlogBytesMax, onSync, onFailed });
    this.snapshots = new Snapshots(
      {
        ...options,
        ...limits,
        segments,
        isBarred: () => room.full || this.isStopped,
        marked: () => this.markedMs,
        rotate: () => this.groups.rotate(),
      },
      recovered.journalBytes,
    );
    this.damaged = recovered.damaged;
    this.lost = recovered.lost;
    this.singlesBefore = recovered.singles;
    this.torn = recovered.torn;
    this.markedMs = recovered.marked;
  }

  /** Replays the files on disk and opens a new segment. Rejects with RecoveryError rather than being silently wrong. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { disk, clock, log, identity, replay } = options;
    const startedMs = clock.now();
    // The disk keeps the wall clock, which has whole milliseconds: one more, so that nothing is early.
    const baseMs = startedMs - clock.wall() + 1;
    const recovered = await recover({ disk, log, identity, replay, baseMs });
    const journal = new Journal(options, recovered);
    await journal.start();
    log.info('The journal is open.', {
      event: 'journal-open',
      segment: journal.segments.number,
      entries: recovered.entryCount,
      damaged: recovered.damaged.length,
      tookMs: Math.round(clock.now() - startedMs),
    });
    return journal;
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
    return this.room.full;
  }

  /** The reason why nothing is written any more; null: all is well. */
  get failed(): DiskError | null {
    return this.groups.failed;
  }

  /** Appended and not on disk yet. */
  get backlogBytes(): number {
    return this.groups.backlogBytes;
  }

  /** The files on disk, and how much of each is synced. */
  get files(): Segments['files'] {
    return this.segments.files;
  }

  /**
   * Appends the record in place of the one with its number. In memory only until the next sync: the caller may answer a
   * client after `commit` has called back, and not before.
   */
  put(record: TimerRecord): void {
    this.putCount++;
    if (!this.isStopped) this.groups.put(record);
  }

  /** Appends that the member holds nothing under this number any more. */
  drop(hi: number, lo: number): void {
    if (!this.isStopped) this.groups.drop(hi, lo);
  }

  /** Remembers that numbers up to these milliseconds may have been given out. */
  mark(ms: number): void {
    if (this.isStopped) return;
    this.markedMs = Math.max(this.markedMs, ms);
    this.groups.mark(this.markedMs);
  }

  /**
   * Calls `done` when everything appended before is on disk, or with the reason why it is not (J1). Commits of one
   * moment share one sync: a thousand sets that arrive together cost one. Once the journal closes, entries are appended
   * no more, so a commit is refused: a member that stops must not confirm what it has only in memory.
   */
  commit(done: Committed): void {
    if (this.closing) this.options.clock.soon(() => done(closedError));
    else this.groups.commit(done);
  }

  /** Notes how much is on disk, so that a later start can tell how much damage has taken. */
  async note(): Promise<void> {
    if (this.isStopped || this.full) return;
    try {
      await this.segments.note();
    } catch (cause) {
      // Without room the note is left out: a start then knows less about damage, and loses nothing.
      const error = asDiskError(cause);
      if (error.kind === 'failed') this.fail(error);
    }
  }

  /**
   * Every member reads the newest form that this release knows: files are written in it from now on, and the release
   * before refuses the folder. Does nothing where they are already, while a snapshot is taken, and without room.
   */
  async beginNewestForm(): Promise<void> {
    const { segments, snapshots } = this;
    const isBarred = this.isStopped || this.full || snapshots.underWay !== null;
    if (isBarred || segments.form === forms.newest) return;
    segments.form = forms.newest;
    // The first segment of a new folder: no release before this one has seen the folder.
    const isNew = segments.number === 1;
    if (!(await this.groups.rotate()) || isNew) return;
    this.options.log.info('All members read a newer form, which the data folder has from now on.', {
      event: 'form-raised',
      form: forms.newest,
      segment: segments.number,
    });
  }

  /** Writes and syncs the rest. Nothing can be appended any more. */
  async close(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    this.room.stopRetrying();
    await this.snapshots.underWay;
    await this.room.stopFilling();
    const error = await new Promise<DiskError | null>((resolve) => this.groups.commit(resolve));
    if (error !== null)
      this.options.log.error('The journal closes with an error.', {
        event: 'journal-close-failed',
        error,
      });
    await this.closeSegments();
  }

  /** A start that finds the note of the end knows that nothing was cut off. Closing goes on without it. */
  private async closeSegments(): Promise<void> {
    try {
      if (this.failed === null) await this.segments.note();
    } catch (cause) {
      this.options.log.warn('The end of the journal could not be noted.', {
        event: 'journal-end-unnoted',
        error: asDiskError(cause),
      });
    }
    await this.segments.close();
  }

  /** Nothing may be appended any more. */
  private get isStopped(): boolean {
    return this.closing || this.groups.failed !== null;
  }

  /**
   * Opens the segment of this start, if need be in the room of the reserve, and then sets the reserve aside again. A
   * member on a full disk starts all the same, so that its timers pop.
   */
  private async start(): Promise<void> {
    await this.room.withReserve(() => this.segments.open());
    if (!this.full) await this.room.fill();
  }

  /**
   * J3. After a failed sync the kernel may have dropped the pages it could not write, and a second sync would succeed
   * without them. So the first failure ends the journal: all commits that wait get the error, and the member stops.
   */
  private fail(error: DiskError): void {
    if (this.failed !== null) return;
    this.room.stopRetrying();
    this.options.log.error('The disk failed: nothing is written any more.', {
      event: 'disk-failed',
      error,
    });
    this.groups.fail(error);
    this.options.onFailed(error);
  }
}
