import { expect, test } from 'vitest';
import { type Costs, type Pair, ratioOf } from './ratio.ts';

/** A pair whose A costs so many times as much as its B, on a machine that gets slower from turn to turn. */
function pairOf(ratio: number, wild: number | null = null): Pair {
  const b = [10, 12, 15, 20, 40].map((micros): Costs => ({ set: micros, pop: micros * 3 }));
  const a = b.map(({ set, pop }) => ({ set: set * ratio, pop: pop * ratio }));
  return { a: wild === null ? a : a.with(0, { set: wild, pop: wild }), b };
}

test('the ratio is that of turns beside each other, and one wild turn does not change it', () => {
  const { middle, a, b } = ratioOf([pairOf(1.1, 9999)], 'set');
  expect(middle).toBeCloseTo(1.1);
  expect(a).toBeCloseTo(22);
  expect(b).toBe(15);
});

test('the range is that of whole pairs', () => {
  const pairs = [1, 1.02, 1.04, 1.06, 1.5].map((ratio) => pairOf(ratio));
  const { low, middle, high } = ratioOf(pairs, 'pop');
  expect([low, middle, high].map((ratio) => ratio.toFixed(2))).toEqual(['1.02', '1.04', '1.06']);
});
