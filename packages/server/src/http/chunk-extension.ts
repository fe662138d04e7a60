/**
 * Extensions of a chunk (RFC 9112 §7.1.1): they mean nothing here, but no other reader may take a part of them for
 * something else.
 */
import { semicolon, tokenBytes, valueBytes } from './syntax.ts';

const equals = 0x3d;
const quote = 0x22;
const backslash = 0x5c;
const malformed = -1;

/**
 * Whether the bytes between the two indexes are extensions: `;name`, `;name=value` or `;name="value"`, any number, no
 * blanks.
 */
export function areExtensions(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  while (at < to) {
    if (bytes[at] !== semicolon) return false;
    at = tokenEnd(bytes, at + 1, to);
    if (at !== malformed && at < to && bytes[at] === equals) at = valueEnd(bytes, at + 1, to);
    if (at === malformed) return false;
  }
  return true;
}

function tokenEnd(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && tokenBytes[bytes[at] as number] === 1) at++;
  return at === from ? malformed : at;
}

function valueEnd(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] !== quote || from >= to) return tokenEnd(bytes, from, to);
  for (let at = from + 1; at < to; at++) {
    if (bytes[at] === quote) return at + 1;
    if (bytes[at] === backslash) at++;
    if (at >= to || valueBytes[bytes[at] as number] === 0) return malformed;
  }
  return malformed;
}
