/**
 * Files of the history in the folder of a member: `history-0000000007`, blocks behind a head of 16 bytes. The journal
 * and releases without a history leave them alone.
 */
import type { Clock, Disk } from '@carillon/core';
import { blockBytesMax, blockLengthSaid, type ReadBlock, readBlock } from './block.ts';
import {
  type BlockPlace,
  bucketRange,
  fanOutBytes,
  indexHeadBytes,
  offsetsOf,
  placeBytes,
  placesOffset,
  postingBytes,
  readIndexHead,
  readIndexTally,
  readPlaces,
} from './file-index.ts';
import { HistoryTally } from './tally.ts';

const nameForm = /^history-(\d{10})$/;
/** The form of the file is its last character. */
export const fileHead = new TextEncoder().encode('carillon-hist-01');

export function historyName(number: number): string {
  return `history-${String(number).padStart(10, '0')}`;
}

export function indexName(number: number): string {
  return `${historyName(number)}.index`;
}

/** Under which a file is written before it takes its name. */
export function partOf(name: string): string {
  return `${name}-part`;
}

/** Whether the file was being written when the member ended. */
export function isPart(name: string): boolean {
  return name.startsWith('history-') && name.endsWith('-part');
}

/** null: the name is not one of a file of the history. */
export function historyNumber(name: string): number | null {
  const found = nameForm.exec(name)?.[1];
  return found === undefined ? null : Number(found);
}

/** A file as the member knows it. */
export interface HistoryFile {
  readonly number: number;
  /** Up to the end of its last intact block. */
  bytes: number;
  readonly tally: HistoryTally;
  /** Its blocks, while there is no index on disk; null: the index has them. */
  places: BlockPlace[] | null;
  indexBytes: number;
}

/** Two pieces of a file are read at once in each turn. */
const chunkBytes = 2 * blockBytesMax;
/** Mostly a whole block. */
const blockGuessBytes = 40 * 1024;

/** The file as its index tells it; null: there is no index that can be used. */
export async function fromIndex(
  disk: Disk,
  number: number,
  bytes: number,
): Promise<HistoryFile | null> {
  const name = indexName(number);
  const front = await disk.read(name, 0, indexHeadBytes + fanOutBytes);
  const head = readIndexHead(front);
  if (head === null || head.fileBytes > bytes) return null;
  const from = placesOffset(head);
  const back = await disk.read(name, from, head.blockCount * placeBytes + head.tallyBytes);
  const tally = readIndexTally(head, front, back);
  if (tally === null) return null;
  const indexBytes = from + back.length;
  return { number, bytes: head.fileBytes, tally, places: null, indexBytes };
}

/** The file as its blocks tell it, up to the first that is damaged; null: it is of another form. */
export async function fromBlocks(
  { disk, clock }: { readonly disk: Disk; readonly clock: Clock },
  number: number,
): Promise<HistoryFile | null> {
  const tally = new HistoryTally();
  const places: BlockPlace[] = [];
  const end = await eachBlock({ disk, clock }, number, (block, offset) => {
    const { firstMs, lastMs, entries } = block;
    for (const entry of entries) tally.add(entry, block.bytes / entries.length);
    places.push({ offset, entryCount: entries.length, firstMs, lastMs });
  });
  return end === null ? null : { number, bytes: end, tally, places, indexBytes: 0 };
}

/** Calls `seen` with each block, in turns, and tells where the intact blocks end; null: the file is of another form. */
export async function eachBlock(
  { disk, clock }: { readonly disk: Disk; readonly clock: Clock },
  number: number,
  seen: (block: ReadBlock, offset: number) => void | Promise<void>,
): Promise<number | null> {
  const name = historyName(number);
  const head = await disk.read(name, 0, fileHead.length);
  if (Buffer.compare(head, fileHead) !== 0) return null;
  let offset = fileHead.length;
  for (;;) {
    const chunk = await disk.read(name, offset, chunkBytes);
    let at = 0;
    for (let block = readBlock(chunk, 0); block !== null; block = readBlock(chunk, at)) {
      await seen(block, offset + at);
      at += block.bytes;
    }
    if (at === 0) return offset;
    offset += at;
    await turn(clock);
  }
}

/** Lets other work go first. */
export function turn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.soon(resolve));
}

/** The block at an offset; null: it is damaged. */
export async function blockAt(
  disk: Disk,
  number: number,
  offset: number,
): Promise<ReadBlock | null> {
  const name = historyName(number);
  const guess = await disk.read(name, offset, blockGuessBytes);
  const length = blockLengthSaid(guess);
  if (length === null) return null;
  return readBlock(length <= guess.length ? guess : await disk.read(name, offset, length), 0);
}

/** Offsets of the blocks that may have entries of a hash, the last one first. */
export async function offsetsIn(disk: Disk, file: HistoryFile, hash: number): Promise<number[]> {
  if (file.places !== null) return offsetsInMemory(file.places, file.tally.entryHashes, hash);
  const name = indexName(file.number);
  const front = await disk.read(name, 0, indexHeadBytes + fanOutBytes);
  if (front.length < indexHeadBytes + fanOutBytes) return [];
  const { from, to } = bucketRange(front, hash);
  const at = indexHeadBytes + fanOutBytes + from * postingBytes;
  return offsetsOf(await disk.read(name, at, Math.max(0, to - from) * postingBytes), hash);
}

function offsetsInMemory(
  places: readonly BlockPlace[],
  hashes: Uint32Array,
  hash: number,
): number[] {
  const found: number[] = [];
  let from = 0;
  for (const { offset, entryCount } of places) {
    const at = hashes.indexOf(hash, from);
    if (at === -1) break;
    if (at < from + entryCount) found.push(offset);
    from += entryCount;
  }
  return found.toReversed();
}

/** The blocks of a file, the first one first. */
export async function placesIn(disk: Disk, file: HistoryFile): Promise<readonly BlockPlace[]> {
  if (file.places !== null) return file.places;
  const name = indexName(file.number);
  const head = readIndexHead(await disk.read(name, 0, indexHeadBytes));
  if (head === null) return [];
  const { blockCount } = head;
  return readPlaces(await disk.read(name, placesOffset(head), blockCount * placeBytes), blockCount);
}
