import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileLabelled, type LabelledMember } from './labels.ts';
import { compileTargets, type Placer } from './flat/rendezvous.ts';

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

  test('a new member takes keys only for itself, and no primary becomes a backup', () => {
    const before = compileLabelled(zoned(9, 3));
    const joined = { name: '10.0.0.99:7253', labels: { zone: 'zone-1' } };
    const after = compileLabelled([...zoned(9, 3), joined]);
    let moved = 0;
    for (let lo = 0; lo < 20_000; lo++) {
      const old = picked(before, { hi: 7, lo }, 2);
      const now = picked(after, { hi: 7, lo }, 2);
      for (const name of now) if (!old.includes(name)) expect(name).toBe(joined.name);
      if (now[0] !== old[0]) {
        moved++;
        expect(now[0]).toBe(joined.name);
        expect(now).not.toContain(old[0]);
      }
    }
    // A third of the primaries is in its zone, and it takes a fourth of those.
    expect(moved / 20_000).toBeGreaterThan(0.075);
    expect(moved / 20_000).toBeLessThan(0.092);
  });

  test('a member without a label that others have stands in a domain of its own kind', () => {
    const placer = compileLabelled([
      { name: 'a:1', labels: { zone: 'x' } },
      { name: 'b:1', labels: { zone: 'x' } },
      { name: 'c:1' },
    ]);
    for (let lo = 0; lo < 100; lo++) expect(picked(placer, { hi: 0, lo }, 2)).toContain('c:1');
  });

  test('a member of weight 0 is no replica', () => {
    const placer = compileLabelled([
      { name: 'a:1', labels: { zone: 'x' } },
      { name: 'b:1', labels: { zone: 'y' }, weight: 0 },
    ]);
    expect(placer.names).toEqual(['a:1']);
    expect(picked(placer, { hi: 0, lo: 1 }, 2)).toEqual(['a:1']);
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
