/**
 * Items of a batch, and bodies of requests, that differ from an earlier one in texts and numbers alone, as JSON that a
 * program writes mostly does. The end of such an item and the places of its values are found by comparing bytes; only
 * the first is parsed.
 *
 * Example. Behind {"timing":{"interval":60},"opaque":"a"} comes {"timing":{"interval":7},"opaque":"bc"}. The bytes are
 * equal up to the 6: there the first item has a number, and any number may stand. They are equal again up to the a, in
 * the place of a text.
 *
 * F1  An item of a form has the end, the shape and the value that it has by itself. Items with escapes, with texts
 *     beyond printable ASCII or with other blanks are of no form.
 */
import type { Shape } from './batch-items.ts';

/** Bytes of the first item of a form, and how many times as many another may have. */
const formBytesMax = 4096;
const longerRatio = 2;
const holeCountMax = 16;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The first item of a form. */
interface First {
  readonly from: number;
  readonly to: number;
  readonly shape: Shape;
}

/** A value of the first item that may be another one in the next. */
interface Hole {
  /** Of the bytes, without the quotes of a text. */
  readonly from: number;
  readonly to: number;
  readonly isText: boolean;
  /** Names of the members that lead to it, and numbers of values in lists. */
  readonly path: readonly string[];
}

/** A hole in the parsed value of the first item. */
interface Slot {
  readonly owner: Record<string, unknown>;
  readonly name: string;
  readonly first: unknown;
}

/** The values in which an item differs from the first: a part of the form's `places`. */
export interface Differing {
  readonly from: number;
  readonly to: number;
}

export const nothing: Differing = { from: 0, to: 0 };

/** Bytes that items are found in. */
export interface Source {
  readonly bytes: Buffer;
  readonly view: DataView;
}

export function sourceOf(bytes: Uint8Array): Source {
  const { buffer, byteOffset, length } = bytes;
  return {
    bytes: Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, length),
    view: new DataView(buffer, byteOffset, length),
  };
}

export class ItemForm {
  readonly shape: Shape;
  private readonly source: Source;
  private readonly from: number;
  private readonly to: number;
  private readonly holes: readonly Hole[];
  /** Whether an item is the whole source, and not one of an array. */
  private readonly isAlone: boolean;
  /** Three numbers a value: its hole, and where it begins and ends in its source. */
  private readonly places: number[] = [];
  private value: unknown;
  /** By hole; empty: the first item cannot be parsed; null: it was not tried yet. */
  private slots: readonly Slot[] | null = null;
  private lent = nothing;
  /** Of the item that `match` found last: the byte behind it, and its other values. */
  end = 0;
  differing = nothing;

  private constructor(
    source: Source,
    { from, to, shape }: First,
    holes: readonly Hole[],
    isAlone: boolean,
  ) {
    this.shape = shape;
    this.source = source;
    this.from = from;
    this.to = to;
    this.holes = holes;
    this.isAlone = isAlone;
  }

  /** The form of an item of an array; null: no other item is compared with it. */
  static of(source: Source, first: First): ItemForm | null {
    return isShort(first) ? ItemForm.made(source, first, false) : null;
  }

  /** The form of a whole body, of which a copy is kept; null: no other body is compared with it. */
  static ofBody(body: Uint8Array, shape: Shape): ItemForm | null {
    const first = { from: 0, to: body.length, shape };
    return isShort(first) ? ItemForm.made(sourceOf(Buffer.from(body)), first, true) : null;
  }

  private static made(source: Source, first: First, isAlone: boolean): ItemForm | null {
    const holes = holesIn(source.bytes, first.from, first.to);
    return holes === null ? null : new ItemForm(source, first, holes, isAlone);
  }

  /** Whether an item of this form begins there. */
  match(other: Source, from: number): boolean {
    const { to, holes, places } = this;
    const { bytes } = other;
    const end = this.isAlone ? bytes.length : bytes.length - 1;
    const limit = Math.min(end, from + formBytesMax * longerRatio);
    const placesFrom = places.length;
    let first = this.from;
    let at = from;
    for (let next = 0; ; ) {
      const equal = this.equalCount(first, other, at, Math.min(to - first, limit - at));
      first += equal;
      at += equal;
      if (first === to || at === limit) break;
      while (next < holes.length && (holes[next] as Hole).to < first) next++;
      const hole = holes[next];
      if (hole === undefined || first < hole.from) break;
      const valueFrom = at - (first - hole.from);
      const valueTo = (hole.isText ? textEnd : numberEnd)(bytes, at, limit);
      places.push(next++, valueFrom, valueTo);
      first = hole.to;
      at = valueTo;
    }
    const isItem = first === to && (this.isAlone ? at === end : isBehindItem(bytes[at]));
    if (!isItem) places.length = placesFrom;
    else this.differing = { from: placesFrom, to: places.length };
    this.end = at;
    return isItem;
  }

  /** How many bytes from there on are equal; at most `max`. Four at a time: most of an item is equal. */
  private equalCount(first: number, other: Source, at: number, max: number): number {
    const { bytes, view } = this.source;
    let count = 0;
    while (count + 4 <= max && view.getUint32(first + count) === other.view.getUint32(at + count)) {
      count += 4;
    }
    while (count < max && bytes[first + count] === other.bytes[at + count]) count++;
    return count;
  }

  /** The value of a whole body; lent as by `valueOf`. undefined: it is of another form. */
  bodyOf(other: Source): unknown {
    this.takeBack();
    this.places.length = 0;
    return this.match(other, 0) ? this.valueOf(other, this.differing) : undefined;
  }

