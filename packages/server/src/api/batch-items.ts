/**
 * Where the items of a batch begin and end, found by a walk over its bytes before any of them is parsed: an array is
 * never parsed as a whole, so that no body makes one long step. An item that is no JSON is found later, when it is
 * parsed.
 */
import { CarillonError } from '@carillon/core';
import type { Limits } from '../config/config.ts';
import { ItemForms } from './batch-forms.ts';
import { type Differing, type ItemForm, nothing } from './item-form.ts';
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

/** One item, not parsed yet: where it begins and ends in the body. */
export interface BatchItem {
  readonly from: number;
  readonly to: number;
  /** null: not looked at yet. */
  readonly shape: Shape | null;
  /** That an item before it has too; null: none has. */
  readonly form: ItemForm | null;
  readonly differing: Differing;
}

export interface Shape {
  /** Brackets inside each other. */
  readonly depth: number;
  /** Outside of texts: one less than the values of the longest list, or more. */
  readonly commas: number;
}

/** Throws CarillonError. The walk that finds the items finds their shapes too: it looks at each byte once. */
export function* arrayItems(bytes: Uint8Array, limits: BatchLimits): Steps<BatchItem[]> {
  const start = yield* skipBlank(bytes, 0);
  if (bytes[start] !== openBracket) throw noArray();
  const walk = new ArrayWalk(bytes, yield* skipBlank(bytes, start + 1), limits);
  while (!walk.step()) yield sliceCost;
  if ((yield* skipBlank(bytes, walk.end)) < bytes.length) throw noArray();
  return walk.items;
}

/** A plain loop over a slice at a time: in a generator it would take five times as long. */
class ArrayWalk {
  readonly items: BatchItem[] = [];
  private readonly bytes: Uint8Array;
  private readonly limits: BatchLimits;
  private at: number;
  /** Where the present item begins. */
  private from: number;
  private depth = 1;
  private deepest = 1;
  private commas = 0;
  private inText = false;
  private readonly forms: ItemForms;

  constructor(bytes: Uint8Array, from: number, limits: BatchLimits) {
    this.bytes = bytes;
    this.limits = limits;
    this.forms = new ItemForms(bytes);
    this.at = from;
    this.from = from;
  }

  /** Behind the array, once `step` has found its end. */
  get end(): number {
    return this.from;
  }

  /** Goes on by a slice. True: the array is over. Throws CarillonError. */
  step(): boolean {
    const { bytes } = this;
    const stepEnd = Math.min(bytes.length, this.at + sliceBytes);
    while (this.at < stepEnd) {
      if (this.at !== this.from || !this.takeAlike()) {
        this.walkWithin(stepEnd);
        if (this.at >= stepEnd) break;
        this.endItem();
      }
      if (this.depth === 0) return true;
    }
    if (this.at >= bytes.length) {
      throw badRequest('The body is not valid JSON: it ends inside of the array.');
    }
    return false;
  }

  /** Adds the item that begins here, if it has the form of one before it. */
  private takeAlike(): boolean {
    const { bytes, from } = this;
    const form = this.forms.match(from);
    if (form === null) return false;
    const { end: to, differing } = form;
    addItem(this.items, { from, to, shape: form.shape, form, differing }, this.limits);
    if (bytes[to] === closeBracket) this.depth = 0;
    this.from = to + 1;
    this.at = to + 1;
    return true;
  }

  /** Stops at the byte that ends the present item, or at `stepEnd`. */
  private walkWithin(stepEnd: number): void {
    const { bytes } = this;
    const depthMax = this.limits.jsonDepthMax + 1;
    let { at, depth, deepest, commas, inText } = this;
    for (; at < stepEnd; at++) {
      const mark = marks[bytes[at] as number];
      if (mark === 0) continue;
      if (inText) {
        if (mark === textMark) inText = false;
        else if (mark === escapeMark) at++;
      } else if (mark === textMark) inText = true;
      else if (mark === openMark) {
        if (++depth > depthMax) throw tooDeep(this.limits.jsonDepthMax);
        if (depth > deepest) deepest = depth;
      } else if (mark === closeMark) {
        if (--depth === 0) break;
      } else if (mark === commaMark) {
        if (depth === 1) break;
        commas++;
      }
    }
    this.at = at;
    this.depth = depth;
    this.deepest = deepest;
    this.commas = commas;
    this.inText = inText;
  }

  /** Adds the item that ends at this comma or bracket. An array with nothing but blanks in it has no item. */
  private endItem(): void {
    const { bytes, at, from, items, deepest, commas } = this;
    const byte = bytes[at] as number;
    if (byte === comma || at > from || items.length > 0) {
      const shape = { depth: deepest - 1, commas };
      addItem(items, { from, to: at, shape, form: null, differing: nothing }, this.limits);
      if (byte === comma) this.forms.add(from, at, shape);
    }
    this.deepest = 1;
    this.commas = 0;
    this.from = at + 1;
    this.at = at + 1;
    if (this.depth === 0 && byte !== closeBracket) throw noArray();
  }
}

const textMark = 1;
const escapeMark = 2;
const openMark = 3;
const closeMark = 4;
const commaMark = 5;

/** The mark of each byte value that means something in JSON; 0: it means nothing. */
const marks = new Uint8Array(256);
marks[quote] = textMark;
marks[backslash] = escapeMark;
marks[openBracket] = openMark;
marks[openBrace] = openMark;
marks[closeBracket] = closeMark;
marks[closeBrace] = closeMark;
marks[comma] = commaMark;

/** The lines that are not blank. Throws CarillonError. */
export function* lineItems(bytes: Uint8Array, limits: BatchLimits): Steps<BatchItem[]> {
  const items: BatchItem[] = [];
  for (let from = yield* skipBlank(bytes, 0); from < bytes.length; ) {
    const found = bytes.indexOf(lineFeed, from);
    const to = found === -1 ? bytes.length : found;
    addItem(items, { from, to, shape: null, form: null, differing: nothing }, limits);
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
  if (item.to - item.from > limits.bodyBytesMax) {
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
