/**
 * Rows of the store as a snapshot keeps them: the very bytes of the arena, many at a time, so that a start copies them
 * back instead of reading each record and packing it again. `row-restore.ts` reads them.
 *
 *   block: base f64 · stride u32 · count u32 · shared fields · count × (hi u32 · lo u32) · count × stride bytes
 *   shared fields: count varint, each: number varint · namespace text · factor u8 · count u8 · names text …
 *
 * Rows of one block have the same room in the arena, the stride. Their times are on the clock of the process that wrote
 * them, whose distance from the wall clock is the base. Numbers of shared fields are that process's, too.
 *
 * Example. Of 100,000 records 90,000 have rows of 176 bytes and 10,000 of 184. The walk over all records adds each row
 * to the open block of its stride; a block of 176 bytes a row is handed out after 372 rows, 64 KiB, and blocks still
 * open at the end are handed out last.
 *
 * The form on disk is the one of rows (`row.ts`): a change there is a new form of the folder (0044).
 */
import { ByteReader, ByteWriter, invariant, MalformedError } from '@carillon/core';
import type { ArenaPage } from './arena.ts';
import type { Combination } from './shared-fields.ts';

/** Of rows in a block: so many records are lost with one damaged bit, and so much memory has each open block. */
const blockBytes = 64 * 1024;
/** Wall clocks have whole milliseconds, so two readings of the base differ by this at most unless one was set. */
const baseMsApart = 1;
const numberBytes = 8;

/** Gets the bytes of a block, which are of use during the call, and how many rows are in it. */
export type EmitBlock = (bytes: Uint8Array, count: number) => void;

/** One row to be added. */
export interface HeldRow {
  readonly hi: number;
  readonly lo: number;
  readonly page: ArenaPage;
  readonly offset: number;
  readonly combination: number;
  readonly shared: Combination;
}

interface OpenBlock {
  readonly stride: number;
  readonly rows: Uint8Array;
  readonly numbers: Uint32Array;
  readonly combinations: Map<number, Combination>;
  count: number;
}

/** Collects rows into blocks, one open block for each stride. */
export class RowBlocks {
  private readonly open = new Map<number, OpenBlock>();
  private readonly out = new ByteWriter(blockBytes + 8192);
  private baseMs = Number.NaN;

  /** Of the rows that are added from now on. */
  setBase(baseMs: number, emit: EmitBlock): void {
    // Not "more than": the first base comes after none.
    if (Math.abs(baseMs - this.baseMs) <= baseMsApart) return;
    this.emitAll(emit);
    this.baseMs = baseMs;
  }

  add(row: HeldRow, stride: number, emit: EmitBlock): void {
    const block = this.blockFor(row, stride, emit);
    const { rows, numbers, count } = block;
    const { page, offset } = row;
    // A row may end before its slot does, at the end of a page of its own.
    rows.set(page.bytes.subarray(offset, offset + stride), count * stride);
    numbers[count * 2] = row.hi;
    numbers[count * 2 + 1] = row.lo;
    block.count = count + 1;
    if (numbers.length === block.count * 2) this.emit(block, emit);
  }

  emitAll(emit: EmitBlock): void {
    for (const block of this.open.values()) if (block.count > 0) this.emit(block, emit);
    this.open.clear();
  }

  private blockFor({ combination, shared }: HeldRow, stride: number, emit: EmitBlock): OpenBlock {
    const block = this.open.get(stride) ?? this.begin(stride);
    const known = block.combinations.get(combination);
    if (known === shared) return block;
    // The number was given up meanwhile, and stands for other fields now.
    if (known !== undefined) this.emit(block, emit);
    block.combinations.set(combination, shared);
    return block;
  }

  private begin(stride: number): OpenBlock {
    const capacity = Math.max(1, Math.floor(blockBytes / stride));
    const block = {
      stride,
      rows: new Uint8Array(capacity * stride),
      numbers: new Uint32Array(capacity * 2),
      combinations: new Map(),
      count: 0,
    };
    this.open.set(stride, block);
    return block;
  }

  private emit(block: OpenBlock, emit: EmitBlock): void {
    const { out } = this;
    const { stride, rows, numbers, combinations, count } = block;
    invariant(count > 0, 'a block that is handed out has rows');
    out.reset();
    out.f64(this.baseMs);
    out.u32(stride);
    out.u32(count);
    out.varint(combinations.size);
    for (const [number, shared] of combinations) encodeShared(out, number, shared);
    for (let at = 0; at < count * 2; at++) out.u32(numbers[at] as number);
    out.raw(rows.subarray(0, count * stride));
    emit(out.written(), count);
    block.count = 0;
    combinations.clear();
    // A row with a page for itself may be as long as 16 MiB, and the next one has another length.
    if (rows.length > blockBytes) this.open.delete(stride);
  }
}

function encodeShared(out: ByteWriter, number: number, shared: Combination): void {
  out.varint(number);
  out.text(shared.namespace);
  out.u8(shared.factor);
  out.u8(shared.replicas.length);
  for (const name of shared.replicas) out.text(name);
}

/** A block as it was read. */
export interface RowBlock {
  readonly baseMs: number;
  readonly stride: number;
  readonly count: number;
  readonly combinations: ReadonlyMap<number, Combination>;
  /** Halves of the numbers, and the rows, in `view`. */
  readonly view: DataView;
  readonly rows: Uint8Array;
}

/** Throws MalformedError for bytes that are no block. The rows themselves are not looked at. */
export function decodeBlock(bytes: Uint8Array): RowBlock {
  const from = new ByteReader(bytes);
  const baseMs = from.f64();
  const stride = from.u32();
  const count = from.u32();
  const combinations = new Map<number, Combination>();
  for (let left = from.varint(); left > 0; left--) {
    combinations.set(from.varint(), decodeShared(from));
  }
  const at = bytes.length - from.left;
  const isWhole = from.left === count * (numberBytes + stride);
  if (!isWhole || count === 0 || stride === 0 || !Number.isFinite(baseMs)) {
    throw new MalformedError(`A block of ${count} rows is not as long as they are.`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, count * numberBytes);
  return {
    baseMs,
    stride,
    count,
    combinations,
    view,
    rows: bytes.subarray(at + count * numberBytes),
  };
}

function decodeShared(from: ByteReader): Combination {
  const namespace = from.text();
  const factor = from.u8();
  const replicas = Array.from({ length: from.u8() }, () => from.text());
  return { namespace, factor, replicas };
}
