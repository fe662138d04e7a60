/**
 * Where the items of a batch begin and end, found by a walk over its bytes before any of them is parsed: an array is
 * never parsed as a whole, so that no body makes one long step. An item that is no JSON is found later, when it is
 * parsed.
 */
import { CarillonError } from '@carillon/core';
import type { Limits } from '../config/config.ts';
import type { Steps } from './long-work.ts';
import { badRequest } from '../http/problem.ts';

export type BatchLimits = Pick<Limits, 'batchItemCountMax' | 'jsonDepthMax' | 'bodyBytesMax'>;

/** Bytes that are walked over in one step. */
const sliceBytes = 64 * 1024;
const sliceCost = 200;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const lineFeed = 0x0a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** One item, not parsed yet. */
export interface BatchItem {
  readonly bytes: Uint8Array;
  /** null: not looked at yet. */
  readonly shape: Shape | null;
}

export interface Shape {
  /** Brackets inside each other. */
  readonly depth: number;
  /** Outside of texts: one less than the values of the longest list, or more. */
  readonly commas: number;
}

/** Throws CarillonError. The walk that finds the items finds their shapes too: it looks at each byte once. */
export function* arrayItems(bytes: Uint8Array, limits: BatchLimits): Steps<BatchItem[]> {
  const items: BatchItem[] = [];
  const start = yield* skipBlank(bytes, 0);
  if (bytes[start] !== openBracket) throw noArray();
  // Nothing but blanks: an empty array, unless a comma follows.
  let from = yield* skipBlank(bytes, start + 1);
  let depth = 1;
  let deepest = 1;
  let commas = 0;
  let inText = false;
  let stepEnd = sliceBytes;
  for (let at = from; at < bytes.length; at++) {
    if (at >= stepEnd) {
      stepEnd += sliceBytes;
      yield sliceCost;
    }
    const byte = bytes[at] as number;
    if (inText) {
      if (byte === backslash) at++;
      else inText = byte !== quote;
      continue;
    }
    if (byte === quote) inText = true;
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > limits.jsonDepthMax + 1) throw tooDeep(limits.jsonDepthMax);
      if (depth > deepest) deepest = depth;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
    else if (byte === comma && depth > 1) commas++;
    if (depth > 1 || (byte !== comma && depth === 1)) continue;
    if (byte === comma || at > from || items.length > 0) {
      const shape = { depth: deepest - 1, commas };
      addItem(items, { bytes: bytes.subarray(from, at), shape }, limits);
    }
    deepest = 1;
    commas = 0;
    from = at + 1;
    if (depth > 0) continue;
    if (byte !== closeBracket || (yield* skipBlank(bytes, from)) < bytes.length) throw noArray();
    return items;
  }
  throw badRequest('The body is not valid JSON: it ends inside of the array.');
}

/** The lines that are not blank. Throws CarillonError. */
export function* lineItems(bytes: Uint8Array, limits: BatchLimits): Steps<BatchItem[]> {
  const items: BatchItem[] = [];
  for (let from = yield* skipBlank(bytes, 0); from < bytes.length; ) {
    const found = bytes.indexOf(lineFeed, from);
    const to = found === -1 ? bytes.length : found;
    addItem(items, { bytes: bytes.subarray(from, to), shape: null }, limits);
    from = yield* skipBlank(bytes, to);
  }
  return items;
}

/** More than any timer has use for. A parser takes 20 ms over the values that fit into 256 KiB. */
export const valueCountMax = 10_000;

/** Looks at each byte once, and parses nothing. */
export function shapeOf(bytes: Uint8Array): Shape {
  let depth = 0;
  let deepest = 0;
  let commas = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === quote) inText = !inText;
    else if (inText) {
      if (byte === backslash) at++;
    } else if (byte === openBracket || byte === openBrace) {
      if (++depth > deepest) deepest = depth;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
    else if (byte === comma) commas++;
  }
  return { depth: deepest, commas };
}

export function tooDeep(depthMax: number): CarillonError {
  return badRequest(`The body is nested deeper than ${depthMax} levels.`);
}

function addItem(items: BatchItem[], item: BatchItem, limits: BatchLimits): void {
  if (items.length === limits.batchItemCountMax) {
    throw new CarillonError('too_large', `A batch has at most ${limits.batchItemCountMax} timers.`);
  }
  if (item.bytes.length > limits.bodyBytesMax) {
    const most = `${limits.bodyBytesMax} bytes`;
    throw new CarillonError(
      'too_large',
      `A timer of a batch has at most ${most}, as one by itself.`,
    );
  }
  items.push(item);
}

function noArray(): CarillonError {
  return badRequest('The body must be an array of timers, or NDJSON with its content type.', '');
}

/** Skips blanks, in steps: there may be megabytes of them. */
function* skipBlank(bytes: Uint8Array, from: number): Steps<number> {
  let at = from;
  for (let stepEnd = from + sliceBytes; at < bytes.length && isBlank(bytes[at] as number); at++) {
    if (at < stepEnd) continue;
    stepEnd += sliceBytes;
    yield sliceCost;
  }
  return at;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === lineFeed;
}
