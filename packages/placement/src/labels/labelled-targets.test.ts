import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diff } from '../diff.ts';
import type { Placer } from '../flat/rendezvous.ts';
import { explainMembers } from './explain-members.ts';
import { evenShares, hotMembers } from './hot.ts';
import { compileLabelled } from './labels.ts';
import type { LabelledMember } from './members.ts';

/** So many members in each zone: `m2-0` is the first one of the third zone. */
function zones(...sizes: number[]): (LabelledMember & { labels: { zone: string } })[] {
  return sizes.flatMap((size, zone) =>
    Array.from({ length: size }, (_, i) => ({
      name: `m${zone}-${i}`,
      labels: { zone: `zone ${zone}` },
    })),
  );
}

function picked(placer: Placer, lo: number, count: number): string[] {
  const out = new Int32Array(count);
  const size = placer.pick(9, lo, count, out);
  return Array.from(out.subarray(0, size), (i) => placer.names[i] as string);
}

/** The share of all keys that the members of each zone hold, on average over the zone. */
function zoneShares(members: readonly LabelledMember[], factor: number, keys: number): number[] {
  const placer = compileLabelled(members);
  const held = new Map<string, number>();
  for (let lo = 0; lo < keys; lo++) {
    for (const name of picked(placer, lo, factor)) held.set(name, (held.get(name) ?? 0) + 1);
  }
  const inZones = Map.groupBy(members, ({ labels }) => labels?.['zone']);
  return [...inZones.values()].map(
    (inside) =>
      inside.reduce((sum, { name }) => sum + (held.get(name) ?? 0), 0) / inside.length / keys,
  );
}

function swapped(before: Placer, after: Placer, factor: number, lo: number): boolean {
  const old = picked(before, lo, factor);
  const now = picked(after, lo, factor);
  return now.indexOf(old[0] as string) > 0 || old.indexOf(now[0] as string) > 0;
}

const sizes = fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 8 })), {
  minLength: 1,
  maxLength: 7,
});

describe('shares', () => {
  test('zones of 1, 3 and 3 with factor 2: the lone member holds at most 39 %, where it held 66 %', () => {
    const [lone, ...others] = zoneShares(zones(1, 3, 3), 2, 20_000) as [number, number, number];
    expect(lone).toBeLessThan(0.39);
    for (const share of others) expect(share).toBeGreaterThan(0.25);
  });

  /** How many times the share that weights and distinct zones ask of a zone its members hold, for the hottest zone. */
  function timesHeld(members: readonly LabelledMember[], factor: number, keys: number): number {
    const possible = evenShares(members, factor).map(({ fair, even }) => Math.max(fair, even));
    const inZones = Map.groupBy(members.keys(), (i) => members[i]?.labels?.['zone']);
    const held = zoneShares(members, factor, keys);
    return Math.max(
      ...[...inZones.values()].map((inside, zone) => {
        const asked = inside.reduce((sum, i) => sum + (possible[i] as number), 0) / inside.length;
        return (held[zone] as number) / asked;
      }),
    );
  }

  test('no zone’s members hold more than 1.35 times the share that distinct zones allow', () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 5 }), (counts, factor) => {
        const members = zones(...counts);
        fc.pre(factor <= members.length);
        // Shares of small zones are known to within a sixth with two thousand keys.
        expect(timesHeld(members, factor, 2000)).toBeLessThan(1.35 * 1.15);
      }),
      { numRuns: 100 },
    );
  });

  test('a light member that is alone in its zone holds little: 0.5, 2 and 5 × 2 with factor 2', () => {
    const weights = [0.5, 2, 2, 2, 2, 2, 2];
    const members = zones(1, 1, 5).map((member, i) => ({
      ...member,
      weight: weights[i] as number,
    }));
    const [light, heavy] = zoneShares(members, 2, 20_000) as [number, number, number];
    // Exact shares would be 0.2 and 0.8; without regard to weights both are a half.
    expect(light).toBeLessThan(0.4);
    expect(heavy).toBeGreaterThan(0.6);
  });

  test('a member’s weight counts across zones', () => {
    const members = zones(2, 2, 2).map((member) =>
      member.name === 'm0-0' ? { ...member, weight: 3 } : member,
    );
    const placer = compileLabelled(members);
    let heavy = 0;
    let light = 0;
    for (let lo = 0; lo < 10_000; lo++) {
      const names = picked(placer, lo, 2);
      if (names.includes('m0-0')) heavy++;
      if (names.includes('m1-0')) light++;
    }
    expect(heavy / light).toBeGreaterThan(2);
  });
});

describe('movement', () => {
  test('a member that joins moves at most 1.2 times the least for the resulting loads, a tenth of it between other zones', () => {
    const sums = { moved: 0, minimum: 0, elsewhere: 0 };
    fc.assert(
      fc.property(sizes, fc.nat(), fc.integer({ min: 1, max: 4 }), (counts, into, factor) => {
        const members = zones(...counts);
        fc.pre(factor <= members.length);
        const zone = `zone ${into % counts.length}`;
        const joined = [...members, { name: `new ${into}`, labels: { zone } }];
        const zoneOf = new Map(joined.map(({ name, labels }) => [name, labels.zone]));
        const change = diff(compileLabelled(members), compileLabelled(joined), {
          replicas: factor,
          keys: 500,
        });
        sums.moved += change.moved;
        sums.minimum += change.minimum;
        sums.elsewhere += change.flows
          .filter(({ to }) => zoneOf.get(to) !== zone)
          .reduce((sum, { copies }) => sum + copies, 0);
      }),
      { numRuns: 100 },
    );
    expect(sums.moved / sums.minimum).toBeLessThan(1.2);
    expect(sums.elsewhere / sums.moved).toBeLessThan(0.1);
  });
});

