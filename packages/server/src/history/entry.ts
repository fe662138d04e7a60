/**
 * One entry of the history: an attempt at a callback, or a change of a timer with the name of the token that asked for
 * it. Texts (namespace, actor, tag, answer) stand once in the block that holds the entry, and entries name them by
 * number.
 *
 * Bytes of an attempt: head (bit 0: 0, bit 1: has a detail), time, number, namespace, sequence, attempt, lateness and
 * duration in tenths of a millisecond, outcome, position, and the detail where there is one. Bytes of a change: head
 * (bit 0: 1, the action above it), time, number, namespace, version, sequence, actor, tag. Times are relative to the
 * block's base.
 */
import { type ByteReader, type ByteWriter, MalformedError } from '@carillon/core';

/** Changes by name; the place of each in the list is its code on disk and on the wire, so new ones come last. */
export const actions = [
  'set',
  'replace',
  'cancel',
  'redeliver',
  'discard',
  'run',
  'drop',
  'give-up',
  'erase',
  'drain',
  'resync',
] as const;

export type Action = (typeof actions)[number];

interface Common {
  /** Wall-clock milliseconds when the entry was made; of an attempt, its end. */
  readonly wallMs: number;
  readonly namespace: string;
  /** The number of the timer, as members keep it. */
  readonly hi: number;
  readonly lo: number;
}

export interface AttemptEntry extends Common {
  readonly kind: 'attempt';
  readonly sequence: number;
  readonly attempt: number;
  readonly latenessMs: number;
  readonly tookMs: number;
  /** As in records: an HTTP status, or the code of a reason. */
  readonly outcome: number;
  /** The position of the member among the replicas; 0: it was the primary. */
  readonly position: number;
  /** The first bytes of a failing receiver's answer, or why there was none; empty where neither is kept. */
  readonly detail: string;
}

export interface ChangeEntry extends Common {
  readonly kind: 'change';
  readonly action: Action;
  readonly versionMs: number;
  readonly versionTie: number;
  /** The pop that it is about; 0: the timer as a whole. */
  readonly sequence: number;
  /** The name of the token; empty: no token was asked for, or a member acted by itself. */
  readonly actor: string;
  /** By which tag the timer was chosen; empty: by its id. */
  readonly tag: string;
}

export type Entry = AttemptEntry | ChangeEntry;

/** Gives each text of a block its number. */
export interface TextNumbers {
  number(text: string): number;
}

export function encodeEntry(
  writer: ByteWriter,
  texts: TextNumbers,
  entry: Entry,
  baseMs: number,
): void {
  if (entry.kind === 'attempt') encodeAttempt(writer, texts, entry, baseMs);
  else encodeChange(writer, texts, entry, baseMs);
}

function encodeAttempt(
  writer: ByteWriter,
  texts: TextNumbers,
  entry: AttemptEntry,
  baseMs: number,
): void {
  writer.u8(entry.detail === '' ? 0 : 2);
  encodeCommon(writer, texts, entry, baseMs);
  writer.varint(entry.sequence);
  writer.varint(entry.attempt);
  writer.varint(tenths(entry.latenessMs));
  writer.varint(tenths(entry.tookMs));
  writer.varint(entry.outcome);
  writer.varint(entry.position);
  if (entry.detail !== '') writer.varint(texts.number(entry.detail));
}

function encodeChange(
  writer: ByteWriter,
  texts: TextNumbers,
  entry: ChangeEntry,
  baseMs: number,
): void {
  writer.u8(1 | (actions.indexOf(entry.action) << 1));
  encodeCommon(writer, texts, entry, baseMs);
  writer.varint(zigzag(Math.round(entry.versionMs) - baseMs));
  writer.varint(entry.versionTie);
  writer.varint(entry.sequence);
  writer.varint(texts.number(entry.actor));
  writer.varint(texts.number(entry.tag));
}

function encodeCommon(writer: ByteWriter, texts: TextNumbers, entry: Entry, baseMs: number): void {
  writer.varint(zigzag(Math.round(entry.wallMs) - baseMs));
  writer.u32(entry.hi);
  writer.u32(entry.lo);
  writer.varint(texts.number(entry.namespace));
}

/** Throws MalformedError. */
export function decodeEntry(from: ByteReader, texts: readonly string[], baseMs: number): Entry {
  const text = (): string => known(texts[from.varint()]);
  const head = from.u8();
  const wallMs = unzigzag(from.varint()) + baseMs;
  const hi = from.u32();
  const lo = from.u32();
  const namespace = text();
  if ((head & 1) === 1) {
    const action = known(actions[head >>> 1]);
    const versionMs = unzigzag(from.varint()) + baseMs;
    const versionTie = from.varint();
    const sequence = from.varint();
    const named = { actor: text(), tag: text() };
    const common = { wallMs, namespace, hi, lo };
    return { kind: 'change', ...common, action, versionMs, versionTie, sequence, ...named };
  }
  return {
    kind: 'attempt',
    wallMs,
    namespace,
    hi,
    lo,
    sequence: from.varint(),
    attempt: from.varint(),
    latenessMs: from.varint() / 10,
    tookMs: from.varint() / 10,
    outcome: from.varint(),
    position: from.varint(),
    detail: (head & 2) === 2 ? text() : '',
  };
}

/** Takes entries. */
export interface Notes {
  /** The entry is written down before this returns, and not kept: the caller may fill it again for the next one. */
  note(entry: Entry): void;
}

/** One object that is filled again for each attempt: in a burst of pops an object for each costs twice as much. */
export type AttemptToFill = { -readonly [K in keyof AttemptEntry]: AttemptEntry[K] };

export function attemptToFill(): AttemptToFill {
  return {
    kind: 'attempt',
    wallMs: 0,
    namespace: '',
    hi: 0,
    lo: 0,
    sequence: 0,
    attempt: 0,
    latenessMs: 0,
    tookMs: 0,
    outcome: 0,
    position: 0,
    detail: '',
  };
}

/** The same entry without the words of a receiver. */
export function withoutAnswer(entry: Entry): Entry {
  return entry.kind === 'attempt' && entry.detail !== '' ? { ...entry, detail: '' } : entry;
}

/** Numbers of timers that differ have mostly different hashes. */
export function hashOf(hi: number, lo: number): number {
  const mixed = Math.imul(Math.imul(hi ^ (hi >>> 15), 0x9e3779b1) ^ lo, 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

function tenths(ms: number): number {
  return Math.max(0, Math.round(ms * 10));
}

/** Numbers near 0 stay short, with either sign. */
function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function unzigzag(value: number): number {
  return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new MalformedError('An entry names a text that is not there.');
  return value;
}
