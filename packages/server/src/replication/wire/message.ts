/** The messages of one member to another: their types, and their form in a frame (`frame.ts`). */
import {
  type ByteReader,
  type ByteWriter,
  decodeRecord,
  MalformedError,
  type TimerRecord,
} from '@carillon/core';
import { decodeHello, encodeHello, type Hello } from './hello.ts';
import type { HistoryAsk } from '../../history/read.ts';
import { decodeHistoryAsk, encodeHistoryAsk } from './history.ts';
import { decodeAsk, encodeAsk, type ListAsk } from './list.ts';
import {
  decodeNumber,
  decodeStanding,
  encodeStanding,
  encodeNumber,
  encodeTimer,
  type RecordStanding,
  known,
  type Numbered,
  readMany,
  type ReadScope,
  type Scope,
} from './parts.ts';
import { decodeSearch, encodeSearch, type SearchAsk } from './search.ts';

/**
 * How a `store` treats the receiver's record: any: merge. create: only where there is none. update: only over an older
 * one.
 */
export type StoreMode = 'any' | 'create' | 'update';

export type Message =
  | { readonly type: 'store'; readonly mode: StoreMode; readonly record: TimerRecord }
  | {
      readonly type: 'claim';
      readonly standing: RecordStanding;
      readonly termMs: number;
      readonly position: number;
      /** The call is in flight: this claim is a renewal. */
      readonly calling: boolean;
      /** The same for all that is said of one pop, another after it was given back. 0 before protocol 3. */
      readonly serial: number;
      /**
       * When the claimant takes the pop to be due, as if the claim had left when it was read (C6 in `claims.ts`);
       * Infinity before protocol 3.
       */
      readonly dueMs: number;
    }
  /** `dueMs`: Infinity in a frame of an older release, which does not say. */
  | { readonly type: 'offer'; readonly standing: RecordStanding; readonly dueMs: number }
  | ({ readonly type: 'read' } & Numbered)
  | { readonly type: 'list'; readonly ask: ListAsk }
  | { readonly type: 'hello'; readonly hello: Hello }
  /** One hash a range over the records that both members should hold. */
  | { readonly type: 'digest'; readonly hashes: Uint32Array }
  | {
      readonly type: 'range';
      readonly range: number;
      readonly standings: readonly RecordStanding[];
    }
  | ({ readonly type: 'unconfirmed'; readonly names: readonly string[] } & Numbered)
  | ({ readonly type: 'attempts'; readonly namespace: string } & Numbered)
  /** How many records match that this member speaks for. From protocol 4. */
  | { readonly type: 'tally'; readonly ask: ListAsk }
  | { readonly type: 'history'; readonly ask: HistoryAsk }
  /** The stored answers of this namespace's receivers are to be erased. */
  | { readonly type: 'erase'; readonly namespace: string }
  /** How this member is, as it tells it itself. From protocol 4. */
  | { readonly type: 'facts' }
  /** The next records by due time that this member speaks for. From protocol 5. */
  | { readonly type: 'search'; readonly search: SearchAsk }
  /** The words of failing receivers about the newest attempts of these timers. From protocol 6. */
  | {
      readonly type: 'details';
      readonly namespace: string;
      readonly numbers: readonly Numbered[];
    };

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
  'history',
  'erase',
  'facts',
  'search',
  'details',
] as const;
/** The protocol that brought a message; others are of all protocols. An older member would refuse the whole frame. */
const since: Partial<Record<Message['type'], number>> = {
  tally: 4,
  history: 4,
  erase: 4,
  facts: 4,
  search: 5,
  details: 6,
};

/** Whether a member that speaks this protocol knows the message. */
export function isKnownTo(protocol: number, { type }: Pick<Message, 'type'>): boolean {
  return protocol >= (since[type] ?? 0);
}

const modes: readonly StoreMode[] = ['any', 'create', 'update'];

