import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Hash } from './hash.ts';
import { compileTargets, type Targets } from './rendezvous.ts';

/** A hash that answers from a table: texts are target names, numbers are looked up by seed. */
function tableHash(names: Record<string, number>, scores: Record<number, number>): Hash {
  return {
    text: (text) => names[text] ?? Number.NaN,
    number: (_hi, _lo, seed) => scores[seed] ?? Number.NaN,
  };
}

function order(targets: Targets, key: bigint): string[] {
  return targets.rank(key).map(({ name, score }) => `${name}/${score}`);
}

const names = { A: 1000, B: 2000, C: 3000, D: 4000, A1: 1000, A2: 1000 };

describe('seed 000 and 001: worked example', () => {
  const scores = { 1000: 7777, 2000: 9999, 3000: 8888, 4000: 6666 };
  const hash = tableHash(names, scores);

  test('A would therefore be the primary replica (as the lowest hash), and B the first backup replica (as the highest hash)', () => {
    expect(order(compileTargets(['A', 'B', 'C'], { hash }), 100n).slice(0, 2)).toEqual([
      'A/7777',
      'B/9999',
    ]);
  });

  test('with a replication factor of 3, C (with the second-highest hash) would be second backup replica', () => {
    expect(order(compileTargets(['A', 'B', 'C'], { hash }), 100n)[2]).toBe('C/8888');
  });

  test('after scale-up D would be the primary replica (as the lowest hash), and B the first backup; C second backup', () => {
    const grown = compileTargets(['A', 'B', 'C', 'D'], { hash });
    expect(order(grown, 100n)).toEqual(['D/6666', 'B/9999', 'C/8888', 'A/7777']);
  });

  test('ownership moves from A to D, but B remains the backup', () => {
    const out = new Int32Array(2);
    const before = compileTargets(['A', 'B', 'C'], { hash });
    before.pick(0, 100, 2, out);
    expect(Array.from(out, (i) => before.names[i])).toEqual(['A', 'B']);
    const after = compileTargets(['A', 'B', 'C', 'D'], { hash });
    after.pick(0, 100, 2, out);
    expect(Array.from(out, (i) => after.names[i])).toEqual(['D', 'B']);
  });
});

describe('seed 000 and 001: collision between server hashes', () => {
  const scores = { 1000: 7777, 1001: 9000, 2000: 9999, 3000: 8888 };
  const hash = tableHash(names, scores);

  test('we resolve the clash by incrementing the second hash until it is unique: 1000, 1001, 2000 and 3000', () => {
    const targets = compileTargets(['A1', 'A2', 'B', 'C'], { hash });
    expect([...targets.seeds]).toEqual([1000, 1001, 2000, 3000]);
  });

  test('the order in which the list is given does not matter: A1 keeps 1000 wherever it stands', () => {
    const targets = compileTargets(['C', 'A2', 'B', 'A1'], { hash });
    expect(targets.names).toEqual(['A1', 'A2', 'B', 'C']);
    expect([...targets.seeds]).toEqual([1000, 1001, 2000, 3000]);
  });

  test('A1 would be the primary, B the first backup and A2 (with the second-highest hash) the second backup', () => {
    const targets = compileTargets(['A1', 'A2', 'B', 'C'], { hash });
    expect(order(targets, 100n)).toEqual(['A1/7777', 'B/9999', 'A2/9000', 'C/8888']);
  });

  test('removing A1: we no longer increment A2, it is now 1000 instead of 1001, and A2 has gone from second backup to primary', () => {
    const targets = compileTargets(['A2', 'B', 'C'], { hash });
    expect([...targets.seeds]).toEqual([1000, 2000, 3000]);
    expect(order(targets, 100n)).toEqual(['A2/7777', 'B/9999', 'C/8888']);
  });

  test('a chain of clashes climbs over values that are taken, past 2³² − 1 to 0', () => {
    const full = { a: 0xffff_ffff, b: 0xffff_ffff, c: 0, d: 0xffff_ffff };
    const targets = compileTargets(['a', 'b', 'c', 'd'], { hash: tableHash(full, {}) });
    expect([...targets.seeds]).toEqual([0xffff_ffff, 0, 1, 2]);
  });
});

describe('seed 000 and 001: collision between timer hashes', () => {
  const hash = tableHash(names, { 1000: 800, 2000: 800, 3000: 900 });

  test('we resolve the collision (two values of 800) by incrementing the clashing value: A/800, B/801, C/900', () => {
    const ranked = compileTargets(['A', 'B', 'C'], { hash }).rank(200n);
    const byName = ranked.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect(byName.map(({ score }) => score)).toEqual([800, 801, 900]);
  });

  test('A would be the primary replica, C the first backup, and B the second backup', () => {
    expect(order(compileTargets(['A', 'B', 'C'], { hash }), 200n)).toEqual([
      'A/800',
      'C/900',
      'B/801',
    ]);
  });

  test('if A is removed B becomes primary; if B is removed nothing changes', () => {
    expect(order(compileTargets(['B', 'C'], { hash }), 200n)[0]).toBe('B/800');
    expect(order(compileTargets(['A', 'C'], { hash }), 200n)).toEqual(['A/800', 'C/900']);
  });
});

test('key 100 over A, B, C: primary B, first backup A, second backup C, with the published scores', () => {
  expect(order(compileTargets(['A', 'B', 'C']), 100n)).toEqual([
    'B/1539445309',
    'A/4117022581',
    'C/4104135955',
  ]);
});

test('the loop for two picks agrees with the general one', () => {
  const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
  const set = fc.uniqueArray(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 }), {
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(set, u32, u32, fc.integer({ min: 0, max: 5 }), (list, hi, lo, count) => {
      const targets = compileTargets(list);
      const out = new Uint16Array(5);
      const size = targets.pick(hi, lo, count, out);
      const ranked = targets.rank({ hi, lo }).map(({ name }) => name);
      expect(Array.from(out.subarray(0, size), (i) => targets.names[i])).toEqual(
        ranked.slice(0, count),
      );
    }),
    { numRuns: 300 },
  );
});
