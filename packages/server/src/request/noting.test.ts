import { expect, test } from 'vitest';
import { askedMs } from './noting.ts';

test('a set is noted with the time of its version, and with the present where a client has seen a higher one', () => {
  const changed = { namespace: 'default', hi: 1, lo: 2, versionTie: 0 };
  expect(askedMs({ ...changed, versionMs: 5000 }, 5002.7)).toBe(5000);
  expect(askedMs({ ...changed, versionMs: 9000 }, 5002.7)).toBe(5002.7);
});
