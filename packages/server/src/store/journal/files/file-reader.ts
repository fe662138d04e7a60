/**
 * Reads one file of the journal from front to back, in chunks, however large it is. Entries that check out
 * go to the sink; other bytes are skipped up to the next entry that does, and reported.
 */
import { ByteReader, type Disk, MalformedError } from '@carillon/core';
import { checksumIn } from './checksum.ts';
import { readOrZeros } from './read-or-zeros.ts';
import { RunChecksum } from './run-checksum.ts';
import {
  type DecodedHeader,
  decodeHeader,
  decodePayload,
  type EntrySink,
  entryHeadBytes,
  headerBytesMax,
  isPayloadKind,
  payloadBytesMax,
} from './segment.ts';

/** A stretch of a file that differs from the bytes that were written there. */
export interface Damage {
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
}

export interface FileContent {
  /** Entries that make no sense, and stretches that are no entries but have intact ones behind them. */
  readonly damaged: readonly Damage[];
  /** Where the last intact entry ends; less than the file's size: a torn or damaged tail, or room that was not used. */
  readonly end: number;
  /** Whether anything but zeros stands behind the end. */
  readonly torn: boolean;
  /** Intact entries, and the ones among them that begin before `noted`. */
  readonly count: number;
  readonly countNoted: number;
}

export interface FileToRead {
  readonly name: string;
  readonly size: number;
  readonly salt: number;
  /** Entries before this offset are counted for themselves. */
  readonly noted: number;
  /** Read at once; default 4 MiB. */
  readonly chunkBytes?: number;
}

/** Of the checksum in front of an entry. */
const sumBytes = 4;
const chunkBytesDefault = 4 * 1024 * 1024;

export async function readHeader(disk: Disk, name: string): Promise<DecodedHeader> {
  return decodeHeader(await readOrZeros(disk, name, { offset: 0, length: headerBytesMax }));
}

export class FileReader {
  private readonly disk: Disk;
  private readonly name: string;
  private readonly size: number;
  private readonly salt: number;
  private readonly noted: number;
  private readonly chunkBytes: number;
  private count = 0;
  private countNoted = 0;
  /** The part of the file in memory, from `start` on: in `buffer`, which the next part overwrites. */
  private chunk = new Uint8Array(0);
  private view = new DataView(this.chunk.buffer);
  private start = 0;
  private buffer = new Uint8Array(0);
  /** Entries from `trustedFrom` up to here check out; −1: that was not tried for this chunk. */
  private trustedTo = -1;
  private trustedFrom = 0;
  private readonly damaged: Damage[] = [];

  constructor(disk: Disk, file: FileToRead) {
    const { name, size, salt, noted, chunkBytes = chunkBytesDefault } = file;
    this.disk = disk;
    this.name = name;
    this.size = size;
    this.salt = salt;
    this.noted = noted;
    this.chunkBytes = chunkBytes;
  }

  /** Everything from `offset` (behind the header) on. Times are put on the clock given by `baseMs`. */
  async read(offset: number, baseMs: number, sink: EntrySink): Promise<FileContent> {
    let at = offset;
    while (at < this.size) {
      at = this.readChunk(at, baseMs, sink);
      if (at >= this.size) break;
      const needed = this.neededAt(at);
      if (needed > 0 && !this.covers(at, needed)) {
        await this.load(at, needed);
        continue;
      }
      const found = await this.findNext(at);
      if (found < 0) break;
      this.damage(at, found - at);
      at = found;
    }
    const { damaged, count, countNoted } = this;
    return { damaged, end: at, torn: await this.hasTraces(at), count, countNoted };
  }

  /** Whether intact entries follow one another from `offset` to the end. Decodes none of them. */
  async verify(offset: number, beforeEachRead: () => Promise<void>): Promise<boolean> {
    for (let at = offset; at < this.size; ) {
      const length = this.intactAt(at);
      at += length;
      if (length > 0) continue;
      const needed = this.neededAt(at);
      if (needed === 0 || this.covers(at, needed)) return false;
      await beforeEachRead();
      await this.load(at, needed);
    }
    return true;
  }

  private async hasTraces(from: number): Promise<boolean> {
    for (let at = from; at < this.size; at += this.chunkBytes) {
      const bytes = await this.bytesAt(at, this.chunkBytes);
      if (bytes.some((byte) => byte !== 0)) return true;
    }
    return false;
  }

