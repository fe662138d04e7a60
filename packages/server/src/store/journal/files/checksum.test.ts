import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { checksum } from './checksum.ts';

it('is the CRC-32 of zlib, for any stretch of any bytes and any seed', () => {
  const bytes = fc.uint8Array({ maxLength: 700 });
  const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(bytes, fc.nat({ max: 40 }), u32, (all, from, seed) => {
      const start = Math.min(from, all.length);
      expect(checksum(all, start, all.length, seed)).toBe(crc32(all.subarray(start), seed));
    }),
  );
});
