import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Bloom, bloomBits, bloomHas, bloomUnion, emptyBloom } from './bloom.ts';
import { hashText } from './hash.ts';

function bitCount({ hi, lo }: Bloom): number {
  return `${hi.toString(2)}${lo.toString(2)}`.replaceAll('0', '').length;
}

const name = fc.string({ minLength: 1, maxLength: 20 });

test('a target has one to six bits, in unsigned halves', () => {
  fc.assert(
    fc.property(name, (text) => {
      const bits = bloomBits(text);
      expect(bitCount(bits)).toBeGreaterThanOrEqual(1);
      expect(bitCount(bits)).toBeLessThanOrEqual(6);
      expect(bits.hi).toBe(bits.hi >>> 0);
      expect(bits.lo).toBe(bits.lo >>> 0);
    }),
  );
});

test('the bits are at the three positions that seeded hashes of the name give', () => {
  const wanted = new Set<number>();
  for (const seed of [1, 2, 3]) {
    const hash = hashText('10.0.0.1:7253', seed);
    wanted.add(hash & 63).add((hash >>> 6) & 63);
  }
  const { hi, lo } = bloomBits('10.0.0.1:7253');
  const all = (BigInt(hi) << 32n) | BigInt(lo);
  const found = Array.from({ length: 64 }, (_, i) => i).filter((i) => (all >> BigInt(i)) & 1n);
  expect(found).toEqual([...wanted].toSorted((a, b) => a - b));
});

test('a filter never misses a name that was added', () => {
  fc.assert(
    fc.property(fc.array(name, { maxLength: 20 }), (names) => {
      const filter = names.map(bloomBits).reduce(bloomUnion, emptyBloom);
      for (const added of names) expect(bloomHas(filter, bloomBits(added))).toBe(true);
    }),
  );
});

test('the empty filter has no name', () => {
  fc.assert(fc.property(name, (text) => !bloomHas(emptyBloom, bloomBits(text))));
});

test('a filter of two members claims one in a hundred strangers at most', () => {
  const members = Array.from({ length: 1000 }, (_, i) => `10.1.${i >> 8}.${i & 255}:7253`);
  const bits = members.map(bloomBits);
  let claims = 0;
  for (let i = 0; i + 1 < members.length; i += 2) {
    const filter = bloomUnion(bits[i] as Bloom, bits[i + 1] as Bloom);
    for (const [j, other] of bits.entries())
      if (j >> 1 !== i >> 1 && bloomHas(filter, other)) claims++;
  }
  expect(claims / (500 * 998)).toBeLessThan(0.01);
  expect(claims).toBeGreaterThan(0);
});
