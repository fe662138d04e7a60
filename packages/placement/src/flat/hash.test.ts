import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareNames, hashNumber, hashText, TextBlocks } from './hash.ts';

/** MurmurHash3 x86_32 over bytes, written from its definition and for no speed at all. */
function murmurOfBytes(bytes: Uint8Array, seed: number): number {
  const rotate = (x: number, by: number) => (x << by) | (x >>> (32 - by));
  const mix = (k: number) => Math.imul(rotate(Math.imul(k, 0xcc9e2d51), 15), 0x1b873593);
  let h = seed | 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length - (bytes.length % 4);
  for (let i = 0; i < whole; i += 4) {
    h = (Math.imul(rotate(h ^ mix(view.getInt32(i, true)), 13), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let i = bytes.length - 1; i >= whole; i--) tail = (tail << 8) | view.getUint8(i);
  if (whole < bytes.length) h ^= mix(tail);
  h ^= bytes.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
/** Any UTF-16, lone surrogates included. */
const anyText = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((units) => {
  return String.fromCharCode(...units);
});
const wellFormed = fc.string({ unit: 'binary', maxLength: 20 });

describe('murmur3', () => {
  test('has the published values for the number 100', () => {
    expect(hashNumber(0, 100, 0)).toBe(3324711024);
    expect(hashNumber(0, 100, 1)).toBe(1234655730);
    expect(hashNumber(0, 100, 1000)).toBe(909891273);
  });

  test('has the published seeds of the targets A, B and C', () => {
    expect(['A', 'B', 'C'].map((name) => hashText(name, 0))).toEqual([
      1423767502, 3433458314, 3927768715,
    ]);
  });

  test('has the reference values of the algorithm for short texts', () => {
    expect(hashText('', 0)).toBe(0);
    expect(hashText('', 1)).toBe(0x514e28b7);
    expect(hashText('', 0xffff_ffff)).toBe(0x81f16f39);
    expect(hashText('Hello, world!', 1234)).toBe(0xfaf6cdb3);
  });

  test('a number hashes as its 8 little-endian bytes', () => {
    fc.assert(
      fc.property(u32, u32, u32, (hi, lo, seed) => {
        const bytes = new Uint8Array(8);
        new DataView(bytes.buffer).setUint32(0, lo, true);
        new DataView(bytes.buffer).setUint32(4, hi, true);
        expect(hashNumber(hi, lo, seed)).toBe(murmurOfBytes(bytes, seed));
      }),
    );
  });

  test('a text hashes as the bytes that TextEncoder gives, lone surrogates included', () => {
    fc.assert(
      fc.property(anyText, u32, (text, seed) => {
        expect(hashText(text, seed)).toBe(murmurOfBytes(new TextEncoder().encode(text), seed));
      }),
      { numRuns: 300 },
    );
  });

  test('a long text does not spoil a short one read after it', () => {
    const blocks = new TextBlocks();
    blocks.read('x'.repeat(5000));
    blocks.read('A');
    expect(blocks.hash(0) >>> 0).toBe(1423767502);
  });

  test('different seeds never give equal scores for one key', () => {
    fc.assert(
      fc.property(u32, u32, u32, u32, (hi, lo, a, b) => {
        if (a !== b) expect(hashNumber(hi, lo, a)).not.toBe(hashNumber(hi, lo, b));
      }),
    );
  });
});

test('names are ordered by their UTF-8 bytes', () => {
  const sign = (x: number) => Math.sign(x);
  fc.assert(
    fc.property(wellFormed, wellFormed, (a, b) => {
      expect(sign(compareNames(a, b))).toBe(sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
    { numRuns: 300 },
  );
  expect(compareNames('\u{10000}', '\uffff')).toBeGreaterThan(0);
});
