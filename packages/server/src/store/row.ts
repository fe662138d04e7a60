/**
 * A record packed for memory: everything but its number (a column of the store) and the fields that it shares with
 * others (`shared-fields.ts`). About 25 bytes beside the body, because a field that can usually be derived, or is
 * usually zero, is only written when it differs. Snapshots keep rows as they are (`row-block.ts`): a change here is a
 * new form of the folder, and rows of the form before must still be read.
 *
 *   flags u8 · version (varint | f64) · tie varint · sequence varint · [attempt varint] · combination varint
 *   · start f64 · gap (varint | f64) · [due f64] · [retry f64 · tried f64] · [outcome u16] · body length varint · body
 */
import {
  copyOf,
  invariant,
  type RecordFields,
  type State,
  type TimerRecord,
  versionMsMax,
} from '@carillon/core';
import type { ArenaPage } from './arena.ts';
import type { Combination } from './shared-fields.ts';

const stateMask = 3;
const flag = {
  versionFloat: 4,
  gapFloat: 8,
  due: 16,
  attempt: 32,
  retry: 64,
  outcome: 128,
} as const;

/** The shortest row: flags, four numbers, start, gap, and the length of an empty body. */
const rowBytesMin = 1 + 4 + 8 + 1 + 1;
const headBytesMax = 1 + 8 + 5 + 8 + 8 + 5 + 8 + 8 + 8 + 8 + 8 + 2 + 8;

/** Packs one row at a time: `pack`, then `copyTo` where there is room for `length` bytes. */
export class RowWriter {
  private readonly head = new Uint8Array(headBytesMax);
  private readonly view = new DataView(this.head.buffer);
  private at = 0;
  private body: Uint8Array = this.head;

  get length(): number {
    return this.at + this.body.length;
  }

  pack(record: TimerRecord, combination: number): void {
    const flags = flagsOf(record);
    this.at = 0;
    this.head[this.at++] = flags;
    if ((flags & flag.versionFloat) === 0) this.varint(record.versionMs);
    else this.f64(record.versionMs);
    this.varint(record.versionTie);
    this.varint(record.sequence);
    if ((flags & flag.attempt) !== 0) this.varint(record.attempt);
    this.varint(combination);
    this.f64(record.startMs);
    if ((flags & flag.gapFloat) === 0) this.varint(record.gapMs);
    else this.f64(record.gapMs);
    if ((flags & flag.due) !== 0) this.f64(record.dueMs);
    if ((flags & flag.retry) !== 0) {
      this.f64(record.retryMs);
      this.f64(record.triedMs);
    }
    if ((flags & flag.outcome) !== 0) this.u16(record.outcome);
    this.varint(record.body.length);
    this.body = record.body;
  }

  copyTo(page: ArenaPage, offset: number): void {
    const { head, at } = this;
    const { bytes } = page;
    for (let i = 0; i < at; i++) bytes[offset + i] = head[i] as number;
    bytes.set(this.body, offset + at);
  }

  private varint(value: number): void {
    invariant(
      value >= 0 && value <= Number.MAX_SAFE_INTEGER,
      'a row counts from 0 in whole numbers',
    );
    const { head } = this;
    let at = this.at;
    let left = value;
    if (value >= 2 ** 31) {
      // Four groups of seven bits at once: beyond 31 bits, arithmetic is slow.
      const upper = Math.floor(value / 2 ** 28);
      const lower = value - upper * 2 ** 28;
      for (let shift = 0; shift < 28; shift += 7) head[at++] = ((lower >>> shift) & 127) | 128;
      left = upper;
    }
    for (; left > 127; left >>>= 7) head[at++] = (left & 127) | 128;
    head[at++] = left;
    this.at = at;
  }

  private u16(value: number): void {
    this.view.setUint16(this.at, value, true);
    this.at += 2;
  }

  private f64(value: number): void {
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }
}

function flagsOf(record: TimerRecord): number {
  let flags: number = record.state;
  if (!isVarint(record.versionMs)) flags |= flag.versionFloat;
  if (!isVarint(record.gapMs)) flags |= flag.gapFloat;
  if (record.dueMs !== derivedDueMs(record)) flags |= flag.due;
  if (record.attempt !== 0) flags |= flag.attempt;
  if (record.retryMs !== record.dueMs || record.triedMs !== record.dueMs) flags |= flag.retry;
  if (record.outcome !== 0) flags |= flag.outcome;
  return flags;
}

/** Of a row, from the time when it is due up to its outcome. */
function restBytes(flags: number): number {
  const times = ((flags & flag.due) === 0 ? 0 : 8) + ((flags & flag.retry) === 0 ? 0 : 16);
  return times + ((flags & flag.outcome) === 0 ? 0 : 2);
}

/** Zero has two signs, and only one of them is a varint. */
function isVarint(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0);
}

/** When the next pop of a plain recurring timer is due. */
function derivedDueMs(row: Pick<TimerRecord, 'startMs' | 'sequence' | 'gapMs'>): number {
  return row.startMs + (row.sequence + 1) * row.gapMs;
}

/** One row at a time, read in the order it was written. The fields hold the values that were read last. */
export class RowReader {
  private page: ArenaPage = { bytes: new Uint8Array(0), view: new DataView(new ArrayBuffer(0)) };
  private at = 0;
  private flags = 0;
  versionMs = 0;
  versionTie = 0;
  sequence = 0;
  attempt = 0;
  combination = 0;
  startMs = 0;
  gapMs = 0;
  dueMs = 0;
  retryMs = 0;
  triedMs = 0;
  outcome = 0;
  /** Set by `restore` alone. */
  bodyBytes = 0;