  /** Hands over intact entries as long as they are in memory; returns where it stopped. */
  private readChunk(from: number, baseMs: number, sink: EntrySink): number {
    let at = from;
    // One reader for the whole chunk: an object less for each of a million entries.
    let reader = this.readerAt(at);
    for (let length = this.intactAt(at); length > 0; length = this.intactAt(at)) {
      const left = reader.left - length;
      try {
        // Over the checksum and the length.
        reader.u32();
        reader.u32();
        decodePayload(reader, baseMs, sink);
        this.count++;
        if (at < this.noted) this.countNoted++;
      } catch (error) {
        if (!(error instanceof MalformedError)) throw error;
        this.damage(at, length);
      }
      at += length;
      if (reader.left !== left) reader = this.readerAt(at);
    }
    return at;
  }

  private readerAt(at: number): ByteReader {
    const inside = at >= this.start && at <= this.start + this.chunk.length;
    return new ByteReader(this.chunk.subarray(inside ? at - this.start : 0));
  }

  private damage(offset: number, bytes: number): void {
    this.damaged.push({ file: this.name, offset, bytes });
  }

  /** The length of the entry at `at`, head included; 0 when it is not wholly in memory or not intact. */
  private intactAt(at: number): number {
    const needed = this.neededAt(at);
    if (needed <= entryHeadBytes || !this.covers(at, needed)) return 0;
    if (this.trustedTo < 0) this.checkRun(at);
    if (at < this.trustedTo && at >= this.trustedFrom) return needed;
    const from = at - this.start;
    const sum = checksumIn(this.view, from + 4, from + needed, this.salt);
    return sum === this.view.getUint32(from, true) ? needed : 0;
  }

  /** Checks all entries of the chunk from `at` on at once. Where that fails, each is checked for itself. */
  private checkRun(at: number): void {
    const run = new RunChecksum(this.salt);
    let to = at;
    for (let needed = this.neededAt(to); needed > 0; needed = this.neededAt(to)) {
      if (!this.covers(to, needed)) break;
      run.add(this.view.getUint32(to - this.start, true), needed - sumBytes);
      to += needed;
    }
    const isIntact = run.isOf(this.chunk.subarray(at - this.start, to - this.start));
    this.trustedFrom = at;
    this.trustedTo = isIntact ? to : at;
  }

  /** How many bytes from `at` on must be in memory to judge them; 0: they can be no entry. */
  private neededAt(at: number): number {
    if (at + entryHeadBytes >= this.size) return 0;
    if (!this.covers(at, entryHeadBytes + 1)) return entryHeadBytes + 1;
    const length = this.view.getUint32(at - this.start + 4, true);
    if (length === 0 || length > payloadBytesMax || at + entryHeadBytes + length > this.size)
      return 0;
    if (!isPayloadKind(this.chunk[at - this.start + entryHeadBytes])) return 0;
    return entryHeadBytes + length;
  }

  /** Where the next intact entry stands behind a damaged one; −1: nowhere. */
  private async findNext(at: number): Promise<number> {
    // Mostly its length is right: a block of rows would take long to be searched byte by byte.
    const needed = this.neededAt(at);
    const next = at + needed;
    if (needed > 0 && next < this.size && (await this.isIntactAt(next))) return next;
    return this.findIntact(at + 1);
  }

  /** The next offset from `from` on where an intact entry stands; −1: none. */
  private async findIntact(from: number): Promise<number> {
    for (let at = from; at + entryHeadBytes < this.size; at++) {
      if (await this.isIntactAt(at)) return at;
    }
    return -1;
  }

  private async isIntactAt(at: number): Promise<boolean> {
    for (let needed = this.neededAt(at); needed > 0; needed = this.neededAt(at)) {
      if (this.covers(at, needed)) break;
      await this.load(at, needed);
    }
    return this.intactAt(at) > 0;
  }

  private bytesAt(offset: number, length: number): Promise<Uint8Array> {
    return readOrZeros(this.disk, this.name, {
      offset,
      length: Math.min(length, this.size - offset),
    });
  }

  private covers(at: number, length: number): boolean {
    return at >= this.start && at + length <= this.start + this.chunk.length;
  }

  private async load(at: number, needed: number): Promise<void> {
    const wanted = Math.min(Math.max(needed, this.chunkBytes), this.size - at);
    if (this.buffer.length < wanted) this.buffer = new Uint8Array(wanted);
    const place = { offset: at, length: wanted };
    const read = await readOrZeros(this.disk, this.name, place, this.buffer);
    const bytes = read.length < needed ? withZeros(read, wanted) : read;
    this.chunk = new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length);
    this.view = new DataView(this.chunk.buffer, this.chunk.byteOffset, this.chunk.length);
    this.start = at;
    this.trustedTo = -1;
  }
}

/** A file became shorter while it is read: the bytes that are gone are read as zeros, as of a bad sector. */
function withZeros(bytes: Uint8Array, length: number): Uint8Array {
  const whole = new Uint8Array(length);
  whole.set(bytes);
  return whole;
}
