/**
 * The messages between members. A frame carries many messages and is answered by one frame with an answer
 * to each, in the same order. Everything is idempotent: loss, repetition, delay and reordering are normal.
 *
 * A record travels with its age (see core's record.ts): it is written when the frame is, not when it was
 * queued.
 */
import {
  ByteReader,
  ByteWriter,
  decodeRecord,
  encodeRecord,
  MalformedError,
  type Progress,
  type State,
  type TimerRecord,
} from '@carillon/core';
import type { Attempt } from '../timer/attempt.ts';
import { decodeHello, encodeHello, type Hello } from './wire-hello.ts';
import {
  decodeAsk,
  decodeGroup,
  encodeAsk,
  encodeGroup,
  type ListAsk,
  type TallyGroup,
} from './wire-list.ts';

export type { HolderRole, ListAsk, TallyGroup } from './wire-list.ts';

/**
 * Raised when a frame changes in a way that an older release cannot read. A frame is written in the highest protocol
 * that its reader is known to understand (`peers.ts`), and answered in the protocol it came in.
 * 3: an offer and a claim tell when the timer is due, a claim has a serial, and an answer that does not fit into the frame with the others can be `later`.
 * 4: an attempt has a detail, a list is asked for by receiver and failure, and there is a tally.
 */
export const protocol = { min: 2, max: 4 } as const;

/** How a `store` treats the receiver's record: any: merge. create: only where there is none. update: only over an older one. */
export type StoreMode = 'any' | 'create' | 'update';

export interface Numbered {
  readonly hi: number;
  readonly lo: number;
}

export type Entry = Numbered & Progress;

export type Message =
  | { readonly type: 'store'; readonly mode: StoreMode; readonly record: TimerRecord }
  | {
      readonly type: 'claim';
      readonly entry: Entry;
      readonly termMs: number;
      readonly position: number;
      /** The call is in flight: this claim is a renewal. */
      readonly calling: boolean;
      /** The same for all that is said of one pop, another after it was given back. 0 before protocol 3. */
      readonly serial: number;
      /** When the claimant takes the pop to be due; Infinity before protocol 3. */
      readonly dueMs: number;
    }
  /** `dueMs`: Infinity in a frame of an older release, which does not say. */
  | { readonly type: 'offer'; readonly entry: Entry; readonly dueMs: number }
  | ({ readonly type: 'read' } & Numbered)
  | { readonly type: 'list'; readonly ask: ListAsk }
  | { readonly type: 'hello'; readonly hello: Hello }
  /** One hash a range over the records that both members should hold. */
  | { readonly type: 'digest'; readonly hashes: Uint32Array }
  | { readonly type: 'range'; readonly range: number; readonly entries: readonly Entry[] }
  | ({ readonly type: 'unconfirmed'; readonly names: readonly string[] } & Numbered)
  | ({ readonly type: 'attempts'; readonly namespace: string } & Numbered)
  /** How many records match that this member speaks for. From protocol 4. */
  | { readonly type: 'tally'; readonly ask: ListAsk };

export type Answer =
  | { readonly type: 'stored' }
  | { readonly type: 'have'; readonly progress: Progress }
  /** Nothing was stored: the number belongs to another namespace, or the disk is full. */
  | { readonly type: 'refused'; readonly why: 'namespace' | 'full' }
  | { readonly type: 'granted' }
  | { readonly type: 'ahead'; readonly record: TimerRecord }
  | { readonly type: 'claimed'; readonly leftMs: number }
  | { readonly type: 'unknown' }
  | { readonly type: 'need' }
  | { readonly type: 'record'; readonly record: TimerRecord | null }
  | {
      readonly type: 'records';
      readonly records: readonly TimerRecord[] /** Number where the scan stopped; empty at the end. */;
      readonly stopped: string;
    }
  | { readonly type: 'hello'; readonly hello: Hello }
  | { readonly type: 'ranges'; readonly ranges: readonly number[] }
  /** newer: records the answerer has newer. want: numbers of which the asker has newer. */
  | {
      readonly type: 'difference';
      readonly newer: readonly TimerRecord[];
      readonly want: readonly Numbered[];
    }
  | { readonly type: 'ok' }
  /** The answer has records in it, and the frame is full of others: to be asked again. From protocol 3. */
  | { readonly type: 'later' }
  | { readonly type: 'attempts'; readonly attempts: readonly Attempt[] }
  | { readonly type: 'tally'; readonly groups: readonly TallyGroup[] };

export interface Frame<T> {
  readonly protocol: number;
  readonly from: string;
  readonly items: readonly T[];
}

const messageTypes = [
  'store',
  'claim',
  'offer',
  'read',
  'list',
  'hello',
  'digest',
  'range',
  'unconfirmed',
  'attempts',
  'tally',
] as const;
const answerTypes = [
  'stored',
  'have',
  'refused',
  'granted',
  'ahead',
  'claimed',
  'unknown',
  'need',
  'record',
  'records',
  'hello',
  'ranges',
  'difference',
  'ok',
  'attempts',
  'later',
  'tally',
] as const;
const modes: readonly StoreMode[] = ['any', 'create', 'update'];

