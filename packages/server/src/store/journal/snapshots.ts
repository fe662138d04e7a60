/**
 * When a snapshot of all records pays, and the steps of taking one: a new segment is begun, the records are written to
 * a file of their own, and the segments before the new one go. Entries go on being written all the while.
 *
 * Example with `snapshotBytesMin` 64 MiB and 200 MiB of records in the store: segments 4 and 5 have grown to 201 MiB,
 * more than the records themselves. Segment 6 is begun, all records are written to snapshot 6, segments 4 and 5 are
 * removed. A start then reads snapshot 6 and segment 6. Had snapshot 6 been given up at 201 MiB, for lack of room, the
 * next one would be tried at 265 MiB. When hardly anything is written any more, 51 MiB of segments are enough, a
 * quarter of the records: a start reads a snapshot several times faster than a segment of its length.
 */
import type { Clock, Disk, Log } from '@carillon/core';
import type { Filed } from './files/contents.ts';
import { asDiskError } from './disk-error.ts';
import type { Segments } from './segments.ts';
import { type SnapshotSource, writeSnapshot } from './snapshot.ts';

/** The share of the usual amount of journal for which a snapshot pays while hardly anything is written. */
const quietShare = 1 / 4;
/** Fewer bytes than this between two calls of `pays`, which are seconds apart, count as hardly anything. */
const quietBytes = 1024 * 1024;

export interface SnapshotsParts {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  readonly identity: string;
  readonly segments: Segments;
  /** A snapshot is not worth it for less journal than this. */
  readonly snapshotBytesMin: number;
  /** Whether a snapshot must not be taken, or must be given up: the disk is full, or nothing is written any more. */
  readonly isBarred: () => boolean;
  /** The highest mark ever made. */
  readonly marked: () => number;
  /** Writes later entries to a new segment. False when none could be opened. */
  readonly rotate: () => Promise<boolean>;
}

export class Snapshots {
  private readonly parts: SnapshotsParts;
  /** Damaged files are to be replaced by a snapshot of the records in memory. */
  private rewrites = false;
  private journalBytes: number;
  /** `journalBytes` when `pays` was last called. */
  private seenBytes = 0;
  /** After a snapshot was given up: the next one waits for so much journal. */
  private waitsForBytes = 0;
  private run: Promise<boolean> | null = null;
  private file: Promise<Filed | null> | null = null;

  constructor(parts: SnapshotsParts, journalBytes: number) {
    this.parts = parts;
    this.journalBytes = journalBytes;
  }

  /** In segments that the next snapshot would make unnecessary. */
  get segmentBytes(): number {
    return this.journalBytes;
  }

  /** Whether damaged files are still to be replaced. */
  get rewriting(): boolean {
    return this.rewrites;
  }

  /** The snapshot under way, to wait for its end. */
  get underWay(): Promise<boolean> | null {
    return this.run;
  }

  /** The file being written, to wait until its room is free. */
  get fileUnderWay(): Promise<unknown> | null {
    return this.file;
  }

  /** So much more is in segments. */
  grow(bytes: number): void {
    this.journalBytes += bytes;
  }

  /**
   * No more of the lost records can be had than are in memory: the next snapshot replaces the damaged files, and
   * nothing counts as lost.
   */
  rewrite(): void {
    this.rewrites = true;
  }

  /**
   * Whether so much was written since the last snapshot that a new one pays; `liveBytes`: the store's rows. Asked every
   * few seconds.
   */
  pays(liveBytes: number): boolean {
    const isQuiet = this.journalBytes - this.seenBytes < quietBytes;
    this.seenBytes = this.journalBytes;
    if (this.run !== null || this.parts.isBarred()) return false;
    if (this.rewrites) return true;
    const worthBytes = Math.max(this.parts.snapshotBytesMin, liveBytes);
    const neededBytes = isQuiet ? worthBytes * quietShare : worthBytes;
    return this.journalBytes > Math.max(neededBytes, this.waitsForBytes);
  }

  /**
   * Writes all records, as `source` hands them out, to a new snapshot and removes the segments that it replaces. False
   * when it was given up: for lack of room, or because of the end.
   */
  take(source: SnapshotSource): Promise<boolean> {
    if (this.parts.isBarred()) return Promise.resolve(false);
    this.run ??= this.takeOne(source).finally(() => {
      this.run = null;
    });
    return this.run;
  }

  private async takeOne(source: SnapshotSource): Promise<boolean> {
    const { segments, log, snapshotBytesMin, rotate } = this.parts;
    const rotated = await rotate();
    const { number } = segments;
    const replacedBytes = this.journalBytes;
    const mended = this.rewrites;
    const written = rotated ? await this.write(number, source) : null;
    if (written === null) {
      this.waitsForBytes = this.journalBytes + snapshotBytesMin;
      return false;
    }
    this.waitsForBytes = 0;
    this.journalBytes -= replacedBytes;
    if (mended) this.rewrites = false;
    await this.replaceBy(written, mended);
    log.info('A snapshot is written.', { event: 'snapshot-written', number, bytes: written.bytes });
    return true;
  }

  /** null when it was given up. */
  private async write(number: number, source: SnapshotSource): Promise<Filed | null> {
    const { disk, clock, identity, log, segments, isBarred } = this.parts;
    const salt = segments.drawSalt(number);
    const marked = this.parts.marked();
    const header = { form: segments.form, number, salt, identity };
    const file = writeSnapshot({ ...header, disk, clock, marked, source, cancelled: isBarred });
    this.file = file;
    try {
      return await file;
    } catch (cause) {
      log.warn('A snapshot is given up; the journal stays as it is.', {
        event: 'snapshot-given-up',
        error: asDiskError(cause),
      });
      return null;
    } finally {
      this.file = null;
    }
  }

  private async replaceBy(snapshot: Filed, mended: boolean): Promise<void> {
    const { segments, log } = this.parts;
    try {
      await segments.replace(snapshot, mended);
    } catch (cause) {
      log.warn('Old segments could not be removed; the next start removes them.', {
        event: 'segments-kept',
        error: asDiskError(cause),
      });
    }
  }
}
