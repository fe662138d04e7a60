import { expect, test } from 'vitest';
import { rangeOf, smooth } from './range.ts';
import type { Sample } from '../shapes.ts';

test('an address without a range, or with an unknown one, shows five minutes', () => {
  expect(rangeOf(new URLSearchParams())).toBe('5m');
  expect(rangeOf(new URLSearchParams('range=1y'))).toBe('5m');
  expect(rangeOf(new URLSearchParams('range=1d'))).toBe('1d');
});

test('counts are smoothed over the ten seconds before', () => {
  const samples = Array.from({ length: 25 }, (_, i) => ({ retried: i === 5 ? 10 : 0 }) as Sample);
  const line = smooth(samples, ({ retried }) => retried);
  expect(line.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
  expect(line[5]).toBeCloseTo(10 / 6);
  expect(line[14]).toBe(1);
  expect(line[15]).toBe(0);
});