const writer = new ByteWriter(64 * 1024);

export function encodeMessages(frame: Frame<Message>, nowMs: number): Uint8Array {
  startFrame(frame);
  for (const message of frame.items) {
    writer.u8(messageTypes.indexOf(message.type));
    encodeMessage(message, nowMs, frame.protocol);
  }
  return writer.copy();
}

export function encodeAnswers(frame: Frame<Answer>, nowMs: number): Uint8Array {
  startFrame(frame);
  for (const answer of frame.items) {
    writer.u8(answerTypes.indexOf(answer.type));
    encodeAnswer(answer, nowMs, frame.protocol);
  }
  return writer.copy();
}

/** Throws MalformedError for anything but a whole frame. */
export function decodeMessages(bytes: Uint8Array, nowMs: number): Frame<Message> {
  return decodeFrame(bytes, (from, version) => decodeMessage(from, nowMs, version));
}

/** Throws MalformedError for anything but a whole frame. */
export function decodeAnswers(bytes: Uint8Array, nowMs: number): Frame<Answer> {
  return decodeFrame(bytes, (from, version) => decodeAnswer(from, nowMs, version));
}

function startFrame(frame: Frame<unknown>): void {
  writer.reset();
  writer.u8(frame.protocol);
  writer.text(frame.from);
  writer.varint(frame.items.length);
}

function decodeFrame<T>(
  bytes: Uint8Array,
  item: (from: ByteReader, version: number) => T,
): Frame<T> {
  const reader = new ByteReader(bytes);
  const version = reader.u8();
  if (version < protocol.min || version > protocol.max) {
    throw new MalformedError(
      `A frame has protocol ${version}; this release knows up to ${protocol.max}.`,
    );
  }
  const from = reader.text();
  const items = readMany(reader, (one) => item(one, version));
  if (reader.left > 0) throw new MalformedError(`A frame has ${reader.left} bytes too many.`);
  return { protocol: version, from, items };
}

/** A count, then that many; a count larger than the bytes left is a lie and not worth the memory. */
function readMany<T>(from: ByteReader, item: (from: ByteReader) => T): T[] {
  const count = from.varint();
  if (count > from.left)
    throw new MalformedError(`A frame announces ${count} items and is too short.`);
  const items: T[] = [];
  for (let i = 0; i < count; i++) items.push(item(from));
  return items;
}

function encodeMessage(message: Message, nowMs: number, version: number): void {
  switch (message.type) {
    case 'store':
      writer.u8(modes.indexOf(message.mode));
      return encodeRecord(writer, message.record, nowMs);
    case 'claim':
      encodeEntry(message.entry);
      writer.f64(message.termMs);
      writer.u8(message.position);
      writer.u8(message.calling ? 1 : 0);
      if (version < 3) return;
      writer.u32(message.serial);
      writer.f64(message.dueMs - nowMs);
      return;
    case 'offer':
      encodeEntry(message.entry);
      if (version >= 3) writer.f64(message.dueMs - nowMs);
      return;
    case 'read':
      return encodeNumber(message);
    case 'list':
    case 'tally':
      return encodeAsk(writer, message.ask, version);
    case 'hello':
      return encodeHello(writer, message.hello);
    case 'digest':
      return writer.blob(
        new Uint8Array(message.hashes.buffer, message.hashes.byteOffset, message.hashes.byteLength),
      );
    case 'range':
      writer.u8(message.range);
      writer.varint(message.entries.length);
      for (const entry of message.entries) encodeEntry(entry);
      return;
    case 'unconfirmed':
      encodeNumber(message);
      writer.varint(message.names.length);
      for (const name of message.names) writer.text(name);
      return;
    case 'attempts':
      writer.text(message.namespace);
      encodeNumber(message);
  }
}

function decodeMessage(from: ByteReader, nowMs: number, version: number): Message {
  const type = known(messageTypes[from.u8()]);
  switch (type) {
    case 'store':
      return { type, mode: known(modes[from.u8()]), record: decodeRecord(from, nowMs) };
    case 'claim':
      return {
        type,
        entry: decodeEntry(from),
        termMs: from.f64(),
        position: from.u8(),
        calling: from.u8() === 1,
        serial: version < 3 ? 0 : from.u32(),
        dueMs: version < 3 ? Infinity : from.f64() + nowMs,
      };
    case 'offer':
      return {
        type,
        entry: decodeEntry(from),
        dueMs: version >= 3 ? from.f64() + nowMs : Infinity,
      };
    case 'read':
      return { type, hi: from.u32(), lo: from.u32() };
    case 'list':
    case 'tally':
      return { type, ask: decodeAsk(from, version) };
    case 'hello':
      return { type, hello: decodeHello(from) };
    case 'digest':
      return { type, hashes: decodeHashes(from.blob()) };
    case 'range':
      return { type, range: from.u8(), entries: readMany(from, decodeEntry) };
    case 'unconfirmed':
      return { type, hi: from.u32(), lo: from.u32(), names: readMany(from, (text) => text.text()) };
    case 'attempts':
      return { type, namespace: from.text(), hi: from.u32(), lo: from.u32() };
  }
}

