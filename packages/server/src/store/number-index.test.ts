import { SeededRandom } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import { compareNumbers, hashOf, NumberIndex, rangeOf } from './number-index.ts';

/** Handles are places in a list of numbers. */
function indexOver(numbers: readonly { hi: number; lo: number }[]): NumberIndex {
  return new NumberIndex({
    hiOf: (handle) => numbers[handle]?.hi ?? -1,
    loOf: (handle) => numbers[handle]?.lo ?? -1,
  });
}

describe('number index', () => {
  it('finds the present numbers and no others, through growth and shrinking', () => {
    const random = new SeededRandom(4);
    const numbers = Array.from({ length: 60_000 }, (_, i) => ({ hi: random.u32(), lo: i }));
    const index = indexOver(numbers);
    numbers.forEach((_, handle) => index.insert(handle));
    const grown = index.bytes;
    expect(grown / numbers.length).toBeLessThan(16);
    expect(numbers.every(({ hi, lo }, handle) => index.find(hi, lo) === handle)).toBe(true);
    expect(index.find(1, 60_001)).toBe(-1);
    const stays = (handle: number): boolean => handle % 50 === 0;
    expect(numbers.every(({ hi, lo }, handle) => stays(handle) || index.remove(hi, lo))).toBe(true);
    const left = numbers.map(({ hi, lo }) => index.find(hi, lo));
    expect(left).toEqual(numbers.map((_, handle) => (stays(handle) ? handle : -1)));
    expect(index.remove(1, 60_001)).toBe(false);
    // The room is used again.
    numbers.forEach((_, handle) => stays(handle) || index.insert(handle));
    expect(numbers.every(({ hi, lo }, handle) => index.find(hi, lo) === handle)).toBe(true);
    expect(index.bytes).toBeLessThan(grown * 1.25);
  });

  it('built at once is as if its numbers had come one by one, also where hashes are equal', () => {
    const random = new SeededRandom(8);
    const numbers = Array.from({ length: 20_000 }, () => ({ hi: random.u32(), lo: random.u32() }));
    // 100,000 numbers have a pair with one hash, more likely than not.
    const byHash = new Map<number, { hi: number; lo: number }>();
    for (let lo = 0; lo < 300_000; lo++) {
      const hash = hashOf(1, lo);
      const other = byHash.get(hash) ?? byHash.set(hash, { hi: 1, lo }).get(hash);
      if (other !== undefined && other.lo !== lo) numbers.push({ hi: 1, lo }, other);
    }
    for (let lo = 0, hi = 2; hi < 200_000; hi++) {
      const other = byHash.get(hashOf(hi, lo));
      if (other !== undefined) numbers.push({ hi, lo }, other);
    }
    const distinct = [...new Map(numbers.map((one) => [`${one.hi} ${one.lo}`, one])).values()];
    expect(distinct.length).toBeGreaterThan(20_001);
    const [one, built] = [indexOver(distinct), indexOver(distinct)];
    distinct.forEach((_, handle) => one.insert(handle));
    expect(built.build(distinct.length)).toEqual([]);
    const [expected, found]: [number[], number[]] = [[], []];
    one.next(null, 100_000, expected);
    built.next(null, 100_000, found);
    expect(found).toEqual(expected);
    expect(distinct.every(({ hi, lo }, handle) => built.find(hi, lo) === handle)).toBe(true);
    expect(built.bytes).toBeLessThanOrEqual(one.bytes);
    expect(distinct.every(({ hi, lo }) => built.remove(hi, lo))).toBe(true);
  });

  it('built at once names the handles whose number another one has', () => {
    const numbers = [3, 1, 3, 2, 1, 3].map((lo) => ({ hi: 0, lo }));
    const index = indexOver(numbers);
    expect(index.build(numbers.length).toSorted((a, b) => a - b)).toEqual([2, 4, 5]);
    expect([1, 2, 3].map((lo) => index.find(0, lo))).toEqual([1, 3, 0]);
  });

  it('uses the room of one range for another once it is empty', () => {
    const random = new SeededRandom(6);
    const numbers: { hi: number; lo: number }[] = [];
    const index = indexOver(numbers);
    const fill = (isWanted: (range: number) => boolean): void => {
      for (const end = numbers.length + 20_000; numbers.length < end; ) {
        const number = { hi: random.u32(), lo: random.u32() };
        if (isWanted(rangeOf(number.hi, number.lo))) index.insert(numbers.push(number) - 1);
      }
    };
    fill((range) => range < 32);
    const grown = index.bytes;
    expect(numbers.every(({ hi, lo }) => index.remove(hi, lo))).toBe(true);
    fill((range) => range >= 224);
    expect(index.bytes).toBeLessThan(grown * 1.25);
  });

  it('is compact and right when numbers come in its own order, as resync and snapshots send them', () => {
    const random = new SeededRandom(5);
    const numbers = Array.from({ length: 50_000 }, () => ({ hi: random.u32(), lo: random.u32() }));
    numbers.sort(compareNumbers);
    const index = indexOver(numbers);
    // Every third first: the rest is then sent in order into the gaps.
    numbers.forEach((_, handle) => handle % 3 === 0 && index.insert(handle));
    numbers.forEach((_, handle) => handle % 3 === 0 || index.insert(handle));
    const out: number[] = [];
    index.next(null, 100_000, out);
    expect(out).toEqual(numbers.map((_, handle) => handle));
    expect(numbers.every(({ hi, lo }, handle) => index.find(hi, lo) === handle)).toBe(true);
    expect(index.bytes / numbers.length).toBeLessThan(20);
  });

  it('stays right when a client picks numbers that collide in all 32 bits of the hash', () => {
    const numbers = colliding(300);
    expect(new Set(numbers.map(({ hi, lo }) => rangeOf(hi, lo))).size).toBe(1);
    const index = indexOver(numbers);
    const order = numbers.map((_, handle) => handle);
    for (const handle of order.toReversed()) index.insert(handle);
    const out: number[] = [];
    index.next(null, 1000, out);
    expect(out.length).toBe(300);
    const found = out.map((handle) => numbers[handle] as { hi: number; lo: number });
    expect(found).toEqual(found.toSorted((a, b) => a.hi - b.hi || a.lo - b.lo));
    for (const handle of order.filter((one) => one % 2 === 0)) {
      const { hi, lo } = numbers[handle] as { hi: number; lo: number };
      expect(index.remove(hi, lo)).toBe(true);
    }
    numbers.forEach(({ hi, lo }, handle) =>
      expect(index.find(hi, lo)).toBe(handle % 2 === 0 ? -1 : handle),
    );
  });

  it('spreads rising numbers, as members give them out, evenly over the ranges', () => {
    const counts = new Uint32Array(256);
    for (let ms = 0; ms < 64; ms++) {
      for (let counter = 0; counter < 4096; counter++) {
        const range = rangeOf(0x6500_0000, ((ms << 22) | (7 << 12) | counter) >>> 0);
        counts[range] = (counts[range] as number) + 1;
      }
    }
    const mean = (64 * 4096) / 256;
    expect(Math.min(...counts)).toBeGreaterThan(mean * 0.8);
    expect(Math.max(...counts)).toBeLessThan(mean * 1.2);
  });

  it('never changes the ranges that members compare', () => {
    expect([rangeOf(0, 0), rangeOf(0, 1), rangeOf(1, 0), rangeOf(0xffffffff, 0xffffffff)]).toEqual([
      153, 69, 157, 173,
    ]);
  });
});

/** Different numbers whose mixed hash is the same: the first mixing step is undone for each high half. */
function colliding(count: number): { hi: number; lo: number }[] {
  return Array.from({ length: count }, (_, hi) => {
    let stirred = Math.imul(hi ^ 0x9e3779b9, 0x85ebca6b);
    stirred ^= stirred >>> 15;
    return { hi, lo: (stirred ^ 0xfffffff0) >>> 0 };
  });
}
