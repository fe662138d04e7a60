/**
 * The table of contents of the data folder: which files there should be, and how much of each is known to be on disk.
 * It holds no records. With it recovery tells damage from the traces of a power cut:
 *
 *  - bytes that are missing before a length that is noted here were synced once, so that is damage
 *  - bytes that are missing behind it were written in the last seconds before the end, and may never have been synced:
 *    a torn tail
 *  - a file that is noted here and not found is gone
 *
 * Written as a whole, beside the old one, and put in its place: it is never torn. The name of the file is `contents`.
 *
 *   "carillon" · format u16 · kind u8 · identity text · snapshot u8, file · count varint, files · lost u8, f64, u8 ·
 *     singles f64 · checksum u32
 *   file: number u32 · salt u32 · bytes f64 · entries f64
 */
import { ByteReader, ByteWriter, type Disk, MalformedError } from '@carillon/core';
import { checksum } from './checksum.ts';
import { isOutOfDescriptors } from './descriptors.ts';
import { startOfFile } from './segment.ts';

export const contentsName = 'contents';
export const contentsPartName = 'contents.part';

const format = 1;
/** Behind the kinds of journal and snapshot. */
const kind = 3;
const contentsBytesMax = 16 * 1024 * 1024;

/** One file as it was noted. */
export interface Filed {
  readonly number: number;
  readonly salt: number;
  /** So much of it was synced, header included. */
  readonly bytes: number;
  /** So many entries were in that. */
  readonly entries: number;
}

/** Entries that damage has taken. */
export interface Lost {
  readonly entries: number;
  /** There may be more that cannot be counted. */
  readonly more: boolean;
}

export interface Contents {
  readonly snapshot: Filed | null;
  /** In order; the last one is the one being written. */
  readonly segments: readonly Filed[];
  /** Entries that were lost and have not been made up for yet; null: none. */
  readonly lost: Lost | null;
  /**
   * Timers of which this member had the only copy; null: an earlier build wrote the table, which did not count them.
   */
  readonly singles?: number | null;
}

/** A table that this release must not read: of a later release, or of another member. */
export class ForeignContentsError extends Error {
  override readonly name = 'ForeignContentsError';
}

export function encodeContents(contents: Contents, identity: string): Uint8Array {
  const out = new ByteWriter(256);
  out.raw(startOfFile);
  out.u16(format);
  out.u8(kind);
  out.text(identity);
  out.u8(contents.snapshot === null ? 0 : 1);
  if (contents.snapshot !== null) encodeFiled(out, contents.snapshot);
  out.varint(contents.segments.length);
  for (const filed of contents.segments) encodeFiled(out, filed);
  out.u8(contents.lost === null ? 0 : 1);
  out.f64(contents.lost?.entries ?? 0);
  out.u8(contents.lost?.more === true ? 1 : 0);
  out.f64(contents.singles ?? 0);
  out.u32(checksum(out.written(), 0, out.length, 0));
  return out.copy();
}

/**
 * Throws MalformedError for bytes that are damaged, ForeignContentsError for a good table that is not this member's.
 */
function decodeContents(bytes: Uint8Array, identity: string): Contents {
  const length = bytes.length - 4;
  const found = length < 0 ? -1 : new ByteReader(bytes.subarray(length)).u32();
  if (found !== checksum(bytes, 0, Math.max(0, length), 0)) {
    throw new MalformedError('Its checksum is wrong.');
  }
  const from = new ByteReader(bytes.subarray(startOfFile.length, length));
  const written = from.u16();
  if (written !== format || from.u8() !== kind) {
    throw new ForeignContentsError(
      `It has format ${written} and this release reads format ${format}: use the release that wrote it.`,
    );
  }
  const owner = from.text();
  if (owner !== identity) {
    throw new ForeignContentsError(
      `It belongs to ${owner}, not to ${identity}. Each member needs a folder of its own.`,
    );
  }
  const snapshot = from.u8() === 1 ? decodeFiled(from) : null;
  const segments = Array.from({ length: from.varint() }, () => decodeFiled(from));
  const isLost = from.u8() === 1;
  const lost = { entries: from.f64(), more: from.u8() === 1 };
  const singles = from.left > 0 ? from.f64() : null;
  return { snapshot, segments, lost: isLost ? lost : null, singles };
}

/**
 * null: there is no table, or none that can be read. Rejects when that cannot be found out for lack of a descriptor.
 */
export async function readContents(disk: Disk, identity: string): Promise<Contents | null> {
  try {
    return decodeContents(await disk.read(contentsName, 0, contentsBytesMax), identity);
  } catch (error) {
    if (error instanceof ForeignContentsError || isOutOfDescriptors(error)) throw error;
    return null;
  }
}

export function sumLost(a: Lost | null, b: Lost | null): Lost | null {
  if (a === null || b === null) return a ?? b;
  return { entries: a.entries + b.entries, more: a.more || b.more };
}

/** Writes the table, one time after the other. */
export class ContentsWriter {
  private readonly disk: Disk;
  private readonly identity: string;
  private last: Promise<void> = Promise.resolve();

  constructor(disk: Disk, identity: string) {
    this.disk = disk;
    this.identity = identity;
  }

  /** `make` is asked when it is its turn. Rejects with DiskError. */
  write(make: () => Contents): Promise<void> {
    const written = this.last.then(() => this.replace(make()));
    this.last = written.catch(() => undefined);
    return written;
  }

  private async replace(contents: Contents): Promise<void> {
    const { disk, identity } = this;
    try {
      const file = await disk.create(contentsPartName);
      try {
        await file.append(encodeContents(contents, identity));
        await file.sync();
      } finally {
        await file.close();
      }
      await disk.rename(contentsPartName, contentsName);
    } catch (error) {
      await disk.remove(contentsPartName);
      throw error;
    }
  }
}

function encodeFiled(out: ByteWriter, { number, salt, bytes, entries }: Filed): void {
  out.u32(number);
  out.u32(salt);
  out.f64(bytes);
  out.f64(entries);
}

function decodeFiled(from: ByteReader): Filed {
  return { number: from.u32(), salt: from.u32(), bytes: from.f64(), entries: from.f64() };
}
