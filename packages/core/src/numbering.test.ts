import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hex16 } from './ids.ts';
import { KeyedNumbering, OpenNumbering } from './numbering.ts';

const halves = fc.record({
  hi: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  lo: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
});
const names = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,63}$/);

/** Not how members do it: 16 bytes that differ from name to name are all that matters here. */
function keyOf(namespace: string): Uint8Array {
  const key = new Uint8Array(16).fill(7);
  for (let i = 0; i < namespace.length; i++) {
    key[i % 16] = (key[i % 16] as number) * 31 + namespace.charCodeAt(i);
  }
  return key;
}

const keyed = new KeyedNumbering(1, keyOf);

describe.each([
  ['with a key', keyed],
  ['without a key', new OpenNumbering()],
])('%s', (_, numbering) => {
  test('numbers come back from either side, and halves stay unsigned', () => {
    fc.assert(
      fc.property(names, halves, (namespace, number) => {
        const { hi, lo } = numbering.inside(namespace, number);
        expect(hex16(hi, lo)).toMatch(/^[0-9a-f]{16}$/);
        expect(hi >= 0 && lo >= 0).toBe(true);
        expect(numbering.outside(namespace, { hi, lo })).toEqual(number);
        expect(numbering.inside(namespace, numbering.outside(namespace, number))).toEqual(number);
      }),
    );
  });

  test('the default namespace has numbers as they are', () => {
    expect(numbering.inside('default', { hi: 1, lo: 2 })).toEqual({ hi: 1, lo: 2 });
    expect(numbering.outside('default', { hi: 1, lo: 2 })).toEqual({ hi: 1, lo: 2 });
  });

  test('small numbers of many namespaces do not meet', () => {
    const seen = new Set<string>();
    for (let i = 0; i < 2000; i++) {
      for (let lo = 0; lo < 50; lo++) {
        const inside = numbering.inside(`team-${i}`, { hi: 0, lo });
        seen.add(hex16(inside.hi, inside.lo));
      }
    }
    expect(seen.size).toBe(2000 * 50);
  });
});

test('with a key, knowledge of some numbers tells nothing of others', () => {
  const difference = (a: { lo: number }, b: { lo: number }): number => (a.lo ^ b.lo) >>> 0;
  const own = (lo: number) => keyed.inside('team-b', { hi: 0, lo });
  const theirs = (lo: number) => keyed.inside('team-a', { hi: 0, lo });
  // An XOR with a secret would give it away with the first pair, and with the order of two numbers one of its bits.
  expect(difference(own(0), own(1))).not.toBe(1);
  expect(difference(own(0), theirs(0))).not.toBe(difference(own(1), theirs(1)));
});

test('without a key the mapping never changes: ids that were given out depend on it', () => {
  const { hi, lo } = new OpenNumbering().inside('team-a', { hi: 0, lo: 0 });
  expect(hex16(hi, lo)).toBe('fc22fb0c97f73266');
});
