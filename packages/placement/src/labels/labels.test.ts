import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diff } from '../diff.ts';
import { compileLabelled, placementId } from './labels.ts';
import type { LabelledMember } from './members.ts';
import { compileTargets, type Placer } from '../flat/rendezvous.ts';

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });

function picked(placer: Placer, key: { hi: number; lo: number }, count: number): string[] {
  const out = new Int32Array(count);
  return Array.from(out.subarray(0, placer.pick(key.hi, key.lo, count, out)), (i) => {
    return placer.names[i] as string;
  });
}

/** Members m0, m1 … spread over zones in turn. */
function zoned(count: number, zones: number): LabelledMember[] {
  return Array.from({ length: count }, (_, i) => ({
    name: `10.0.0.${i}:7253`,
    labels: { zone: `zone-${i % zones}` },
  }));
}

describe('labelled members', () => {
  test('without labels are placed exactly as flat targets', () => {
    const names = ['a:1', 'b:1', 'c:1', 'd:1'];
    const labelled = compileLabelled(names.map((name) => ({ name })));
    const flat = compileTargets(names);
    fc.assert(
      fc.property(u32, u32, (hi, lo) => {
        expect(picked(labelled, { hi, lo }, 3)).toEqual(picked(flat, { hi, lo }, 3));
      }),
    );
  });

  test('replicas spread over as many zones as there are', () => {
    const members = zoned(9, 3);
    const placer = compileLabelled(members);
    const zoneOf = new Map(members.map(({ name, labels }) => [name, labels?.['zone']]));
    fc.assert(
      fc.property(u32, u32, fc.integer({ min: 1, max: 5 }), (hi, lo, count) => {
        const found = picked(placer, { hi, lo }, count);
        expect(found).toHaveLength(count);
        expect(new Set(found).size).toBe(count);
        const zones = new Set(found.map((name) => zoneOf.get(name)));
        expect(zones.size).toBe(Math.min(count, 3));
      }),
    );
  });

  test('a new member in one of three even zones takes its share, next to nothing moves elsewhere', () => {
    const before = compileLabelled(zoned(9, 3));
    const joined = { name: '10.0.0.99:7253', labels: { zone: 'zone-1' } };
    const after = compileLabelled([...zoned(9, 3), joined]);
    const change = diff(before, after, { replicas: 2, keys: 20_000 });
    const arrivals = (path: string) =>
      change.domains.find((domain) => domain.path === path)?.arrived ?? 0;
    expect(arrivals(joined.name) / change.copies).toBeGreaterThan(0.09);
    expect(arrivals(joined.name) / change.copies).toBeLessThan(0.11);
    expect(change.moved / change.minimum).toBeLessThan(1.3);
  });

  test('a member without a label that others have stands in a domain of its own kind', () => {
    const placer = compileLabelled([
      { name: 'a:1', labels: { zone: 'x' } },
      { name: 'b:1', labels: { zone: 'x' } },
      { name: 'c:1' },
    ]);
    for (let lo = 0; lo < 100; lo++) expect(picked(placer, { hi: 0, lo }, 2)).toContain('c:1');
    const forgot = compileLabelled([...zoned(8, 2), { name: 'c:1' }]);
    const held = Array.from({ length: 4000 }, (_, lo) => picked(forgot, { hi: 0, lo }, 2)).filter(
      (names) => names.includes('c:1'),
    );
    // Its weight asks for 22 %; as a zone like the others it would hold 67 %.
    expect(held.length / 4000).toBeLessThan(0.3);
  });

  test('a member of weight 0 is no replica', () => {
    const placer = compileLabelled([
      { name: 'a:1', labels: { zone: 'x' } },
      { name: 'b:1', labels: { zone: 'y' }, weight: 0 },
    ]);
    expect(placer.names).toEqual(['a:1']);
    expect(picked(placer, { hi: 0, lo: 1 }, 2)).toEqual(['a:1']);
  });

  test('the rule before this one can still be asked for', () => {
    const members = zoned(7, 3).map((member, i) =>
      i === 0 ? { ...member, labels: { zone: 'lone' } } : member,
    );
    const share = (id: string) => {
      const placer = compileLabelled(members, id);
      const held = Array.from({ length: 4000 }, (_, lo) => picked(placer, { hi: 0, lo }, 2));
      return held.filter((names) => names.includes('10.0.0.0:7253')).length / 4000;
    };
    expect(placementId(members)).toBe('carillon-labels-2');
    expect(share('carillon-placement-1')).toBeCloseTo(1 / 2, 1);
    expect(share(placementId(members))).toBeLessThan(0.39);
    expect(placementId([{ name: 'a' }, { name: 'b', labels: { disk: 'fast' } }])).toBe(
      'carillon-placement-1',
    );
  });

  test('answers that never change under carillon-labels-2', () => {
    const zones: Record<string, string> = { a1: 'a', b1: 'b', b2: 'b', b3: 'b', c1: 'c', c2: 'c' };
    const members = ['a1', 'b1', 'b2', 'b3', 'c1', 'c2', 'd1'].map((name) => ({
      name,
      weight: name === 'c2' ? 2 : 1,
      labels: zones[name] === undefined ? {} : { zone: zones[name] },
    }));
    const placer = compileLabelled(members, 'carillon-labels-2');
    const answers = [0, 1, 2, 3, 4711, 0xffff_ffff].map((lo) =>
      [2, 3, 5].map((count) => picked(placer, { hi: 7, lo }, count).join(' ')),
    );
    expect(answers).toEqual([
      ['c1 a1', 'c1 a1 b1', 'c1 a1 b1 d1 b2'],
      ['c2 b2', 'c2 b2 a1', 'c2 b2 a1 d1 b1'],
      ['b1 c2', 'b1 c2 d1', 'b1 c2 d1 a1 b3'],
      ['b2 c2', 'b2 c2 a1', 'b2 c2 a1 d1 c1'],
      ['c1 b2', 'c1 b2 d1', 'a1 b2 c2 d1 b1'],
      ['a1 b2', 'a1 b2 d1', 'a1 b2 d1 c2 b1'],
    ]);
  });

  test('the same member twice is refused, also under different labels', () => {
    const twice = [
      { name: 'a:1', labels: { zone: 'x' } },
      { name: 'a:1', labels: { zone: 'y' } },
    ];
    expect(() => compileLabelled(twice)).toThrow(
      expect.objectContaining({ code: 'duplicate_id', path: 'a:1' }),
    );
  });
});
