/**
 * The place of a tag in an order in which tags with the same beginning stand together, as a number of 38 bits. Never
 * leaves the process, so the order may change freely.
 *
 *   25 bits   the first five bytes of the tag, five bits of each
 *    3 bits   a hash of its group, 1 to 7; 0 where it has none
 *   10 bits   the two bytes behind the group, five bits of each; without a group, the two behind the first five
 *
 * The group of a tag goes up to and with its first separator, or up to its first digit: `order:` of `order:1234`,
 * `user` of `user1234`. So tags that begin with `order:12` are in one span, and so are tags that begin with `ord`. A
 * span may hold other tags too: a list compares the tags themselves.
 */

/** From the one number up to the other, both included. */
export interface TagSpan {
  readonly from: number;
  readonly to: number;
}

const headLength = 5;
const tailLength = 2;
const symbolBits = 5;
const symbolCount = 2 ** symbolBits;
const groupCount = 8;
const tailCount = symbolCount ** tailLength;
/** Numbers that share a head. */
const headSpan = groupCount * tailCount;

/** Of the tag bytes[from, to). */
export function tagPlace(bytes: Uint8Array, from: number, to: number): number {
  const end = groupEnd(bytes, from, to);
  const head = symbols(bytes, from, Math.min(to, from + headLength), headLength);
  const tailFrom = end === -1 ? Math.min(to, from + headLength) : end;
  const tail = symbols(bytes, tailFrom, Math.min(to, tailFrom + tailLength), tailLength);
  return head * headSpan + groupOf(bytes, from, end) * tailCount + tail;
}

/** Where all tags stand that begin with the text. */
export function tagSpans(text: Uint8Array): readonly TagSpan[] {
  const head = symbols(text, 0, Math.min(text.length, headLength), headLength);
  const unknown = symbolCount ** Math.max(0, headLength - text.length);
  const whole = { from: head * headSpan, to: (head + unknown) * headSpan - 1 };
  if (text.length < headLength) return [whole];
  const end = groupEnd(text, 0, text.length);
  if (end !== -1) return [tailSpan(whole.from + groupOf(text, 0, end) * tailCount, text, end)];
  // Its tags have no group, or one that is longer than the text.
  return [tailSpan(whole.from, text, headLength), { from: whole.from + tailCount, to: whole.to }];
}

/** The numbers from `start` on whose tail begins with the bytes of the text behind `at`. */
function tailSpan(start: number, text: Uint8Array, at: number): TagSpan {
  const known = Math.min(tailLength, text.length - at);
  const from = start + symbols(text, at, at + known, tailLength);
  return { from, to: from + symbolCount ** (tailLength - known) - 1 };
}

/** Behind the first separator, or before the first digit behind another byte; −1 where there is neither. */
function groupEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (isSeparator(byte)) return at + 1;
    if (at > from && isDigit(byte) && !isDigit(bytes[at - 1] as number)) return at;
  }
  return -1;
}

function groupOf(bytes: Uint8Array, from: number, end: number): number {
  if (end === -1) return 0;
  let hash = 0x811c9dc5 | 0;
  for (let at = from; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return 1 + (((hash ^ (hash >>> 15)) >>> 0) % (groupCount - 1));
}

/** The bytes [from, to) as one number of `length` symbols; places behind `to` are 0. */
function symbols(bytes: Uint8Array, from: number, to: number, length: number): number {
  let number = 0;
  for (let at = from; at < to; at++)
    number = number * symbolCount + ((bytes[at] as number) & (symbolCount - 1));
  return number * symbolCount ** (length - (to - from));
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** `:` `/` `.` `-` `_` and blank: a tag such as `order:17` belongs to `order:`. */
function isSeparator(byte: number): boolean {
  return (
    byte === 0x3a ||
    byte === 0x2f ||
    byte === 0x2e ||
    byte === 0x2d ||
    byte === 0x5f ||
    byte === 0x20
  );
}
