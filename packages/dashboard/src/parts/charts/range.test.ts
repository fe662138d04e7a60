import { expect, test } from 'vitest';
import { rangeOf } from './range.ts';

test('an address without a range, or with an unknown one, shows five minutes', () => {
  expect(rangeOf(new URLSearchParams())).toBe('5m');
  expect(rangeOf(new URLSearchParams('range=1y'))).toBe('5m');
  expect(rangeOf(new URLSearchParams('range=1d'))).toBe('1d');
});
