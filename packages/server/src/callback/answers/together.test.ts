import { expect, test } from 'vitest';
import { togetherOf } from './together.ts';

test.each([
  ['500', undefined, { countMax: 500, failed: null }],
  ['1', undefined, { countMax: 1, failed: null }],
  ['500', '3, 17,0', { countMax: 500, failed: [3, 17, 0] }],
  ['500', '', { countMax: 500, failed: null }],
  ['500', '3,x', { countMax: 500, failed: null }],
  ['500', '1,'.repeat(20_000), { countMax: 500, failed: null }],
  ['0', undefined, undefined],
  ['yes', undefined, undefined],
  ['1e3', undefined, undefined],
  ['12345678', undefined, undefined],
])('X-Timer-Batch %s and X-Timer-Failed %s', (batch, failed, expected) => {
  expect(togetherOf(batch, failed)).toEqual(expected);
});
