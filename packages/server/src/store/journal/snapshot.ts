/**
 * Writes all records to one file, so that the segments before it can go. The store changes meanwhile; that
 * is fine, because every change is also in a segment that is replayed after the snapshot.
 */
import type { Clock, Disk, TimerRecord } from '@carillon/core';
import type { Filed } from './files/contents.ts';
import {
  encodeHeader,
  EntryWriter,
  fileName,
  type Header,
  snapshotPartName,
} from './files/segment.ts';

/** Between two looks at other work: a fraction of a millisecond. */
const turnRecordCount = 400;
/** Written at once. So much that a thread does it: a write may have to wait for syncs of the journal. */
const sliceBytes = 256 * 1024;
/** Syncing now and then keeps a huge sync at the end from holding up the syncs of the journal. */
const syncBytes = 8 * 1024 * 1024;

export interface SnapshotOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly form: number;
  readonly identity: string;
  /** Of the first segment to be replayed after the snapshot. */
  readonly number: number;
  readonly salt: number;
  readonly marked: number;
  /** One record after the other; undefined at the end. */
  readonly next: () => TimerRecord | undefined;
  /** True: give up, the room is needed. */
  readonly cancelled: () => boolean;
}

/** The snapshot; null when it was cancelled. Rejects with DiskError; leaves no part behind. */
export async function writeSnapshot(options: SnapshotOptions): Promise<Filed | null> {
  const { disk, number } = options;
  try {
    const written = await writePart(options);
    if (written !== null) await disk.rename(snapshotPartName, fileName('snapshot', number));
    else await disk.remove(snapshotPartName);
    return written;
  } catch (error) {
    await disk.remove(snapshotPartName);
    throw error;
  }
}

async function writePart(options: SnapshotOptions): Promise<Filed | null> {
  const { disk, clock, form, identity, number, salt, marked, next, cancelled } = options;
  const header: Header = { form, kind: 'snapshot', number, salt, identity };
  const file = await disk.create(snapshotPartName);
  try {
    await file.append(encodeHeader(header));
    const slice = new EntryWriter();
    slice.mark(marked);
    let count = 0;
    let entries = 0;
    let synced = 0;
    for (let ended = false; !ended; ) {
      const added = fill(slice, next, clock.now() - clock.wall());
      count += added;
      ended = added < turnRecordCount && slice.length < sliceBytes;
      if (ended) slice.end(count);
      if (ended || slice.length >= sliceBytes) {
        await file.append(slice.seal(salt));
        entries += slice.count;
        slice.reset();
      }
      if (file.size - synced > syncBytes) {
        await file.sync();
        synced = file.size;
      }
      await new Promise<void>((resolve) => clock.soon(resolve));
      if (cancelled()) return null;
    }
    await file.sync();
    return { number, salt, bytes: file.size, entries };
  } finally {
    await file.close();
  }
}

/** Adds the records of one turn to a slice; returns how many. */
function fill(slice: EntryWriter, next: () => TimerRecord | undefined, baseMs: number): number {
  let count = 0;
  while (count < turnRecordCount && slice.length < sliceBytes) {
    const record = next();
    if (record === undefined) return count;
    slice.put(record, baseMs);
    count++;
  }
  return count;
}
