import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hex16, parseHex16 } from './ids.ts';
import { decipher, encipher, scheduleOf } from './xtea.ts';

const counting = Uint8Array.from({ length: 16 }, (_, i) => i);
const zeros = new Uint8Array(16);

/** Known answers that other implementations of the cipher are tested with too. */
const vectors = [
  [counting, '4142434445464748', '497df3d072612cb5'],
  [counting, '4141414141414141', 'e78f2d13744341d8'],
  [counting, '5a5b6e278948d77f', '4141414141414141'],
  [zeros, '4142434445464748', 'a0390589f8b8efa5'],
  [zeros, '4141414141414141', 'ed23375a821a8c2d'],
  [zeros, '70e1225d6e4e7655', '4141414141414141'],
] as const;

test.each(vectors)('known answers, there and back', (key, plain, sealed) => {
  const schedule = scheduleOf(key);
  const number = parseHex16(plain) ?? { hi: 0, lo: 0 };
  const { hi, lo } = encipher(schedule, number);
  expect(hex16(hi, lo)).toBe(sealed);
  expect(decipher(schedule, { hi, lo })).toEqual(number);
});

test('every number comes back under every key', () => {
  const half = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  const keys = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(keys, half, half, (key, hi, lo) => {
      const schedule = scheduleOf(key);
      expect(decipher(schedule, encipher(schedule, { hi, lo }))).toEqual({ hi, lo });
    }),
  );
});
