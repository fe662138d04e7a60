import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  crc32,
  fingerprint,
  murmur3,
  rendezvous,
  type RingPlacement,
  successor,
} from './placements.ts';

const slots = 1024;
const utf8 = new TextEncoder();
const text = new TextDecoder();
/** A number as text hashes to itself: positions can be read off the names. */
const integers = successor((bytes) => Number(text.decode(bytes)), 'integer');
const all = [
  ['rendezvous', rendezvous],
  ['successor with crc32', successor()],
  ['successor with murmur3', successor(murmur3, 'murmur3')],
] as const;

function members(...ids: string[]): { id: string; weight: number }[] {
  return ids.map((id) => ({ id, weight: 1 }));
}

const someIds = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), {
  minLength: 2,
  maxLength: 8,
});

describe.each(all)('placement: %s', (_name, placement) => {
  test('a newcomer only takes, a leaver only gives: nothing else moves', () => {
    fc.assert(
      fc.property(someIds, (ids) => {
        const [newcomer, ...rest] = ids as [string, ...string[]];
        const without = placement.assign(members(...rest), 64);
        const withAll = placement.assign(members(...ids), 64);
        for (let slot = 0; slot < 64; slot++) {
          if (withAll[slot] !== newcomer) expect(withAll[slot]).toBe(without[slot]);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('the order of members plays no part, and a member without weight gets no slot', () => {
    const a = placement.assign([...members('a', 'b', 'c'), { id: 'd', weight: 0 }], slots);
    const b = placement.assign(members('c', 'a', 'b'), slots);
    expect(a).toEqual(b);
    expect(placement.assign([{ id: 'd', weight: 0 }], 4)).toEqual([null, null, null, null]);
    expect(placement.assign([], 2)).toEqual([null, null]);
  });

  test('every key has a slot', () => {
    fc.assert(
      fc.property(fc.string(), (key) => {
        const slot = placement.slotOf(key, slots);
        expect(Number.isInteger(slot) && slot >= 0 && slot < slots).toBe(true);
      }),
    );
  });
});

describe('placement: balance', () => {
  test.each([2, 3, 5, 8, 10])(
    'rendezvous gives %i members at most 1.35 times the mean',
    (count) => {
      for (let run = 0; run < 40; run++) {
        const ids = Array.from({ length: count }, (_, i) => `worker-${run}-${i}`);
        const owners = rendezvous.assign(members(...ids), slots);
        const most = Math.max(...ids.map((id) => owners.filter((owner) => owner === id).length));
        expect(most / (slots / count)).toBeLessThanOrEqual(1.35);
      }
    },
  );

  test('weights count: twice the weight, about twice the slots', () => {
    const owners = rendezvous.assign(
      [
        { id: 'a', weight: 2 },
        { id: 'b', weight: 1 },
      ],
      slots,
    );
    const share = owners.filter((owner) => owner === 'a').length / slots;
    expect(share).toBeGreaterThan(0.6);
    expect(share).toBeLessThan(0.73);
  });
});

describe('placement: successor', () => {
  test('three members and nine keys spread 3/3/3; a removed member moves exactly its keys, an added one exactly its share', () => {
    const keys = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
    const ownersOf = (...ids: string[]): string => {
      const owners = integers.assign(members(...ids), slots);
      return keys.map((key) => owners[integers.slotOf(key, slots)]).join('');
    };
    expect(ownersOf('3', '6', '9')).toBe('333666999');
    expect(ownersOf('3', '9')).toBe('333999999');
    expect(ownersOf('3', '6', '8', '9')).toBe('333666889');
  });

  test('a constant hash hides no member: members at one position share it', () => {
    const constant = successor(() => 7, 'constant');
    const owners = constant.assign(members('a', 'b', 'c'), slots);
    expect(new Set(owners)).toEqual(new Set(['a', 'b', 'c']));
  });

  test('crc32 and murmur3 are the known functions', () => {
    expect(crc32(utf8.encode('123456789'))).toBe(0xcbf43926);
    expect(murmur3(utf8.encode('hello'))).toBe(0x248bfa47);
  });
});

test('placements that place differently have different fingerprints', () => {
  const prints = [rendezvous, successor(), successor(murmur3, 'crc32'), integers].map((placement) =>
    fingerprint(placement, slots),
  );
  expect(new Set(prints).size).toBe(4);
  expect(fingerprint(rendezvous, 512)).not.toBe(fingerprint(rendezvous, 1024));
});

test('of worker-0, worker-1 and worker-2 the classic ring gives the first 78 % of the slots, rendezvous a third', () => {
  const workers = [0, 1, 2].map((i) => ({ id: `worker-${i}`, weight: 1 }));
  const shareOfFirst = (placement: RingPlacement): number =>
    placement.assign(workers, slots).filter((id) => id === 'worker-0').length / slots;
  expect(shareOfFirst(successor())).toBeCloseTo(0.78, 2);
  expect(shareOfFirst(rendezvous)).toBeCloseTo(0.33, 2);
});
