/**
 * Takes blocks of rows from a snapshot (`row-block.ts`) into the arena as they are: copied together, their times moved
 * to this process's clock in place. A row that is none, although the checksum of its block fits, is left out.
 *
 * Example. A block has 372 rows of 176 bytes with shared fields number 3. The arena has 100 slots of 176 bytes left in
 * its newest page: 100 rows are copied there and 272 into a new page. Number 3 is free here, so the fields get it and
 * no row changes but for its times. Had 3 been taken by other fields, each row would be packed anew with the number
 * that its fields have here.
 */
import { RecordBuffer, RecordFields, type TimerRecord } from '@carillon/core';
import type { Arena, ArenaPage } from './arena.ts';
import type { Handles } from './handles.ts';
import { RowReader, RowWriter } from './row.ts';
import { decodeBlock, type RowBlock } from './row-block.ts';
import type { Combination, SharedFields } from './shared-fields.ts';

/** A record without its body, of which only the length counts. */
export type Bodiless = Omit<TimerRecord, 'body'> & { readonly body: { readonly length: number } };

/** Gets each row that is in the arena now. It is lent: it changes with the next one. */
export type TakeRow = (handle: number, row: Bodiless) => void;

export interface RestoreParts {
  readonly arena: Arena;
  readonly handles: Handles;
  readonly sharedFields: SharedFields;
}

/** The one row that all calls of `TakeRow` lend. */
class LentRow extends RecordFields {
  readonly body = { length: 0 };
}

/** Shared fields of a block, and their number here. */
interface Placed {
  readonly here: number;
  readonly shared: Combination;
}

const noBlock: RowBlock = {
  baseMs: 0,
  stride: 0,
  count: 0,
  combinations: new Map(),
  view: new DataView(new ArrayBuffer(0)),
  rows: new Uint8Array(0),
};

export class RowRestore {
  private readonly parts: RestoreParts;
  private readonly reader = new RowReader();
  private readonly writer = new RowWriter();
  private readonly row = new LentRow();
  /** Of the present call. */
  private block: RowBlock = noBlock;
  private byMs = 0.5;
  private placed: ReadonlyMap<number, Placed> = new Map();

  constructor(parts: RestoreParts) {
    this.parts = parts;
  }

  /** How many rows were taken. Throws MalformedError, and takes none, for bytes that are no block. */
  restore(bytes: Uint8Array, baseMs: number, take: TakeRow): number {
    const { arena, sharedFields } = this.parts;
    const block = decodeBlock(bytes);
    const { stride, count, rows } = block;
    const placed = new Map<number, Placed>();
    for (const [number, shared] of block.combinations) {
      const here = sharedFields.place(number, shared);
      placed.set(number, { here, shared: sharedFields.get(here) });
    }
    this.placed = placed;
    this.block = block;
    this.byMs = baseMs - block.baseMs;
    let taken = 0;
    for (let at = 0; at < count; ) {
      const { ref: first, count: slotCount, step } = arena.reserve(stride, count - at);
      const end = at + slotCount;
      const page = arena.page(first);
      page.bytes.set(rows.subarray(at * stride, end * stride), arena.offsetOf(first));
      for (let ref = first; at < end; at++, ref += step) {
        if (this.one(page, at, ref, take)) taken++;
        else arena.release(ref);
      }
    }
    for (const { here } of placed.values()) sharedFields.leave(here);
    return taken;
  }

  /** Whether the bytes at `ref` are a row. */
  private one(page: ArenaPage, at: number, ref: number, take: TakeRow): boolean {
    const { arena, handles, sharedFields } = this.parts;
    const { reader, row, block } = this;
    const offset = arena.offsetOf(ref);
    reader.open(page, offset);
    if (!reader.restore(this.byMs, offset + block.stride)) return false;
    const placed = this.placed.get(reader.combination);
    if (placed === undefined) return false;
    row.hi = block.view.getUint32(at * 8, true);
    row.lo = block.view.getUint32(at * 8 + 4, true);
    reader.fill(row, placed.shared);
    row.body.length = reader.bodyBytes;
    sharedFields.hold(placed.here);
    const handle = handles.take(row.hi, row.lo);
    handles.setRef(
      handle,
      placed.here === reader.combination ? ref : this.repacked(ref, placed.here),
    );
    take(handle, row);
    return true;
  }

  /** The row with another number of its shared fields; its new ref. */
  private repacked(ref: number, combination: number): number {
    const { arena } = this.parts;
    const { writer, reader } = this;
    const body = reader.bodyHere();
    writer.pack(Object.assign(new RecordBuffer(), this.row, { body }), combination);
    const moved = arena.allocate(writer.length);
    writer.copyTo(arena.page(moved), arena.offsetOf(moved));
    arena.release(ref);
    return moved;
  }
}
