/** JSON from strangers: valid UTF-8, nested no deeper than allowed, or a CarillonError. */
import { isUtf8 } from 'node:buffer';
import { badRequest } from './problem.ts';

const quote = 0x22;
const backslash = 0x5c;
// `{` and `[` differ from `}` and `]` by two, and from each other by one bit.
const openBracket = 0x5b;
const closeBracket = 0x5d;
const caseBit = 0x20;

/**
 * Throws CarillonError. JavaScript's parser is happy with any depth, but whatever walks over the result later need not
 * be; and it would quietly replace bytes that are not UTF-8, where a client's text must come back byte for byte.
 */
export function parseJson(bytes: Uint8Array, depthMax: number): unknown {
  if (!isUtf8(bytes)) throw badRequest('The body is not valid UTF-8.');
  if (deeperThan(bytes, depthMax)) {
    throw badRequest(`The body is nested deeper than ${depthMax} levels.`);
  }
  const { buffer, byteOffset, byteLength } = bytes;
  return parseText(Buffer.from(buffer, byteOffset, byteLength).toString('utf8'));
}

/** The lines of NDJSON, each parsed by itself: a bad line is an error in the place of its value. */
export function parseLines(bytes: Uint8Array, depthMax: number): (() => unknown)[] {
  const lines: (() => unknown)[] = [];
  for (let from = 0; from < bytes.length; ) {
    const found = bytes.indexOf(0x0a, from);
    const to = found === -1 ? bytes.length : found;
    const line = bytes.subarray(from, to);
    if (!blank(line)) lines.push(() => parseJson(line, depthMax));
    from = to + 1;
  }
  return lines;
}

function blank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw badRequest(`The body is not valid JSON: ${why.slice(0, 200)}.`);
  }
}

/** Counts brackets outside strings; on text that is not JSON the answer does not matter. */
function deeperThan(bytes: Uint8Array, depthMax: number): boolean {
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === quote) {
      for (i++; i < bytes.length && bytes[i] !== quote; i++) if (bytes[i] === backslash) i++;
    } else if ((byte & ~caseBit) === openBracket) {
      if (++depth > depthMax) return true;
    } else if ((byte & ~caseBit) === closeBracket) depth--;
  }
  return false;
}