  get state(): State {
    return (this.flags & stateMask) as State;
  }

  /** Flags only. */
  open(page: ArenaPage, offset: number): this {
    this.page = page;
    this.flags = page.bytes[offset] as number;
    this.at = offset + 1;
    return this;
  }

  /** Reads the fields up to the number of the combination. */
  readProgress(): this {
    const { flags } = this;
    this.versionMs = (flags & flag.versionFloat) === 0 ? this.varint() : this.f64();
    this.versionTie = this.varint();
    this.sequence = this.varint();
    this.attempt = (flags & flag.attempt) === 0 ? 0 : this.varint();
    this.combination = this.varint();
    return this;
  }

  /** The rest, up to the body. */
  readTimes(): this {
    const { flags } = this;
    this.startMs = this.f64();
    this.gapMs = (flags & flag.gapFloat) === 0 ? this.varint() : this.f64();
    this.dueMs = (flags & flag.due) === 0 ? derivedDueMs(this) : this.f64();
    this.retryMs = (flags & flag.retry) === 0 ? this.dueMs : this.f64();
    this.triedMs = (flags & flag.retry) === 0 ? this.dueMs : this.f64();
    this.outcome = (flags & flag.outcome) === 0 ? 0 : this.u16();
    return this;
  }

  /**
   * Reads all of a row that comes from a snapshot, and moves its times by so much, in place. False: the bytes up to
   * `end` are no row.
   */
  restore(byMs: number, end: number): boolean {
    const { flags } = this;
    if (this.at - 1 + rowBytesMin > end) return false;
    this.readProgress();
    if (this.at + ((flags & flag.gapFloat) === 0 ? 8 : 16) > end) return false;
    this.startMs = this.movedF64(byMs);
    this.gapMs = (flags & flag.gapFloat) === 0 ? this.varint() : this.f64();
    if (this.at + restBytes(flags) > end) return false;
    this.dueMs = (flags & flag.due) === 0 ? derivedDueMs(this) : this.movedF64(byMs);
    this.retryMs = (flags & flag.retry) === 0 ? this.dueMs : this.movedF64(byMs);
    this.triedMs = (flags & flag.retry) === 0 ? this.dueMs : this.movedF64(byMs);
    this.outcome = (flags & flag.outcome) === 0 ? 0 : this.u16();
    this.bodyBytes = this.varint();
    return this.isSound() && this.at + this.bodyBytes <= end;
  }

  private isSound(): boolean {
    const { versionMs, versionTie, sequence, attempt, startMs, dueMs, retryMs, triedMs } = this;
    const isVersion = versionMs >= 0 && versionMs < versionMsMax && versionTie <= 0xffffffff;
    // One that is not finite makes the sum so.
    const isFinite = Number.isFinite(startMs + dueMs + retryMs + triedMs + this.gapMs);
    const isCounted = sequence + attempt <= Number.MAX_SAFE_INTEGER;
    return isVersion && isFinite && isCounted && (this.flags & stateMask) !== stateMask;
  }

  /** Copies the fields that were read, and the shared ones, into a record. Its number and body are the caller's. */
  fill(record: RecordFields, { namespace, factor, replicas }: Combination): void {
    record.namespace = namespace;
    record.factor = factor;
    record.versionMs = this.versionMs;
    record.versionTie = this.versionTie;
    record.state = this.state;
    record.sequence = this.sequence;
    record.attempt = this.attempt;
    record.startMs = this.startMs;
    record.dueMs = this.dueMs;
    record.gapMs = this.gapMs;
    record.retryMs = this.retryMs;
    record.triedMs = this.triedMs;
    record.outcome = this.outcome;
    record.replicas = replicas;
  }

  /** Where the body is, after the times were read. */
  readBodyPlace(into: { bytes: Uint8Array; from: number; to: number }): void {
    const length = this.varint();
    into.bytes = this.page.bytes;
    into.from = this.at;
    into.to = this.at + length;
  }

  /** The body as a view, which changes with the page. */
  viewBody(): Uint8Array {
    const length = this.varint();
    return this.page.bytes.subarray(this.at, this.at + length);
  }

  /** The body as a view, after `restore`. */
  bodyHere(): Uint8Array {
    return this.page.bytes.subarray(this.at, this.at + this.bodyBytes);
  }

  /** A copy of the body. */
  readBody(): Uint8Array {
    const length = this.varint();
    return copyOf(this.page.bytes, this.at, this.at + length);
  }

  private varint(): number {
    const { bytes } = this.page;
    let byte = bytes[this.at++] as number;
    let value = byte & 127;
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = bytes[this.at++] as number;
      value += (byte & 127) * unit;
    }
    return value;
  }

  private u16(): number {
    this.at += 2;
    return this.page.view.getUint16(this.at - 2, true);
  }

  private f64(): number {
    this.at += 8;
    return this.page.view.getFloat64(this.at - 8, true);
  }

  /** Moves a time in place, and reads it. */
  private movedF64(byMs: number): number {
    const moved = this.f64() + byMs;
    this.page.view.setFloat64(this.at - 8, moved, true);
    return moved;
  }
}