export function encodeMessage(writer: ByteWriter, message: Message, scope: Scope): void {
  const { nowMs, version } = scope;
  writer.u8(messageTypes.indexOf(message.type));
  switch (message.type) {
    case 'store':
      writer.u8(modes.indexOf(message.mode));
      return encodeTimer(writer, message.record, scope);
    case 'claim':
      encodeStanding(writer, message.standing);
      writer.f64(message.termMs);
      writer.u8(message.position);
      writer.u8(message.calling ? 1 : 0);
      if (version < 3) return;
      writer.u32(message.serial);
      writer.f64(message.dueMs - nowMs);
      return;
    case 'offer':
      encodeStanding(writer, message.standing);
      if (version >= 3) writer.f64(message.dueMs - nowMs);
      return;
    case 'read':
      return encodeNumber(writer, message);
    case 'list':
    case 'tally':
      return encodeAsk(writer, message.ask, version);
    case 'search':
      return encodeSearch(writer, message.search, version);
    case 'hello':
      return encodeHello(writer, message.hello, version);
    case 'digest':
      return writer.blob(
        new Uint8Array(message.hashes.buffer, message.hashes.byteOffset, message.hashes.byteLength),
      );
    case 'range':
      writer.u8(message.range);
      writer.varint(message.standings.length);
      for (const standing of message.standings) encodeStanding(writer, standing);
      return;
    case 'unconfirmed':
      encodeNumber(writer, message);
      writer.varint(message.names.length);
      for (const name of message.names) writer.text(name);
      return;
    case 'attempts':
      writer.text(message.namespace);
      return encodeNumber(writer, message);
    case 'history':
      return encodeHistoryAsk(writer, message.ask);
    case 'erase':
      return writer.text(message.namespace);
    case 'details':
      writer.text(message.namespace);
      writer.varint(message.numbers.length);
      for (const number of message.numbers) encodeNumber(writer, number);
      return;
    case 'facts':
  }
}

export function decodeMessage(from: ByteReader, { nowMs, sentMs, version }: ReadScope): Message {
  const type = known(messageTypes[from.u8()]);
  switch (type) {
    case 'store':
      return { type, mode: known(modes[from.u8()]), record: decodeRecord(from, sentMs) };
    case 'claim':
      return {
        type,
        standing: decodeStanding(from),
        termMs: from.f64(),
        position: from.u8(),
        calling: from.u8() === 1,
        serial: version < 3 ? 0 : from.u32(),
        dueMs: version < 3 ? Infinity : from.f64() + nowMs,
      };
    case 'offer':
      return {
        type,
        standing: decodeStanding(from),
        dueMs: version >= 3 ? from.f64() + sentMs : Infinity,
      };
    case 'read':
      return { type, hi: from.u32(), lo: from.u32() };
    case 'list':
    case 'tally':
      return { type, ask: decodeAsk(from, version) };
    case 'search':
      return { type, search: decodeSearch(from, version) };
    case 'hello':
      return { type, hello: decodeHello(from, version) };
    case 'digest':
      return { type, hashes: decodeHashes(from.blob()) };
    case 'range':
      return { type, range: from.u8(), standings: readMany(from, decodeStanding) };
    case 'unconfirmed':
      return { type, hi: from.u32(), lo: from.u32(), names: readMany(from, (text) => text.text()) };
    case 'history':
      return { type, ask: decodeHistoryAsk(from) };
    case 'erase':
      return { type, namespace: from.text() };
    case 'details':
      return { type, namespace: from.text(), numbers: readMany(from, decodeNumber) };
    case 'attempts':
      return { type, namespace: from.text(), hi: from.u32(), lo: from.u32() };
    case 'facts':
      return { type };
  }
}

function decodeHashes(bytes: Uint8Array): Uint32Array {
  if (bytes.length !== 1024) throw new MalformedError('A digest does not have 256 hashes.');
  // A copy that starts at a multiple of four; `slice` of a Buffer would only be another view.
  return new Uint32Array(Uint8Array.from(bytes).buffer);
}
