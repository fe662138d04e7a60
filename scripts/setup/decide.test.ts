import { expect, test } from 'vitest';
import { decide } from './decide.ts';

test.each([
  [true, true, true, 'ready'],
  [true, true, false, 'ready'],
  [true, false, true, 'ready'],
  [true, false, false, 'ready'],
  [false, true, true, 'install'],
  [false, true, false, 'install'],
  [false, false, true, 'fail'],
  [false, false, false, 'skip'],
] as const)('found %s, can install %s, in CI %s: %s', (found, canInstall, inCi, expected) => {
  expect(decide({ found, canInstall, inCi })).toBe(expected);
});
