import { expect, test } from 'vitest';
import { strip } from './strip-invariants.ts';

test.each([
  ["a();\ninvariant(b(c), 'd');\ne();", 'a();\n\ne();', 1],
  ["invariant(\n  b,\n  'a sentence (with a bracket); and more',\n);\ne();", '\ne();', 1],
  ['if (a) {\n  invariant(b, `c${d(e)}`);\n}', 'if (a) {\n  \n}', 1],
  ['export function invariant(condition: boolean): void {}', undefined, 0],
  ["import { invariant } from '@carillon/core';", undefined, 0],
])('removes exactly the calls from %j', (source, expected, count) => {
  expect(strip(source)).toEqual({ text: expected ?? source, count });
});

test('refuses a call that does not end', () => {
  expect(() => strip('invariant(a')).toThrow('has no end');
});
