/**
 * The form of the journal's files: names, header and entries. Segments and snapshots share it.
 *
 *   header:  "carillon" · form u16 · kind u8 · number u32 · salt u32 · identity text · checksum u32
 *            (in every form, so that a header of a later release is told from a damaged one)
 *   entry:   checksum u32 · length u32 · payload          (the checksum covers the length and the payload)
 *   payload: kind u8, then: put: a record · drop: hi u32, lo u32 · mark: f64 · end: count f64 ·
 *            rows: count u32, blob (many records as the store has them; in snapshots, from form 3 on)
 *
 * The salt seeds the checksums of a file's entries, so that bytes which a client managed to place inside a
 * record can never pass for an entry of their own when the file is damaged around them.
 */
import {
  ByteReader,
  ByteWriter,
  decodeRecordInto,
  encodeRecord,
  invariant,
  MalformedError,
  RecordBuffer,
  type TimerRecord,
} from '@carillon/core';
import { checksum, checksumIn } from './checksum.ts';
import { forms } from './form.ts';

/** The first bytes of every file of Carillon. */
export const startOfFile = Uint8Array.from('carillon', (letter) => letter.charCodeAt(0));
const identityLengthMax = 1024;
/** No header is longer. */
export const headerBytesMax = 2048;
/** In front of each payload. */
export const entryHeadBytes = 8;
/** No body and no payload is longer; the API's limits are far below. */
const bodyBytesMax = 16 * 1024 * 1024;
export const payloadBytesMax = bodyBytesMax + 1024 * 1024;

export type FileKind = 'journal' | 'snapshot';
const kindCode = { journal: 1, snapshot: 2 } as const;
const extension = { journal: 'log', snapshot: 'snap' } as const;
/** A snapshot being written. */
export const snapshotPartName = 'snapshot.part';

/** Ten digits, so that files list in order. */
export function fileName(kind: FileKind, number: number): string {
  return `${kind}-${String(number).padStart(10, '0')}.${extension[kind]}`;
}

/** The number in a file's name; null when it is not of that kind. */
export function fileNumber(kind: FileKind, name: string): number | null {
  const digits = name.slice(kind.length + 1, kind.length + 11);
  const number = /^\d{10}$/.test(digits) ? Number(digits) : null;
  return number !== null && name === fileName(kind, number) ? number : null;
}

export interface Header {
  readonly form: number;
  readonly kind: FileKind;
  readonly number: number;
  readonly salt: number;
  readonly identity: string;
}

/** The header of a release that knows other forms. */
export class OtherFormError extends Error {
  override readonly name = 'OtherFormError';
}

export function encodeHeader(header: Header): Uint8Array {
  invariant(header.identity.length <= identityLengthMax, 'an identity has at most 1024 characters');
  const out = new ByteWriter(256);
  out.raw(startOfFile);
  out.u16(header.form);
  out.u8(kindCode[header.kind]);
  out.u32(header.number);
  out.u32(header.salt);
  out.text(header.identity);
  out.u32(checksum(out.written(), 0, out.length, 0));
  return out.copy();
}

export interface DecodedHeader {
  readonly header: Header;
  /** In bytes. */
  readonly length: number;
}

/**
 * Throws MalformedError, with a sentence, for bytes that are no header, and OtherFormError for one in a form that is
 * not read here.
 */
export function decodeHeader(bytes: Uint8Array): DecodedHeader {
  const from = new ByteReader(bytes);
  const start = from.raw(startOfFile.length);
  if (!start.every((byte, i) => byte === startOfFile[i])) {
    throw new MalformedError('It does not start like a file of Carillon.');
  }
  const form = from.u16();
  const kind = from.u8() === kindCode.snapshot ? 'snapshot' : 'journal';
  const number = from.u32();
  const salt = from.u32();
  const identity = from.text();
  const length = bytes.length - from.left;
  if (from.u32() !== checksum(bytes, 0, length, 0)) {
    throw new MalformedError('The checksum of its header is wrong.');
  }
  if (form < forms.oldest || form > forms.newest) {
    throw new OtherFormError(
      `It has form ${form} and this release reads forms ${forms.oldest} to ${forms.newest}: use the release that wrote it.`,
    );
  }
  return { header: { form, kind, number, salt, identity }, length: length + 4 };
}

