import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { compileTopology } from '../place.ts';
import { tree } from '../regular-tree.ts';
import { hashNumber, mixBlock } from './hash.ts';
import { lanesOver } from './lanes.ts';
import { rotate } from './ranker.ts';

afterEach(() => vi.unstubAllGlobals());

const halves = { hi: fc.integer(), lo: fc.integer() };

describe('four hashes at a time', () => {
  test('are those of one at a time, in any range of at least four', () => {
    fc.assert(
      fc.property(
        fc.record({
          ...halves,
          seeds: fc.array(fc.integer(), { minLength: 4, maxLength: 70 }),
          start: fc.nat(),
          count: fc.nat(),
        }),
        ({ hi, lo, seeds, start, count }) => {
          const lanes = lanesOver(Int32Array.from(seeds, rotate), seeds.length);
          const from = start % (seeds.length - 3);
          const size = 4 + (count % (seeds.length - from - 3));
          const range = seeds.slice(from, from + size);
          const scores = range.map((seed) => hashNumber(hi, lo, seed));
          const key = [rotate(mixBlock(lo)), mixBlock(hi)] as const;
          expect(lanes?.highest(from, size, ...key)).toBe(scores.indexOf(Math.max(...scores)));
          const whole = Array.from(lanes?.out.subarray(0, size) ?? [], (one) => one >>> 0);
          expect(whole).toEqual(scores);
          lanes?.hashes(from, size, ...key);
          const open = Array.from(lanes?.out.subarray(0, size) ?? []);
          expect(open.map((one) => (one ^ (one >>> 16)) >>> 0)).toEqual(scores);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('fit into more than one page of memory', () => {
    const seeds = Int32Array.from({ length: 40_000 }, (_, i) => Math.imul(i + 1, 0x9e3779b1));
    const lanes = lanesOver(seeds.map(rotate), 1000);
    const scores = Array.from(seeds.subarray(39_000), (seed) => hashNumber(1, 2, seed));
    const offset = lanes?.highest(39_000, 1000, rotate(mixBlock(2)), mixBlock(1));
    expect(offset).toBe(scores.indexOf(Math.max(...scores)));
  });

  test('are left out where pages forbid to compile, and where there is no WebAssembly', () => {
    vi.stubGlobal('document', {});
    expect(lanesOver(Int32Array.of(1, 2, 3, 4), 4)).toBeNull();
    vi.unstubAllGlobals();
    vi.stubGlobal('WebAssembly', undefined);
    expect(lanesOver(Int32Array.of(1, 2, 3, 4), 4)).toBeNull();
  });
});

test.each([
  { zone: 2, node: 32, disk: 16 },
  { zone: 3, node: 9, disk: 11 },
  { zone: 1, node: 5, disk: 33 },
])('a tree that is asked often answers as at first: %j', (shape) => {
  const placer = compileTopology(tree(shape), { replicas: 6 });
  const out = new Int32Array(6);
  const ask = (key: number): string => {
    placer.pick(Math.imul(key, 0x85ebca77), Math.imul(key, 0x9e3779b1), 6, out);
    return out.join();
  };
  const keys = Array.from({ length: 3000 }, (_, key) => key);
  const first = keys.map(ask);
  for (let key = 0; key < 10_000; key++) ask(key);
  expect(keys.map(ask)).toEqual(first);
});
