import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { logOfHash } from './logarithm.ts';

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });

test('is the natural logarithm of (h + ½) / 2³², to within 10⁻¹⁴', () => {
  fc.assert(
    fc.property(u32, (h) => {
      expect(Math.abs(logOfHash(h) - Math.log((h + 0.5) / 2 ** 32))).toBeLessThan(1e-14);
    }),
    { numRuns: 20_000 },
  );
});

test('rises with the hash, so that the best of a weight class is the one with the highest hash', () => {
  fc.assert(
    fc.property(u32, (h) => {
      if (h > 0) expect(logOfHash(h)).toBeGreaterThan(logOfHash(h - 1));
      expect(logOfHash(h)).toBeLessThan(0);
    }),
    { numRuns: 20_000 },
  );
  for (let exponent = 0; exponent < 32; exponent++) {
    for (const h of [2 ** exponent - 1, 2 ** exponent, 2 ** exponent + 1]) {
      if (h > 0) expect(logOfHash(h)).toBeGreaterThan(logOfHash(h - 1));
    }
  }
});
