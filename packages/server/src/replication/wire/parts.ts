/** The parts that several messages and answers have: numbers, progress, attempts, and counts of items. */
import {
  type ByteReader,
  type ByteWriter,
  type Clock,
  encodeRecord,
  MalformedError,
  type Progress,
  type State,
  type TimerRecord,
  withoutTrace,
} from '@carillon/core';
import type { Attempt } from '../../timer/attempt.ts';

/** A reading of both clocks of a member; the wall clock as it is, not corrected by the cluster's. */
export interface Moment {
  readonly nowMs: number;
  readonly wallMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { nowMs: clock.now(), wallMs: clock.wall() };
}

/** The moment in which a frame is written or read, and its protocol. */
export interface Scope {
  readonly nowMs: number;
  readonly version: number;
}

/** `sentMs`: when the frame was sent, by the clock of its reader. */
export interface ReadScope extends Scope {
  readonly sentMs: number;
}

export interface Numbered {
  readonly hi: number;
  readonly lo: number;
}

export type RecordStanding = Numbered & Progress;

/** A count, then that many; a count larger than the bytes left is a lie and not worth the memory. */
export function readMany<T>(from: ByteReader, item: (from: ByteReader) => T): T[] {
  const count = from.varint();
  if (count > from.left)
    throw new MalformedError(`A frame announces ${count} items and is too short.`);
  const items: T[] = [];
  for (let i = 0; i < count; i++) items.push(item(from));
  return items;
}

/**
 * A record in a frame. Members that speak an older protocol than 6 know no traces, and refuse a definition with one.
 */
export function encodeTimer(
  writer: ByteWriter,
  record: TimerRecord,
  { nowMs, version }: Scope,
): void {
  const body = version < 6 ? withoutTrace(record.body) : record.body;
  encodeRecord(writer, body === record.body ? record : { ...record, body }, nowMs);
}

export function encodeNumber(writer: ByteWriter, { hi, lo }: Numbered): void {
  writer.u32(hi);
  writer.u32(lo);
}

export function decodeNumber(from: ByteReader): Numbered {
  return { hi: from.u32(), lo: from.u32() };
}

export function encodeProgress(writer: ByteWriter, progress: Progress): void {
  writer.f64(progress.versionMs);
  writer.u32(progress.versionTie);
  writer.u8(progress.state);
  writer.varint(progress.sequence);
  writer.varint(progress.attempt);
}

export function decodeProgress(from: ByteReader): Progress {
  return {
    versionMs: from.f64(),
    versionTie: from.u32(),
    state: from.u8() as State,
    sequence: from.varint(),
    attempt: from.varint(),
  };
}

export function encodeStanding(writer: ByteWriter, standing: RecordStanding): void {
  encodeNumber(writer, standing);
  encodeProgress(writer, standing);
}

export function decodeStanding(from: ByteReader): RecordStanding {
  return { ...decodeNumber(from), ...decodeProgress(from) };
}

export function encodeAttempt(writer: ByteWriter, attempt: Attempt, version: number): void {
  writer.varint(attempt.sequence);
  writer.varint(attempt.attempt);
  writer.f64(attempt.atMs);
  writer.f64(attempt.latenessMs);
  writer.f64(attempt.tookMs);
  writer.varint(attempt.outcome);
  if (version >= 4) writer.text(attempt.detail);
}

export function decodeAttempt(from: ByteReader, version: number): Attempt {
  return {
    sequence: from.varint(),
    attempt: from.varint(),
    atMs: from.f64(),
    latenessMs: from.f64(),
    tookMs: from.f64(),
    outcome: from.varint(),
    detail: version >= 4 ? from.text() : '',
  };
}

export function known<T>(value: T | undefined): T {
  if (value === undefined)
    throw new MalformedError('A frame has a value that this release does not know.');
  return value;
}
