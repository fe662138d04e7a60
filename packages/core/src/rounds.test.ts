import { expect, test } from 'vitest';
import { nextRoundMs } from './rounds.ts';

const next = (nowMs: number, periodMs: number): number =>
  nextRoundMs({ now: () => nowMs }, periodMs);

test('rounds of several periods begin together, and never at once', () => {
  expect(next(7301.5, 1000)).toBe(8000);
  expect(next(8000, 1000)).toBe(9000);
  expect(next(8000.01, 2000)).toBe(10_000);
  expect(next(8500, 5000)).toBe(10_000);
});
