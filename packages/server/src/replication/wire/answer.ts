/** The answers to messages: their types, and their form in a frame (`frame.ts`). */
import {
  type ByteReader,
  type ByteWriter,
  decodeRecord,
  type Progress,
  type TimerRecord,
} from '@carillon/core';
import type { Attempt } from '../../timer/attempt.ts';
import type { HistoryRead } from '../../history/read.ts';
import { decodeHello, encodeHello, type Hello } from './hello.ts';
import { decodeHistoryRead, encodeHistoryRead } from './history.ts';
import { decodeGroup, encodeGroup, type TallyGroup } from './list.ts';
import {
  decodeAttempt,
  decodeNumber,
  decodeProgress,
  encodeAttempt,
  encodeNumber,
  encodeProgress,
  encodeTimer,
  known,
  type Numbered,
  readMany,
  type ReadScope,
  type Scope,
} from './parts.ts';
import { decodeFound, encodeFound, type Found } from './search.ts';

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
  | { readonly type: 'tally'; readonly groups: readonly TallyGroup[] }
  | { readonly type: 'history'; readonly read: HistoryRead }
  /** JSON, so that releases can tell more. */
  | { readonly type: 'facts'; readonly text: string }
  | ({ readonly type: 'found' } & Found)
  /** As many as were asked for, in their order. */
  | { readonly type: 'details'; readonly details: readonly Detail[] };

/** Of the newest attempt at a timer that a member remembers. */
export interface Detail {
  /** Wall-clock milliseconds when the attempt began; 0: none is remembered. */
  readonly atMs: number;
  /** As in `Attempt`. */
  readonly text: string;
}

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
  'history',
  'facts',
  'found',
  'details',
] as const;

export function encodeAnswer(writer: ByteWriter, answer: Answer, scope: Scope): void {
  const { nowMs, version } = scope;
  writer.u8(answerTypes.indexOf(answer.type));
  switch (answer.type) {
    case 'have':
      return encodeProgress(writer, answer.progress);
    case 'refused':
      return writer.u8(answer.why === 'full' ? 1 : 0);
    case 'ahead':
      return encodeTimer(writer, answer.record, scope);
    case 'claimed':
      return writer.f64(answer.leftMs);
    case 'record':
      writer.u8(answer.record === null ? 0 : 1);
      if (answer.record !== null) encodeTimer(writer, answer.record, scope);
      return;
    case 'records':
      writer.text(answer.stopped);
      writer.varint(answer.records.length);
      for (const record of answer.records) encodeTimer(writer, record, scope);
      return;
    case 'hello':
      return encodeHello(writer, answer.hello, version);
    case 'ranges':
      return writer.blob(Uint8Array.from(answer.ranges));
    case 'difference':
      writer.varint(answer.newer.length);
      for (const record of answer.newer) encodeTimer(writer, record, scope);
      writer.varint(answer.want.length);
      for (const number of answer.want) encodeNumber(writer, number);
      return;
    case 'attempts':
      writer.varint(answer.attempts.length);
      for (const attempt of answer.attempts) encodeAttempt(writer, attempt, version);
      return;
    case 'tally':
      writer.varint(answer.groups.length);
      for (const group of answer.groups) encodeGroup(writer, group, nowMs);
      return;
    case 'history':
      return encodeHistoryRead(writer, answer.read, version);
    case 'facts':
      return writer.text(answer.text);
    case 'found':
      return encodeFound(writer, answer, scope);
    case 'details':
      writer.varint(answer.details.length);
      for (const { atMs, text } of answer.details) {
        writer.f64(atMs);
        writer.text(text);
      }
      return;
    case 'stored':
    case 'granted':
    case 'unknown':
    case 'need':
    case 'ok':
    case 'later':
  }
}

export function decodeAnswer(from: ByteReader, scope: ReadScope): Answer {
  const { sentMs, version } = scope;
  const record = (): TimerRecord => decodeRecord(from, sentMs);
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
      return { type, hello: decodeHello(from, version) };
    case 'ranges':
      return { type, ranges: [...from.blob()] };
    case 'difference':
      return { type, newer: readMany(from, record), want: readMany(from, decodeNumber) };
    case 'attempts':
      return { type, attempts: readMany(from, (one) => decodeAttempt(one, version)) };
    case 'tally':
      return { type, groups: readMany(from, (one) => decodeGroup(one, sentMs)) };
    case 'history':
      return { type, read: decodeHistoryRead(from) };
    case 'facts':
      return { type, text: from.uniqueText() };
    case 'found':
      return { type, ...decodeFound(from, scope) };
    case 'details':
      return {
        type,
        details: readMany(from, () => ({ atMs: from.f64(), text: from.uniqueText() })),
      };
    case 'stored':
    case 'granted':
    case 'unknown':
    case 'need':
    case 'ok':
    case 'later':
      return { type };
  }
}
