/** JSON from strangers: valid UTF-8, nested no deeper than allowed, or a CarillonError. */
import { isUtf8 } from 'node:buffer';
import { badRequest } from './problem.ts';

/**
 * Throws CarillonError. JavaScript's parser is happy with any depth, but whatever walks over the result later need not
 * be; and it would quietly replace bytes that are not UTF-8, where a client's text must come back byte for byte.
 */
export function parseJson(bytes: Uint8Array, depthMax: number): unknown {
  if (!isUtf8(bytes)) throw badRequest('The body is not valid UTF-8.');
  const { buffer, byteOffset, byteLength } = bytes;
  const value = parseText(Buffer.from(buffer, byteOffset, byteLength).toString('utf8'));
  if (deeperThan(value, depthMax)) {
    throw badRequest(`The body is nested deeper than ${depthMax} levels.`);
  }
  return value;
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

/** Goes no deeper than `depthMax` itself. */
function deeperThan(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depthMax === 0) return true;
  if (Array.isArray(value)) return value.some((item) => deeperThan(item, depthMax - 1));
  const members = value as Record<string, unknown>;
  // Not Object.values: bodies are many and small, and it makes a list of each.
  for (const name in members) if (deeperThan(members[name], depthMax - 1)) return true;
  return false;
}
