/**
 * The header `traceparent` of W3C Trace Context: which trace a request belongs to, and which span of it made the
 * request. A text of version 00 is kept as it is: `00-<32 hex trace>-<16 hex span>-<2 hex flags>`; in bytes it is the
 * 25 that the digits stand for. Read by index, in time that does not depend on the text's length.
 */
import type { ByteReader, ByteWriter } from './bytes.ts';

const textLength = 55;
/** Bytes of the trace, the span and the flags. */
export const traceBytes = 25;
const dash = 0x2d;
const traceAt = 3;
const spanAt = 36;
const flagsAt = 53;

/**
 * The trace that the text names, in the form of version 00; null: it is no `traceparent`, which is the same as none.
 */
export function parseTraceparent(text: string): string | null {
  if (text.length < textLength || !hasForm(text)) return null;
  if (text.startsWith('00')) return text.length === textLength ? text : null;
  // A version that is not known yet may have more parts behind the flags. Version ff is none.
  if (text.startsWith('ff')) return null;
  if (text.length > textLength && text.charCodeAt(textLength) !== dash) return null;
  return `00${text.slice(2, textLength)}`;
}

/** Whether a trace that was parsed is recorded by the party that sent it. */
export function isSampled(trace: string): boolean {
  return (digit(trace.charCodeAt(textLength - 1)) & 1) === 1;
}

/** 32 digits. */
export function traceIdOf(trace: string): string {
  return trace.slice(traceAt, spanAt - 1);
}

/** 16 digits. */
export function spanIdOf(trace: string): string {
  return trace.slice(spanAt, flagsAt - 1);
}

/** Of a trace that was parsed. */
export function encodeTrace(out: ByteWriter, trace: string): void {
  encodeHex(out, trace, traceAt, spanAt - 1);
  encodeHex(out, trace, spanAt, flagsAt - 1);
  encodeHex(out, trace, flagsAt, textLength);
}

/** Throws MalformedError where there are too few bytes. */
export function decodeTrace(from: ByteReader): string {
  const bytes = from.raw(traceBytes);
  return `00-${hexOf(bytes, 0, 16)}-${hexOf(bytes, 16, 24)}-${hexOf(bytes, 24, 25)}`;
}

function hasForm(text: string): boolean {
  return (
    isHex(text, 0, 2) &&
    text.charCodeAt(2) === dash &&
    isHex(text, traceAt, spanAt - 1) &&
    text.charCodeAt(spanAt - 1) === dash &&
    isHex(text, spanAt, flagsAt - 1) &&
    text.charCodeAt(flagsAt - 1) === dash &&
    isHex(text, flagsAt, textLength) &&
    !isZero(text, traceAt, spanAt - 1) &&
    !isZero(text, spanAt, flagsAt - 1)
  );
}

/** Small letters only, as the standard says. */
function isHex(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (digit(text.charCodeAt(at)) < 0) return false;
  return true;
}

function isZero(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (text.charCodeAt(at) !== 0x30) return false;
  return true;
}

/** −1: no digit. */
function digit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
}

function encodeHex(out: ByteWriter, text: string, from: number, to: number): void {
  for (let at = from; at < to; at += 2)
    out.u8(digit(text.charCodeAt(at)) * 16 + digit(text.charCodeAt(at + 1)));
}

const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hexOf(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++) text += pairs[bytes[at] as number] as string;
  return text;
}
