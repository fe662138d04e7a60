/**
 * What members say to each other. A frame carries many messages and is answered by one frame with an answer
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

/** Raised when a frame changes in a way that an older release cannot read. */
export const protocol = { min: 1, max: 1 } as const;

/** How a `store` treats what the receiver has: any: merge. create: only where nothing is. update: only over something older. */
export type StoreMode = 'any' | 'create' | 'update';

export interface Hello {
  readonly release: string;
  readonly protocolMin: number;
  readonly protocolMax: number;
  readonly viewId: string;
  /** Different after each start: a peer that restarted may have missed messages. */
  readonly boot: number;
  /** How far back it remembers. */
  readonly historyMs: number;
  /** It hands its records on and will be gone. */
  readonly leaving: boolean;
  readonly wallMs: number;
  readonly timers: number;
  readonly primaries: number;
}

export interface Numbered {
  readonly hi: number;
  readonly lo: number;
}

export type Entry = Numbered & Progress;

export interface ListAsk {
  readonly namespace: string;
  readonly tag: string | null;
  /** '' for any. */
  readonly state: string;
  readonly cursor: string;
  readonly limit: number;
}

export type Message =
  | { readonly type: 'store'; readonly mode: StoreMode; readonly record: TimerRecord }
  | {
      readonly type: 'claim';
      readonly entry: Entry;
      readonly termMs: number;
      readonly position: number;
      /** The call is in flight: this claim is a renewal. */
      readonly calling: boolean;
    }
  | { readonly type: 'offer'; readonly entry: Entry }
  | ({ readonly type: 'read' } & Numbered)
  | { readonly type: 'list'; readonly ask: ListAsk }
  | { readonly type: 'hello'; readonly hello: Hello }
  /** One hash a range over what both members should hold. */
  | { readonly type: 'digest'; readonly hashes: Uint32Array }
  | { readonly type: 'range'; readonly range: number; readonly entries: readonly Entry[] }
  | ({ readonly type: 'missed'; readonly names: readonly string[] } & Numbered);

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
  | { readonly type: 'ok' };

export interface Frame<T> {
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
  'missed',
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
] as const;
const modes: readonly StoreMode[] = ['any', 'create', 'update'];

const writer = new ByteWriter(64 * 1024);

export function encodeMessages(frame: Frame<Message>, nowMs: number): Uint8Array {
  startFrame(frame.from, frame.items.length);
  for (const message of frame.items) {
    writer.u8(messageTypes.indexOf(message.type));
    encodeMessage(message, nowMs);
  }
  return writer.copy();
}

export function encodeAnswers(frame: Frame<Answer>, nowMs: number): Uint8Array {
  startFrame(frame.from, frame.items.length);
  for (const answer of frame.items) {
    writer.u8(answerTypes.indexOf(answer.type));
    encodeAnswer(answer, nowMs);
  }
  return writer.copy();
}

/** Throws MalformedError for anything but a whole frame. */
export function decodeMessages(bytes: Uint8Array, nowMs: number): Frame<Message> {
  return decodeFrame(bytes, (from) => decodeMessage(from, nowMs));
}

/** Throws MalformedError for anything but a whole frame. */
export function decodeAnswers(bytes: Uint8Array, nowMs: number): Frame<Answer> {
  return decodeFrame(bytes, (from) => decodeAnswer(from, nowMs));
}

function startFrame(from: string, count: number): void {
  writer.reset();
  writer.u8(protocol.max);
  writer.text(from);
  writer.varint(count);
}

function decodeFrame<T>(bytes: Uint8Array, item: (from: ByteReader) => T): Frame<T> {
  const reader = new ByteReader(bytes);
  const version = reader.u8();
  if (version < protocol.min || version > protocol.max) {
    throw new MalformedError(
      `A frame has protocol ${version}; this release knows up to ${protocol.max}.`,
    );
  }
  const from = reader.text();
  const items = readMany(reader, item);
  if (reader.left > 0) throw new MalformedError(`A frame has ${reader.left} bytes too many.`);
  return { from, items };
}