describe('roles', () => {
  test('no primary becomes a backup nor the reverse when a member joins or leaves a zone that stays, for every factor', () => {
    fc.assert(
      fc.property(
        sizes,
        fc.nat(),
        fc.integer({ min: 1, max: 6 }),
        fc.nat({ max: 0xffff_ffff }),
        (counts, into, factor, start) => {
          const members = zones(...counts);
          fc.pre(factor <= members.length);
          const labels = { zone: `zone ${into % counts.length}` };
          const before = compileLabelled(members);
          const after = compileLabelled([...members, { name: `new ${into}`, labels }]);
          for (let i = 0; i < 40; i++) {
            expect(swapped(before, after, factor, (start + i) >>> 0)).toBe(false);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  test('nor when a zone comes or goes, while there are as many others as replicas', () => {
    fc.assert(
      fc.property(
        sizes,
        fc.integer({ min: 1, max: 6 }),
        fc.nat({ max: 0xffff_ffff }),
        (counts, factor, start) => {
          fc.pre(factor <= counts.length);
          const members = zones(...counts);
          const before = compileLabelled(members);
          const after = compileLabelled([...members, { name: 'new', labels: { zone: 'new' } }]);
          for (let i = 0; i < 40; i++) {
            expect(swapped(before, after, factor, (start + i) >>> 0)).toBe(false);
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('the list', () => {
  test('as many members as asked for, none twice, in as many zones as there are, for any order of the members', () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 12 }), fc.nat(), (counts, factor, lo) => {
        const members = zones(...counts);
        const names = picked(compileLabelled(members), lo >>> 0, factor);
        expect(names).toHaveLength(Math.min(factor, members.length));
        expect(new Set(names).size).toBe(names.length);
        const used = new Set(names.map((name) => name.split('-')[0]));
        expect(used.size).toBe(Math.min(names.length, counts.length));
        expect(picked(compileLabelled(members.toReversed()), lo >>> 0, factor)).toEqual(names);
      }),
    );
  });

  test('regions first, then zones, then racks', () => {
    const members = ['eu', 'us'].flatMap((region) =>
      ['a', 'b'].flatMap((zone) =>
        ['r1', 'r2'].flatMap((rack) =>
          ['1', '2'].map((name) => ({
            name: `${region}-${zone}-${rack}-${name}`,
            labels: { region, zone, rack },
          })),
        ),
      ),
    );
    const placer = compileLabelled(members);
    for (let lo = 0; lo < 300; lo++) {
      const at = (count: number, depth: number) =>
        new Set(picked(placer, lo, count).map((name) => name.split('-').slice(0, depth).join('-')));
      expect(at(2, 1).size).toBe(2);
      expect(at(4, 2).size).toBe(4);
      expect(at(8, 3).size).toBe(8);
      expect(at(16, 4).size).toBe(16);
    }
  });

  test('is the one that explainMembers derives step by step, with any labels and weights', () => {
    const label = fc.constantFrom('a', 'b', 'c');
    const member = fc.record({
      labels: fc.record({ region: label, zone: label, rack: label }, { requiredKeys: [] }),
      weight: fc.constantFrom(1, 1, 1, 2, 0.5, 0),
    });
    fc.assert(
      fc.property(
        fc.array(member, { minLength: 1, maxLength: 14 }),
        fc.integer({ min: 1, max: 15 }),
        fc.nat({ max: 0xffff_ffff }),
        (specs, count, lo) => {
          const members = specs.map((spec, i) => ({ ...spec, name: `m${i}` }));
          const { replicas, steps } = explainMembers(members, { hi: 9, lo }, count);
          expect(picked(compileLabelled(members), lo, count)).toEqual(replicas);
          const shares = steps.filter(({ level }) => level === 'member');
          const chosen = shares.flatMap(({ candidates }) =>
            candidates.filter(({ share }) => share > 0).map(({ id }) => id),
          );
          expect(new Set(chosen)).toEqual(new Set(replicas));
        },
      ),
      { numRuns: 100 },
    );
  });

  test('a text and a number are placed by the same rule', () => {
    const placer = compileLabelled(zones(2, 3, 1));
    const out = new Int32Array(3);
    expect(placer.pickText('order-4711', 3, out)).toBe(3);
    expect(new Set(out).size).toBe(3);
  });
});

describe('members that distinct zones make hot', () => {
  test('1, 3 and 3 with factor 3: the lone member, with the reason; with factor 2 none', () => {
    expect(hotMembers(zones(1, 3, 3), 3).map(({ says }) => says)).toEqual([
      'm0-0 holds about 100 % of all timers with 3 copies, where its weight asks for 43 %: zone zone 0 has no other member, and copies are in distinct zones.',
    ]);
    expect(hotMembers(zones(1, 3, 3), 2)).toEqual([]);
  });

  test('two members of many are told by their number, and unlabelled members never', () => {
    const [hot] = hotMembers(zones(2, 10), 2);
    expect(hot?.says).toContain('zone zone 0 has only 2 of 12 members');
    expect(hotMembers([{ name: 'a' }, { name: 'b', weight: 5 }], 2)).toEqual([]);
  });

  test('even shares add up to the copies of a key', () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 9 }), (counts, factor) => {
        const members = zones(...counts);
        const total = evenShares(members, factor).reduce((sum, { even }) => sum + even, 0);
        expect(total).toBeCloseTo(Math.min(factor, members.length), 6);
      }),
    );
  });
});
