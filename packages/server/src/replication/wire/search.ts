/** Questions for lists by due time, and their answers. From protocol 5. */
import { type ByteReader, type ByteWriter, decodeRecord, type TimerRecord } from '@carillon/core';
import { decodeAsk, encodeAsk, type ListAsk } from './list.ts';
import { encodeTimer, readMany, type ReadScope, type Scope } from './parts.ts';

/** A place in the order of one member: the millisecond of the wall clock, and the handle of the record there. */
export interface Place {
  readonly ms: number;
  readonly handle: number;
}

/** A place in the order of all members: within a millisecond, records of members with a lower rank come first. */
export interface RankedPlace extends Place {
  readonly rank: number;
}

export interface SearchAsk {
  /** Which records, and how many; the cursor is `after`. */
  readonly ask: ListAsk;
  /** Only records whose next attempt is at or after the one and before the other, in milliseconds of the wall clock. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly after: RankedPlace;
  /** Whether all that match are to be counted too. */
  readonly wantTotal: boolean;
}

/** How many records match. Not exact: about so many, because counting would take long, or members did not answer. */
export interface Total {
  readonly count: number;
  readonly exact: boolean;
}

export interface Found {
  readonly entries: readonly { readonly place: Place; readonly record: TimerRecord }[];
  /** Where the search stopped; null at the end. */
  readonly stopped: Place | null;
  /** null: it was not asked for. */
  readonly total: Total | null;
  /** Why the member cannot answer; empty: it can. */
  readonly refused: string;
}

export function encodeSearch(writer: ByteWriter, search: SearchAsk, version: number): void {
  encodeAsk(writer, search.ask, version);
  writer.f64(search.fromMs);
  writer.f64(search.toMs);
  encodePlace(writer, search.after);
  writer.u32(search.after.rank);
  writer.u8(search.wantTotal ? 1 : 0);
}

export function decodeSearch(from: ByteReader, version: number): SearchAsk {
  return {
    ask: decodeAsk(from, version),
    fromMs: from.f64(),
    toMs: from.f64(),
    after: { ...decodePlace(from), rank: from.u32() },
    wantTotal: from.u8() === 1,
  };
}

export function encodeFound(writer: ByteWriter, found: Found, scope: Scope): void {
  writer.text(found.refused);
  writer.varint(found.entries.length);
  for (const { place, record } of found.entries) {
    encodePlace(writer, place);
    encodeTimer(writer, record, scope);
  }
  writer.u8(found.stopped === null ? 0 : 1);
  if (found.stopped !== null) encodePlace(writer, found.stopped);
  writer.u8(totalCode(found.total));
  if (found.total !== null) writer.varint(found.total.count);
}

export function decodeFound(from: ByteReader, { sentMs }: ReadScope): Found {
  const refused = from.text();
  const entries = readMany(from, () => ({
    place: decodePlace(from),
    record: decodeRecord(from, sentMs),
  }));
  const stopped = from.u8() === 1 ? decodePlace(from) : null;
  const code = from.u8();
  const total = code === 0 ? null : { count: from.varint(), exact: code === 1 };
  return { entries, stopped, total, refused };
}

function totalCode(total: Total | null): number {
  if (total === null) return 0;
  return total.exact ? 1 : 2;
}

/** The handle may be −1, before the first. */
function encodePlace(writer: ByteWriter, { ms, handle }: Place): void {
  writer.f64(ms);
  writer.u32(handle + 1);
}

function decodePlace(from: ByteReader): Place {
  return { ms: from.f64(), handle: from.u32() - 1 };
}
