import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hex16 } from './ids.ts';
import { shiftNumber } from './namespace-number.ts';

const halves = fc.record({
  hi: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  lo: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
});
const names = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,63}$/);

test('shifting twice leads back, and halves stay unsigned', () => {
  fc.assert(
    fc.property(names, halves, (namespace, number) => {
      const shifted = shiftNumber(namespace, number);
      expect(hex16(shifted.hi, shifted.lo)).toMatch(/^[0-9a-f]{16}$/);
      expect(shifted.hi >= 0 && shifted.lo >= 0).toBe(true);
      expect(shiftNumber(namespace, shifted)).toEqual(number);
    }),
  );
});

test('the default namespace has numbers as they are', () => {
  expect(shiftNumber('default', { hi: 1, lo: 2 })).toEqual({ hi: 1, lo: 2 });
});

test('small numbers of many namespaces do not meet', () => {
  const seen = new Set<string>();
  for (let i = 0; i < 2000; i++) {
    for (let lo = 0; lo < 50; lo++) {
      const { hi, lo: low } = shiftNumber(`team-${i}`, { hi: 0, lo });
      seen.add(hex16(hi, low));
    }
  }
  expect(seen.size).toBe(2000 * 50);
});

test('the shift of a namespace never changes: ids that were given out depend on it', () => {
  const { hi, lo } = shiftNumber('team-a', { hi: 0, lo: 0 });
  expect(hex16(hi, lo)).toBe('fc22fb0c97f73266');
});
