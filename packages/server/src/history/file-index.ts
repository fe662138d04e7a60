/**
 * The index beside a file of the history that is complete: `history-0000000007.index`. It leads from the number of a
 * timer to the blocks with entries of it, lists the blocks, and has the tally of the file. A missing or damaged index
 * is made again from the file.
 *
 *   head:   u32 mark | u32 form | u32 bytes of the file | u32 postings | u32 blocks | u32 bytes of the tally | u32
 *           checksum
 *   fan-out: 1025 × u32, where the postings of each bucket begin
 *   postings: hash u32, offset of the block u32; bucket by bucket, by the first ten bits of the hash
 *   blocks: offset u32, entries u32, first time f64, last time f64
 *   tally:  JSON
 *
 * The checksum covers everything but the postings, which are read in part: a wrong posting leads to a block without an
 * entry of the timer, which is no answer.
 */
import { checksum } from '../store/journal/files/checksum.ts';
import { HistoryTally, type TallyJson } from './tally.ts';

const mark = 0x494c4248;
const form = 1;
export const indexHeadBytes = 28;
const bucketBits = 10;
const bucketCount = 1 << bucketBits;
export const fanOutBytes = (bucketCount + 1) * 4;
export const postingBytes = 8;
export const placeBytes = 24;

/** Where a block lies in its file. */
export interface BlockPlace {
  readonly offset: number;
  readonly entryCount: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface IndexHead {
  readonly fileBytes: number;
  readonly postingCount: number;
  readonly blockCount: number;
  readonly tallyBytes: number;
  readonly sum: number;
}

/** Builds the index of a file whose tally has the hashes of all entries. */
export function encodeIndex(
  fileBytes: number,
  places: readonly BlockPlace[],
  tally: HistoryTally,
): Uint8Array {
  const hashes = tally.entryHashes;
  const text = new TextEncoder().encode(JSON.stringify(tally.toJson()));
  const placesAt = indexHeadBytes + fanOutBytes + hashes.length * postingBytes;
  const bytes = new Uint8Array(placesAt + places.length * placeBytes + text.length);
  const view = new DataView(bytes.buffer);
  const head = [mark, form, fileBytes, hashes.length, places.length, text.length];
  for (const [i, value] of head.entries()) view.setUint32(i * 4, value, true);
  writePostings(view, hashes, places);
  for (const [i, { offset, entryCount, firstMs, lastMs }] of places.entries()) {
    const at = placesAt + i * placeBytes;
    view.setUint32(at, offset, true);
    view.setUint32(at + 4, entryCount, true);
    view.setFloat64(at + 8, firstMs, true);
    view.setFloat64(at + 16, lastMs, true);
  }
  bytes.set(text, bytes.length - text.length);
  view.setUint32(24, sumOf(bytes.subarray(0, 24), fanOutOf(bytes), bytes.subarray(placesAt)), true);
  return bytes;
}

/** Puts each posting into its bucket; two passes, no sorting. */
function writePostings(view: DataView, hashes: Uint32Array, places: readonly BlockPlace[]): void {
  const starts = new Uint32Array(bucketCount + 1);
  for (const hash of hashes) starts[bucketOf(hash) + 1] = (starts[bucketOf(hash) + 1] ?? 0) + 1;
  for (let i = 1; i <= bucketCount; i++) starts[i] = (starts[i] ?? 0) + (starts[i - 1] ?? 0);
  for (const [i, start] of starts.entries()) view.setUint32(indexHeadBytes + i * 4, start, true);
  let entry = 0;
  for (const { offset, entryCount } of places) {
    for (const to = entry + entryCount; entry < to; entry++) {
      const hash = hashes[entry] as number;
      const bucket = bucketOf(hash);
      const slot = starts[bucket] as number;
      starts[bucket] = slot + 1;
      const at = indexHeadBytes + fanOutBytes + slot * postingBytes;
      view.setUint32(at, hash, true);
      view.setUint32(at + 4, offset, true);
    }
  }
}

/** null: these bytes do not begin an index of this form. */
export function readIndexHead(bytes: Uint8Array): IndexHead | null {
  if (bytes.length < indexHeadBytes) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = (i: number): number => view.getUint32(i * 4, true);
  if (at(0) !== mark || at(1) !== form) return null;
  return {
    fileBytes: at(2),
    postingCount: at(3),
    blockCount: at(4),
    tallyBytes: at(5),
    sum: at(6),
  };
}

/** Where the list of blocks begins. */
export function placesOffset({ postingCount }: IndexHead): number {
  return indexHeadBytes + fanOutBytes + postingCount * postingBytes;
}

/** The tally of a file, from the two parts of its index around the postings; null: the index is damaged. */
export function readIndexTally(
  head: IndexHead,
  front: Uint8Array,
  back: Uint8Array,
): HistoryTally | null {
  const { blockCount, tallyBytes, sum } = head;
  if (back.length !== blockCount * placeBytes + tallyBytes) return null;
  if (sumOf(front.subarray(0, 24), fanOutOf(front), back) !== sum) return null;
  const text = new TextDecoder().decode(back.subarray(back.length - tallyBytes));
  return HistoryTally.of(JSON.parse(text) as TallyJson);
}

export function readPlaces(bytes: Uint8Array, count: number): BlockPlace[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: count }, (_, i) => ({
    offset: view.getUint32(i * placeBytes, true),
    entryCount: view.getUint32(i * placeBytes + 4, true),
    firstMs: view.getFloat64(i * placeBytes + 8, true),
    lastMs: view.getFloat64(i * placeBytes + 16, true),
  }));
}

/** The range of postings that may have a hash: from and to. `front`: head and fan-out. */
export function bucketRange(front: Uint8Array, hash: number): { from: number; to: number } {
  const view = new DataView(front.buffer, front.byteOffset, front.byteLength);
  const at = indexHeadBytes + bucketOf(hash) * 4;
  return { from: view.getUint32(at, true), to: view.getUint32(at + 4, true) };
}

/** Offsets of blocks with entries of a hash, the last block first. */
export function offsetsOf(postings: Uint8Array, hash: number): number[] {
  const view = new DataView(postings.buffer, postings.byteOffset, postings.byteLength);
  const found = new Set<number>();
  for (let at = 0; at + postingBytes <= postings.length; at += postingBytes) {
    if (view.getUint32(at, true) === hash) found.add(view.getUint32(at + 4, true));
  }
  return [...found].toSorted((a, b) => b - a);
}

function bucketOf(hash: number): number {
  return hash >>> (32 - bucketBits);
}

function fanOutOf(front: Uint8Array): Uint8Array {
  return front.subarray(indexHeadBytes, indexHeadBytes + fanOutBytes);
}

function sumOf(...parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => checksum(part, 0, part.length, sum), 0);
}
