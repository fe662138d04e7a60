import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LeafPool } from './leaf-pool.ts';
import { PairIndex } from './pair-index.ts';

/** A trivially correct twin: all pairs in an array that is sorted anew for every question. */
class Twin {
  private readonly pairs = new Map<string, readonly [number, number]>();

  insert(a: number, b: number): void {
    this.pairs.set(`${a} ${b}`, [a, b]);
  }

  remove(a: number, b: number): boolean {
    return this.pairs.delete(`${a} ${b}`);
  }

  has(a: number, b: number): boolean {
    return this.pairs.has(`${a} ${b}`);
  }

  get count(): number {
    return this.pairs.size;
  }

  from(a: number, b: number): (readonly [number, number])[] {
    return [...this.pairs.values()]
      .filter(([x, y]) => x > a || (x === a && y >= b))
      .toSorted((one, other) => one[0] - other[0] || one[1] - other[1]);
  }
}

function agree(index: PairIndex, twin: Twin, a: number, b: number): void {
  const all = twin.from(a, b);
  const out: number[] = [];
  expect(index.from(a, b, all.length + 1, out)).toBe(all.length);
  expect(out).toEqual(all.flat());
  const few: number[] = [];
  index.from(a, b, 3, few);
  expect(few).toEqual(all.slice(0, 3).flat());
  expect(index.countBetween(a, b, a)).toBe(all.filter(([x]) => x === a).length);
  expect(index.count).toBe(twin.count);
}

const word = fc.oneof(
  fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1),
  fc.integer({ min: 0, max: 20 }),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
);

describe('PairIndex', () => {
  it('holds the pairs of its twin, in the same order, for any insertions and removals', () => {
    const change = fc.record({ a: word, b: word, isIn: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 300 }), word, word, (changes, a, b) => {
        const index = new PairIndex(new LeafPool());
        const twin = new Twin();
        for (const one of changes) {
          if (!one.isIn) expect(index.remove(one.a, one.b)).toBe(twin.remove(one.a, one.b));
          else if (!twin.has(one.a, one.b)) {
            index.insert(one.a, one.b);
            twin.insert(one.a, one.b);
          }
        }
        agree(index, twin, a, b);
        agree(index, twin, 0, 0);
      }),
    );
  });

  it.each([
    ['rising', (i: number) => i],
    ['falling', (i: number) => 40_000 - i],
    ['mixed', (i: number) => (i * 7919) % 40_009],
    ['in few runs', (i: number) => ((i % 5) * 100_000 + i) >>> 0],
  ])(
    'splits and merges leaves and rows over 40,000 pairs, %s, and gives their memory back',
    (_, of) => {
      const pool = new LeafPool();
      const index = new PairIndex(pool);
      const count = 40_000;
      for (let i = 0; i < count; i++) index.insert(of(i) >>> 3, of(i));
      expect(index.count).toBe(count);
      const out: number[] = [];
      index.from(0, 0, count, out);
      const expected = Array.from({ length: count }, (__, i) => of(i)).toSorted((x, y) => x - y);
      expect(out.filter((___, i) => i % 2 === 1)).toEqual(expected);
      // Three quarters of each leaf at least half used: no more than twice the bytes of the pairs, and the rows.
      expect((pool.bytes + index.bytes) / count).toBeLessThan(20);
      for (let i = 0; i < count; i++) index.remove(of(i) >>> 3, of(i));
      expect(index.count).toBe(0);
      const again: number[] = [];
      expect(index.from(0, 0, 10, again)).toBe(0);
      const bytes = pool.bytes;
      for (let i = 0; i < count; i++) index.insert(of(i) >>> 3, of(i));
      expect(pool.bytes).toBe(bytes);
    },
  );

  it('two trees share a pool, and each keeps its own', () => {
    const pool = new LeafPool();
    const [one, other] = [new PairIndex(pool), new PairIndex(pool)];
    for (let i = 0; i < 1000; i++) {
      one.insert(1, i);
      other.insert(2, i);
    }
    for (let i = 0; i < 1000; i++) one.remove(1, i);
    one.end();
    const out: number[] = [];
    other.from(0, 0, 2000, out);
    expect(out.filter((_, i) => i % 2 === 0).every((a) => a === 2)).toBe(true);
    expect(out).toHaveLength(2000);
  });
});
