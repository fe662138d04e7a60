/**
 * The one hash function of this package: MurmurHash3 x86_32, over a 64-bit number (8 little-endian
 * bytes) and over text (its UTF-8 bytes), with a 32-bit seed. Used by everything else here.
 *
 * H1. No allocation: a text is read code unit by code unit and fed as UTF-8 on the way.
 * H2. A 64-bit number is two unsigned 32-bit halves, `hi` and `lo`; no BigInt.
 * H3. For a fixed key the hash is a bijection of the seed (every step can be undone). So targets with
 *     different seeds never have equal scores, and the hot loops need no tie rule.
 * H4. Lone surrogates hash as U+FFFD, as every UTF-8 encoder writes them.
 */
import { PlacementError } from '../errors.ts';
import { show } from '../input.ts';

const c1 = 0xcc9e2d51 | 0;
const c2 = 0x1b873593;
const c3 = 0xe6546b64 | 0;
const f1 = 0x85ebca6b | 0;
const f2 = 0xc2b2ae35 | 0;
const replacement = 0xfffd;

/** A seeded hash with 32-bit results, as unsigned numbers. Tests inject their own. */
export interface Hash {
  number(hi: number, lo: number, seed: number): number;
  text(text: string, seed: number): number;
}

/** Mixes one 32-bit block of input, before the seed is added: the same for every target. */
export function mixBlock(block: number): number {
  const k = Math.imul(block, c1);
  return Math.imul((k << 15) | (k >>> 17), c2);
}

/** Takes one mixed block into the running hash. */
function addBlock(hash: number, mixed: number): number {
  const h = hash ^ mixed;
  return (Math.imul((h << 13) | (h >>> 19), 5) + c3) | 0;
}

/** Spreads every input bit over all 32 output bits. Signed result. */
export function finish(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), f1);
  h = Math.imul(h ^ (h >>> 13), f2);
  return h ^ (h >>> 16);
}

/** MurmurHash3 x86_32 of a 64-bit number given as two halves. */
export function hashNumber(hi: number, lo: number, seed: number): number {
  const h = addBlock(addBlock(seed | 0, mixBlock(lo)), mixBlock(hi));
  return finish(h ^ 8) >>> 0;
}

/** MurmurHash3 x86_32 of a text's UTF-8 bytes. */
export function hashText(text: string, seed: number): number {
  scratch.read(text);
  return scratch.hash(seed) >>> 0;
}

export const murmur3: Hash = { number: hashNumber, text: hashText };

/**
 * A text key made ready for many seeds: its blocks are mixed once, then each target costs only the part that depends on
 * the seed. Reused from lookup to lookup; grows to the longest key seen.
 */
export class TextBlocks {
  #mixed = new Int32Array(64);
  #count = 0;
  #tail = 0;

  /** Reads a text; the next calls of `hash` are about it. */
  read(text: string): void {
    if (typeof text !== 'string') {
      throw new PlacementError('bad_key', `A key or name must be a text here, not ${show(text)}.`);
    }
    // One UTF-16 unit is at most three UTF-8 bytes.
    const blocksMax = Math.ceil((text.length * 3) / 4) + 1;
    if (this.#mixed.length < blocksMax) this.#mixed = new Int32Array(blocksMax * 2);
    let block = 0;
    let length = 0;
    for (let i = 0; i < text.length; i++) {
      const point = codePoint(text, i);
      if (point > 0xffff) i++;
      const size = utf8Size(point);
      for (let left = size - 1; left >= 0; left--) {
        block |= utf8Byte(point, size, left) << ((length & 3) << 3);
        length++;
        if ((length & 3) === 0) {
          this.#mixed[(length >>> 2) - 1] = mixBlock(block);
          block = 0;
        }
      }
    }
    this.#count = length >>> 2;
    this.#tail = ((length & 3) === 0 ? 0 : mixBlock(block)) ^ length;
  }

  /** The hash of the text under a seed, as a signed number. */
  hash(seed: number): number {
    const mixed = this.#mixed;
    let h = seed | 0;
    for (let i = 0; i < this.#count; i++) h = addBlock(h, mixed[i] as number);
    return finish(h ^ this.#tail);
  }
}

/** Holds the blocks of the text at hand; nothing survives from one call to the next. */
const scratch = new TextBlocks();

/** Order of two names by their UTF-8 bytes, so that every language can agree on it. */
export function compareNames(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = byteOrder(a.charCodeAt(i)) - byteOrder(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** UTF-16 puts surrogates (code points over U+FFFF) before U+E000…U+FFFF; bytes of UTF-8 do not. */
function byteOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function codePoint(text: string, i: number): number {
  const unit = text.charCodeAt(i);
  if ((unit & 0xf800) !== 0xd800) return unit;
  if (unit > 0xdbff || i + 1 === text.length) return replacement;
  const next = text.charCodeAt(i + 1);
  if ((next & 0xfc00) !== 0xdc00) return replacement;
  return 0x10000 + ((unit & 0x3ff) << 10) + (next & 0x3ff);
}

function utf8Size(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

/** One byte of a code point: `left` counts the bytes that follow it. */
function utf8Byte(point: number, size: number, left: number): number {
  if (size === 1) return point;
  const bits = point >>> (left * 6);
  return left < size - 1 ? 0x80 | (bits & 0x3f) : ((0xf00 >> size) & 0xff) | bits;
}
