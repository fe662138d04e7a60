/**
 * Group commit: entries are collected and written as a group, and one sync serves all of it. Entries that arrive while
 * a group is being synced share the next sync. A change to a new segment takes its turn between two groups.
 *
 * Example with a sync of 2 ms:
 *
 *   t = 0.0 ms  put A, commit a                      group [A] is written, its sync begins
 *   t = 0.3 ms  put B, commit b, put C, commit c     collected meanwhile
 *   t = 2.0 ms  the first sync returns: a(null)      group [B, C] is written, its sync begins
 *   t = 4.0 ms  the second sync returns: b(null), c(null)
 *
 * Three commits, two syncs. Had there been no room for [B, C], b and c would have been told so, and [B, C] would be
 * written before everything later, 100 ms after, with the next group or when there is room again.
 */
import { type Clock, DiskError, type TimerRecord } from '@carillon/core';
import { asDiskError } from './disk-error.ts';
import type { DiskRoom } from './disk-room.ts';
import { type Committed, EntryGroup } from './entry-group.ts';
import type { Segments } from './segments.ts';

/** A write for which there was no room is tried again after this. */
const writeAgainAfterMs = 100;

/** A group larger than this does not keep its buffer. */
const bufferBytesKept = 4 * 1024 * 1024;

export interface GroupCommitParts {
  readonly clock: Clock;
  readonly segments: Segments;
  readonly room: DiskRoom;
  /** With more than this to write and no room for it, the disk counts as failed. */
  readonly backlogBytesMax: number;
  /** Called after each sync. */
  readonly onSync: (bytes: number, tookMs: number) => void;
  readonly onFailed: (error: DiskError) => void;
}

export class GroupCommit {
  private readonly parts: GroupCommitParts;
  /** Collects the entries that arrive now. */
  private group = new EntryGroup();
  /** On its way to disk. */
  private writing: EntryGroup | null = null;
  /** Collects next: an empty group whose buffer is used again. */
  private spare = new EntryGroup();
  private flushing = false;
  private writeAgainMs = Number.NEGATIVE_INFINITY;
  private rotation: ((rotated: boolean) => void) | null = null;
  private failure: DiskError | null = null;

  constructor(parts: GroupCommitParts) {
    this.parts = parts;
  }

  /** The reason why nothing is written any more; null: all is well. */
  get failed(): DiskError | null {
    return this.failure;
  }

  /** Appended and not on disk yet. */
  get backlogBytes(): number {
    return this.group.entries.length + (this.writing?.entries.length ?? 0);
  }

  put(record: TimerRecord): void {
    const { group } = this;
    if (Number.isNaN(group.baseMs)) {
      const { clock } = this.parts;
      group.baseMs = clock.now() - clock.wall();
    }
    group.entries.put(record, group.baseMs);
    this.schedule();
  }

  drop(hi: number, lo: number): void {
    this.group.entries.drop(hi, lo);
    this.schedule();
  }

  mark(ms: number): void {
    this.group.entries.mark(ms);
    this.schedule();
  }

  /** Calls `done` when everything appended before is on disk, or with the reason why it is not. */
  commit(done: Committed): void {
    const { failure } = this;
    if (failure !== null) {
      this.parts.clock.soon(() => done(failure));
      return;
    }
    this.group.waiting.push(done);
    this.schedule();
  }

  /** Writes later entries to a new segment. False when none could be opened. */
  rotate(): Promise<boolean> {
    return new Promise((resolve) => {
      this.rotation = resolve;
      this.schedule();
    });
  }

  /** There is room again for entries that were kept. */
  resume(): void {
    if (!this.group.isEmpty) this.schedule();
  }

  /** From now on nothing is written, and every commit gets this error. */
  fail(error: DiskError): void {
    this.failure = error;
    this.group.finish(error);
    this.rotation?.(false);
    this.rotation = null;
  }

  private schedule(): void {
    if (this.flushing) return;
    this.flushing = true;
    const { clock } = this.parts;
    const flush = (): void => void this.flush();
    if (clock.now() < this.writeAgainMs) clock.at(this.writeAgainMs, flush);
    else clock.soon(flush);
  }

  private async flush(): Promise<void> {
    let goesOn = true;
    while (goesOn && this.failure === null && (!this.group.isEmpty || this.rotation !== null)) {
      if (this.rotation !== null) await this.openSegment(this.rotation);
      else if (this.group.entries.length === 0) this.group.finish(null);
      else goesOn = await this.flushGroup();
    }
    this.flushing = false;
    // A caller that was told of an error may have committed again while it was told.
    if (this.group.waiting.length > 0) this.schedule();
  }

  /** False when the group could not be written and is kept. */
  private async flushGroup(): Promise<boolean> {
    const { segments } = this.parts;
    const { group } = this;
    this.group = this.spare;
    this.writing = group;
    const error = await this.write(group.entries.seal(segments.salt), group.entries.count);
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

  /** There was no room: the group stays in front of the entries that came meanwhile. */
  private keep(group: EntryGroup, error: DiskError): void {
    const { clock, backlogBytesMax, onFailed } = this.parts;
    const behind = this.group;
    group.absorb(behind);
    this.group = group;
    this.spare = behind;
    behind.reset();
    this.writeAgainMs = clock.now() + writeAgainAfterMs;
    if (group.entries.length > backlogBytesMax) {
      onFailed(new DiskError('failed', `More than the journal may keep back: ${error.message}`));
    }
    group.finish(error);
  }

  private async write(bytes: Uint8Array, entryCount: number): Promise<DiskError | null> {
    const { clock, segments, room, onSync, onFailed } = this.parts;
    try {
      await room.withReserve(() => segments.append(bytes));
    } catch (cause) {
      const error = asDiskError(cause);
      if (error.kind === 'failed') onFailed(error);
      return error;
    }
    const startedMs = clock.now();
    try {
      await segments.sync(entryCount);
    } catch (cause) {
      // For any reason: the entries may be gone, and a second sync would hide that.
      const error = new DiskError('failed', asDiskError(cause).message, { cause });
      onFailed(error);
      return error;
    }
    onSync(bytes.length, clock.now() - startedMs);
    return null;
  }

  private async openSegment(done: (rotated: boolean) => void): Promise<void> {
    const { segments, onFailed } = this.parts;
    this.rotation = null;
    try {
      await segments.open();
      done(true);
    } catch (cause) {
      const error = asDiskError(cause);
      if (error.kind === 'failed') onFailed(error);
      done(false);
    }
  }
}