function encodeAnswer(answer: Answer, nowMs: number, version: number): void {
  switch (answer.type) {
    case 'have':
      return encodeProgress(answer.progress);
    case 'refused':
      return writer.u8(answer.why === 'full' ? 1 : 0);
    case 'ahead':
      return encodeRecord(writer, answer.record, nowMs);
    case 'claimed':
      return writer.f64(answer.leftMs);
    case 'record':
      writer.u8(answer.record === null ? 0 : 1);
      if (answer.record !== null) encodeRecord(writer, answer.record, nowMs);
      return;
    case 'records':
      writer.text(answer.stopped);
      writer.varint(answer.records.length);
      for (const record of answer.records) encodeRecord(writer, record, nowMs);
      return;
    case 'hello':
      return encodeHello(writer, answer.hello);
    case 'ranges':
      return writer.blob(Uint8Array.from(answer.ranges));
    case 'difference':
      writer.varint(answer.newer.length);
      for (const record of answer.newer) encodeRecord(writer, record, nowMs);
      writer.varint(answer.want.length);
      for (const number of answer.want) encodeNumber(number);
      return;
    case 'attempts':
      writer.varint(answer.attempts.length);
      for (const attempt of answer.attempts) encodeAttempt(attempt, version);
      return;
    case 'tally':
      writer.varint(answer.groups.length);
      for (const group of answer.groups) encodeGroup(writer, group, nowMs);
      return;
    case 'stored':
    case 'granted':
    case 'unknown':
    case 'need':
    case 'ok':
    case 'later':
  }
}

function decodeAnswer(from: ByteReader, nowMs: number, version: number): Answer {
  const record = (): TimerRecord => decodeRecord(from, nowMs);
  const type = known(answerTypes[from.u8()]);
  switch (type) {
    case 'have':
      return { type, progress: decodeProgress(from) };
    case 'refused':
      return { type, why: from.u8() === 1 ? 'full' : 'namespace' };
    case 'ahead':
      return { type, record: record() };
    case 'claimed':
      return { type, leftMs: from.f64() };
    case 'record':
      return { type, record: from.u8() === 1 ? record() : null };
    case 'records':
      return { type, stopped: from.text(), records: readMany(from, record) };
    case 'hello':
      return { type, hello: decodeHello(from) };
    case 'ranges':
      return { type, ranges: [...from.blob()] };
    case 'difference':
      return { type, newer: readMany(from, record), want: readMany(from, decodeNumber) };
    case 'attempts':
      return { type, attempts: readMany(from, (one) => decodeAttempt(one, version)) };
    case 'tally':
      return { type, groups: readMany(from, (one) => decodeGroup(one, nowMs)) };
    case 'stored':
    case 'granted':
    case 'unknown':
    case 'need':
    case 'ok':
    case 'later':
      return { type };
  }
}

function encodeNumber({ hi, lo }: Numbered): void {
  writer.u32(hi);
  writer.u32(lo);
}

function decodeNumber(from: ByteReader): Numbered {
  return { hi: from.u32(), lo: from.u32() };
}

function encodeProgress(progress: Progress): void {
  writer.f64(progress.versionMs);
  writer.u32(progress.versionTie);
  writer.u8(progress.state);
  writer.varint(progress.sequence);
  writer.varint(progress.attempt);
}

function decodeProgress(from: ByteReader): Progress {
  return {
    versionMs: from.f64(),
    versionTie: from.u32(),
    state: from.u8() as State,
    sequence: from.varint(),
    attempt: from.varint(),
  };
}

function encodeEntry(entry: Entry): void {
  encodeNumber(entry);
  encodeProgress(entry);
}

function decodeEntry(from: ByteReader): Entry {
  return { ...decodeNumber(from), ...decodeProgress(from) };
}

function encodeAttempt(attempt: Attempt, version: number): void {
  writer.varint(attempt.sequence);
  writer.varint(attempt.attempt);
  writer.f64(attempt.atMs);
  writer.f64(attempt.latenessMs);
  writer.f64(attempt.tookMs);
  writer.varint(attempt.outcome);
  if (version >= 4) writer.text(attempt.detail);
}

function decodeAttempt(from: ByteReader, version: number): Attempt {
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

function decodeHashes(bytes: Uint8Array): Uint32Array {
  if (bytes.length !== 1024) throw new MalformedError('A digest does not have 256 hashes.');
  // A copy that starts at a multiple of four; `slice` of a Buffer would only be another view.
  return new Uint32Array(Uint8Array.from(bytes).buffer);
}

function known<T>(value: T | undefined): T {
  if (value === undefined)
    throw new MalformedError('A frame has a value that this release does not know.');
  return value;
}
