/**
 * Writes all records to one file, so that the segments before it can go. The store changes meanwhile; that
 * is fine, because every change is also in a segment that is replayed after the snapshot.
 */
import type { Clock, Disk, TimerRecord } from '@carillon/core';
import type { Filed } from './files/contents.ts';
import { hasRows } from './files/form.ts';
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

/**
 * Adds blocks with the rows of up to `limit` further records and returns how many they are; fewer at the end. The bytes
 * of a block are lent.
 */
export type RowSource = (
  baseMs: number,
  limit: number,
  emit: (bytes: Uint8Array, count: number) => void,
) => number;

/** All records, for one snapshot. */
export interface SnapshotSource {
  /** One record after the other; undefined at the end. */
  readonly records: () => TimerRecord | undefined;
  /** The same as rows of the store. Without it, and in forms before 3, records are written. */
  readonly rows?: RowSource;
}

export interface SnapshotOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly form: number;
  readonly identity: string;
  /** Of the first segment to be replayed after the snapshot. */
  readonly number: number;
  readonly salt: number;
  readonly marked: number;
  readonly source: SnapshotSource;
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
  const { disk, clock, form, identity, number, salt, marked, cancelled } = options;
  const header: Header = { form, kind: 'snapshot', number, salt, identity };
  const file = await disk.create(snapshotPartName);
  try {
    await file.append(encodeHeader(header));
    const slice = new EntryWriter();
    const fill = filler(options, slice);
    slice.mark(marked);
    let count = 0;
    let entries = 0;
    let synced = 0;
    for (let ended = false; !ended; ) {
      const added = fill(clock.now() - clock.wall());
      count += added.count;
      ({ ended } = added);
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

/** Adds the records of one turn to the slice. */
type Fill = (baseMs: number) => { readonly count: number; readonly ended: boolean };

function filler({ form, source }: SnapshotOptions, slice: EntryWriter): Fill {
  const { rows, records } = source;
  if (rows === undefined || !hasRows(form)) return (baseMs) => fillRecords(slice, records, baseMs);
  const emit = (bytes: Uint8Array, count: number): void => slice.rows(bytes, count);
  return (baseMs) => {
    const count = rows(baseMs, turnRecordCount, emit);
    return { count, ended: count < turnRecordCount };
  };
}

function fillRecords(
  slice: EntryWriter,
  next: SnapshotSource['records'],
  baseMs: number,
): { count: number; ended: boolean } {
  let count = 0;
  while (count < turnRecordCount && slice.length < sliceBytes) {
    const record = next();
    if (record === undefined) return { count, ended: true };
    slice.put(record, baseMs);
    count++;
  }
  return { count, ended: false };
}
