/**
 * Blocks of entries: the unit that is appended, checked and read. A block has all texts that its entries name, so it
 * can be read by itself, from its offset alone.
 *
 *   u32 mark | u32 length of the body | u32 checksum of the body
 *   body: f64 base | f64 first time | f64 last time | texts | entries
 */
import { ByteReader, ByteWriter, MalformedError } from '@carillon/core';
import { checksum } from '../store/journal/files/checksum.ts';
import { decodeEntry, encodeEntry, type Entry } from './entry.ts';
import { HistoryTally } from './tally.ts';

const mark = 0x4b4c4248;
const blockHeadBytes = 12;
/** No block is longer; a longer one is no block. */
export const blockBytesMax = 128 * 1024;
/** A block with about this much in it is full. Texts are counted by characters, which have up to three bytes each. */
const fullBytes = 32 * 1024;
/** The longest text that is kept whole: so one entry never fills a block. */
const textLengthMax = 2048;

export interface Block {
  readonly bytes: Uint8Array;
  readonly tally: HistoryTally;
}

/** Collects entries until they are taken as a block. */
export class BlockWriter {
  private readonly entries = new ByteWriter(fullBytes);
  private readonly texts = new Map<string, number>();
  private textBytes = 0;
  private baseMs = 0;
  private tally = new HistoryTally();

  get entryCount(): number {
    return this.tally.entryCount;
  }

  get bytes(): number {
    return this.entries.length + this.textBytes;
  }

  get isFull(): boolean {
    return this.bytes >= fullBytes;
  }

  add(entry: Entry): void {
    const before = this.bytes;
    if (this.tally.entryCount === 0) this.baseMs = Math.round(entry.wallMs);
    encodeEntry(this.entries, this, entry, this.baseMs);
    this.tally.add(entry, this.bytes - before);
  }

  number(text: string): number {
    const found = this.texts.get(text);
    if (found !== undefined) return found;
    const number = this.texts.size;
    this.texts.set(text, number);
    this.textBytes += Math.min(text.length, textLengthMax) + 1;
    return number;
  }

  /** The block, and the writer is empty again. */
  take(): Block {
    const { tally } = this;
    const out = new ByteWriter(blockHeadBytes + 40 + this.bytes);
    for (let i = 0; i < 3; i++) out.u32(0);
    out.f64(this.baseMs);
    out.f64(tally.firstMs);
    out.f64(tally.lastMs);
    out.varint(this.texts.size);
    for (const text of this.texts.keys()) out.text(shortened(text));
    out.varint(tally.entryCount);
    out.raw(this.entries.written());
    out.patchU32(0, mark);
    out.patchU32(4, out.length - blockHeadBytes);
    out.patchU32(8, checksum(out.written(), blockHeadBytes, out.length, 0));
    this.entries.reset();
    this.texts.clear();
    this.textBytes = 0;
    this.tally = new HistoryTally();
    return { bytes: out.written(), tally };
  }
}

/** Entries in the order in which they were added. */
export interface ReadBlock {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly entries: readonly Entry[];
  /** Of the block with its head. */
  readonly bytes: number;
}

/** The length of the block that these bytes begin, with its head, by its own word; null: no block begins there. */
export function blockLengthSaid(bytes: Uint8Array): number | null {
  if (bytes.length < blockHeadBytes) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(4, true);
  return view.getUint32(0, true) === mark && length <= blockBytesMax
    ? blockHeadBytes + length
    : null;
}

/** The length of the block that begins at `at`, with its head; null: no intact block begins there. */
function blockLength(bytes: Uint8Array, at: number): number | null {
  if (at + blockHeadBytes > bytes.length) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(at + 4, true);
  const to = at + blockHeadBytes + length;
  if (view.getUint32(at, true) !== mark || to > bytes.length || length > blockBytesMax) return null;
  const sum = checksum(bytes, at + blockHeadBytes, to, 0);
  return sum === view.getUint32(at + 8, true) ? blockHeadBytes + length : null;
}

/** The block that begins at `at`; null: no intact block begins there. */
export function readBlock(bytes: Uint8Array, at: number): ReadBlock | null {
  const length = blockLength(bytes, at);
  if (length === null) return null;
  try {
    return decodeBlock(bytes.subarray(at + blockHeadBytes, at + length), length);
  } catch (error) {
    if (error instanceof MalformedError) return null;
    throw error;
  }
}

function decodeBlock(body: Uint8Array, bytes: number): ReadBlock {
  const from = new ByteReader(body);
  const baseMs = from.f64();
  const firstMs = from.f64();
  const lastMs = from.f64();
  const texts: string[] = [];
  for (let left = from.varint(); left > 0; left--) texts.push(from.text());
  const entries: Entry[] = [];
  for (let left = from.varint(); left > 0; left--) entries.push(decodeEntry(from, texts, baseMs));
  return { firstMs, lastMs, entries, bytes };
}

/** A text is cut where one entry would fill a block; half a pair of surrogates is no text. */
function shortened(text: string): string {
  return text.length <= textLengthMax ? text : text.slice(0, textLengthMax).toWellFormed();
}