const payloadKind = { put: 1, drop: 2, mark: 3, end: 4, rows: 5 } as const;

/** The content of a file, entry by entry. */
export interface EntrySink {
  /** The record is lent: it changes with the next entry. */
  put(record: TimerRecord): void;
  drop(hi: number, lo: number): void;
  mark(ms: number): void;
  /** The last entry of a snapshot: how many records it holds. */
  end(count: number): void;
  /** So many rows of the store in one block, whose bytes are lent. */
  rows(bytes: Uint8Array, count: number, baseMs: number): void;
}

/** Collects entries to be written together. Reused: `seal`, write, `reset`. */
export class EntryWriter {
  private readonly out = new ByteWriter(64 * 1024);
  private entryCount = 0;

  get length(): number {
    return this.out.length;
  }

  /** Entries collected. */
  get count(): number {
    return this.entryCount;
  }

  put(record: TimerRecord, baseMs: number): void {
    invariant(record.body.length <= bodyBytesMax, 'the body of a record is within its limit');
    const start = this.begin(payloadKind.put);
    encodeRecord(this.out, record, baseMs);
    this.finish(start);
  }

  drop(hi: number, lo: number): void {
    const start = this.begin(payloadKind.drop);
    this.out.u32(hi);
    this.out.u32(lo);
    this.finish(start);
  }

  mark(ms: number): void {
    const start = this.begin(payloadKind.mark);
    this.out.f64(ms);
    this.finish(start);
  }

  end(count: number): void {
    const start = this.begin(payloadKind.end);
    this.out.f64(count);
    this.finish(start);
  }

  /** A block of rows counts as so many entries. */
  rows(bytes: Uint8Array, count: number): void {
    const start = this.begin(payloadKind.rows);
    this.out.u32(count);
    this.out.blob(bytes);
    this.finish(start);
    this.entryCount += count - 1;
  }

  /** Fills in the checksums for the file with this salt. The bytes are valid until the next entry. */
  seal(salt: number): Uint8Array {
    const bytes = this.out.written();
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; ) {
      const end = at + entryHeadBytes + view.getUint32(at + 4, true);
      view.setUint32(at, checksumIn(view, at + 4, end, salt), true);
      at = end;
    }
    return bytes;
  }

  /** Adds the entries of another one behind these. */
  absorb(other: EntryWriter): void {
    this.out.raw(other.out.written());
    this.entryCount += other.entryCount;
  }

  reset(): void {
    this.out.reset();
    this.entryCount = 0;
  }

  private begin(kind: number): number {
    const start = this.out.length;
    this.entryCount++;
    this.out.u32(0);
    this.out.u32(0);
    this.out.u8(kind);
    return start;
  }

  private finish(start: number): void {
    this.out.patchU32(start + 4, this.out.length - start - entryHeadBytes);
  }
}

/** Whether a payload could start with this byte. */
export function isPayloadKind(byte: number | undefined): boolean {
  return byte !== undefined && byte >= payloadKind.put && byte <= payloadKind.rows;
}

const lent = new RecordBuffer();

/** Hands the payload that comes next to the sink. Throws MalformedError for bytes that are not one. */
export function decodePayload(from: ByteReader, baseMs: number, sink: EntrySink): void {
  const kind = from.u8();
  if (kind === payloadKind.put) putRecord(from, baseMs, sink);
  else if (kind === payloadKind.drop) sink.drop(from.u32(), from.u32());
  else if (kind === payloadKind.mark) sink.mark(from.f64());
  else if (kind === payloadKind.end) sink.end(from.f64());
  else if (kind === payloadKind.rows) passRows(from, baseMs, sink);
  else throw new MalformedError(`An entry has a kind ${kind} that this release does not know.`);
}

function putRecord(from: ByteReader, baseMs: number, sink: EntrySink): void {
  decodeRecordInto(lent, from, baseMs);
  sink.put(lent);
}

function passRows(from: ByteReader, baseMs: number, sink: EntrySink): void {
  const count = from.u32();
  sink.rows(from.blob(), count, baseMs);
}