/** A count, then that many; a count larger than the bytes left is a lie and not worth the memory. */
function readMany<T>(from: ByteReader, item: (from: ByteReader) => T): T[] {
  const count = from.varint();
  if (count > from.left)
    throw new MalformedError(`A frame announces ${count} items and is too short.`);
  return Array.from({ length: count }, () => item(from));
}

function encodeMessage(message: Message, nowMs: number): void {
  switch (message.type) {
    case 'store':
      writer.u8(modes.indexOf(message.mode));
      return encodeRecord(writer, message.record, nowMs);
    case 'claim':
      encodeEntry(message.entry);
      writer.f64(message.termMs);
      writer.u8(message.position);
      return writer.u8(message.calling ? 1 : 0);
    case 'offer':
      return encodeEntry(message.entry);
    case 'read':
      return encodeNumber(message);
    case 'list':
      return encodeAsk(message.ask);
    case 'hello':
      return encodeHello(message.hello);
    case 'digest':
      return writer.blob(
        new Uint8Array(message.hashes.buffer, message.hashes.byteOffset, message.hashes.byteLength),
      );
    case 'range':
      writer.u8(message.range);
      writer.varint(message.entries.length);
      for (const entry of message.entries) encodeEntry(entry);
      return;
    case 'missed':
      encodeNumber(message);
      writer.varint(message.names.length);
      for (const name of message.names) writer.text(name);
  }
}

function decodeMessage(from: ByteReader, nowMs: number): Message {
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
      };
    case 'offer':
      return { type, entry: decodeEntry(from) };
    case 'read':
      return { type, hi: from.u32(), lo: from.u32() };
    case 'list':
      return { type, ask: decodeAsk(from) };
    case 'hello':
      return { type, hello: decodeHello(from) };
    case 'digest':
      return { type, hashes: decodeHashes(from.blob()) };
    case 'range':
      return { type, range: from.u8(), entries: readMany(from, decodeEntry) };
    case 'missed':
      return { type, hi: from.u32(), lo: from.u32(), names: readMany(from, (text) => text.text()) };
  }
}

function encodeAnswer(answer: Answer, nowMs: number): void {
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
      return encodeHello(answer.hello);
    case 'ranges':
      return writer.blob(Uint8Array.from(answer.ranges));
    case 'difference':
      writer.varint(answer.newer.length);
      for (const record of answer.newer) encodeRecord(writer, record, nowMs);
      writer.varint(answer.want.length);
      for (const number of answer.want) encodeNumber(number);
      return;
    case 'stored':
    case 'granted':
    case 'unknown':
    case 'need':
    case 'ok':
  }
}

function decodeAnswer(from: ByteReader, nowMs: number): Answer {
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
    case 'stored':
    case 'granted':
    case 'unknown':
    case 'need':
    case 'ok':
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

function encodeAsk(ask: ListAsk): void {
  writer.text(ask.namespace);
  writer.u8(ask.tag === null ? 0 : 1);
  if (ask.tag !== null) writer.text(ask.tag);
  writer.text(ask.state);
  writer.text(ask.cursor);
  writer.varint(ask.limit);
}

function decodeAsk(from: ByteReader): ListAsk {
  return {
    namespace: from.text(),
    tag: from.u8() === 1 ? from.text() : null,
    state: from.text(),
    cursor: from.text(),
    limit: from.varint(),
  };
}

function encodeHello(hello: Hello): void {
  writer.text(hello.release);
  writer.u8(hello.protocolMin);
  writer.u8(hello.protocolMax);
  writer.text(hello.viewId);
  writer.u32(hello.boot);
  writer.f64(hello.historyMs);
  writer.u8(hello.leaving ? 1 : 0);
  writer.f64(hello.wallMs);
  writer.varint(hello.timers);
  writer.varint(hello.primaries);
}

function decodeHello(from: ByteReader): Hello {
  return {
    release: from.text(),
    protocolMin: from.u8(),
    protocolMax: from.u8(),
    viewId: from.text(),
    boot: from.u32(),
    historyMs: from.f64(),
    leaving: from.u8() === 1,
    wallMs: from.f64(),
    timers: from.varint(),
    primaries: from.varint(),
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