  /**
   * The value of an item of this form. It is lent: the next call changes it. undefined: the item has to be parsed by
   * itself.
   */
  valueOf({ bytes }: Source, differing: Differing): unknown {
    const slots = (this.slots ??= this.parseFirst());
    if (slots.length === 0) return undefined;
    this.takeBack();
    this.lent = differing;
    const { places } = this;
    for (let at = differing.from; at < differing.to; at += 3) {
      const { owner, name, first } = slots[places[at] as number] as Slot;
      const text = bytes.toString('latin1', places[at + 1], places[at + 2]);
      const value = typeof first === 'string' ? text : numberOf(text);
      if (value === null) return undefined;
      owner[name] = value;
    }
    return this.value;
  }

  /** The value is that of the first item again. */
  private takeBack(): void {
    const { places, lent, slots } = this;
    if (slots === null) return;
    for (let at = lent.from; at < lent.to; at += 3) {
      const { owner, name, first } = slots[places[at] as number] as Slot;
      owner[name] = first;
    }
    this.lent = nothing;
  }

  /** Empty where a hole is not the one value of its path: a name that is there twice has the last value. */
  private parseFirst(): readonly Slot[] {
    const { from, to, holes } = this;
    const { bytes } = this.source;
    this.value = jsonOf(bytes.toString('latin1', from, to));
    const paths = new Set(holes.map(({ path }) => JSON.stringify(path)));
    if (paths.size < holes.length) return [];
    const slots = holes.map((hole) => slotOf(this.value, hole.path));
    const isFirst = ({ from: start, to: end, isText }: Hole, i: number): boolean => {
      const text = bytes.toString('latin1', start, end);
      return slots[i]?.first === (isText ? text : numberOf(text));
    };
    return holes.every(isFirst) ? (slots as Slot[]) : [];
  }
}

function isShort({ from, to }: First): boolean {
  return to - from <= formBytesMax;
}

function isBehindItem(byte: number | undefined): boolean {
  return byte === comma || byte === closeBracket;
}

/** All texts and numbers that are no names; null: the item is unusual. */
function holesIn(bytes: Uint8Array, from: number, to: number): Hole[] | null {
  const holes: Hole[] = [];
  const way = new Way();
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    const isText = byte === quote;
    if (!isText && !isDigit(byte)) {
      way.pass(byte);
      continue;
    }
    const start = isText ? at + 1 : at;
    const end = (isText ? textEnd : numberEnd)(bytes, start, to);
    const behind = bytes[isText ? end + 1 : end] as number;
    if (isText && (end === to || bytes[end] !== quote)) return null;
    if (isText && behind === colon) way.name = textOf(bytes, start, end);
    else if (behind !== comma && behind !== closeBrace && behind !== closeBracket) return null;
    else holes.push({ from: start, to: end, isText, path: way.path() });
    if (holes.length > holeCountMax) return null;
    at = isText ? end : end - 1;
  }
  return holes.length === 0 ? null : holes;
}

/** The way to the next value: names of members, and numbers of values in lists. */
class Way {
  /** Of the next value. */
  name = '';
  /** Of the objects and lists that are open; the first is the item itself. */
  private readonly names: string[] = [];
  /** How many values of each list are passed; −1: an object. */
  private readonly passed: number[] = [];

  pass(byte: number): void {
    if (byte === openBrace || byte === openBracket) {
      this.names.push(this.name);
      this.passed.push(byte === openBrace ? -1 : 0);
      this.name = '0';
    } else if (byte === closeBrace || byte === closeBracket) {
      this.names.pop();
      this.passed.pop();
    } else if (byte === comma) this.passOne();
  }

  private passOne(): void {
    const count = this.passed.at(-1) ?? -1;
    if (count === -1) return;
    this.passed[this.passed.length - 1] = count + 1;
    this.name = String(count + 1);
  }

  path(): string[] {
    return [...this.names.slice(1), this.name];
  }
}

/** By byte: 1 for printable ASCII that stands for itself in a text. */
const isPlain = new Uint8Array(256).fill(1, 0x20, 0x7f);
isPlain[quote] = 0;
isPlain[backslash] = 0;

/** The first byte from `at` on that is not in a text of printable ASCII without escapes. */
function textEnd(bytes: Uint8Array, at: number, limit: number): number {
  let end = at;
  while (end < limit && isPlain[bytes[end] as number] === 1) end++;
  return end;
}

/** The first byte from `at` on that is in no number. */
function numberEnd(bytes: Uint8Array, at: number, limit: number): number {
  let end = at;
  while (end < limit && isInNumber(bytes[end] as number)) end++;
  return end;
}

/** How a number begins. */
function isDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x2d;
}

/** Digits, and the marks + - . e E. */
function isInNumber(byte: number): boolean {
  return isDigit(byte) || byte === 0x2b || byte === 0x2e || byte === 0x65 || byte === 0x45;
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
}

/** null: the way ends before. */
function slotOf(value: unknown, path: readonly string[]): Slot | null {
  let owner = value;
  for (const name of path.slice(0, -1)) owner = isObject(owner) ? owner[name] : undefined;
  const name = path.at(-1);
  if (name === undefined || !isObject(owner)) return null;
  return { owner, name, first: owner[name] };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The text has no bytes but a number's; null: they are in the wrong order. */
function numberOf(text: string): number | null {
  return (jsonOf(text) as number | undefined) ?? null;
}

/** undefined: it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
