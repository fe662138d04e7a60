import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changeVertices } from '../change.ts';
import { type Pool, selectPool } from './pool.ts';
import { regular } from '../testing/regular-topology.contract.ts';
import type { Topology } from '../topology.ts';
import { VirtualTree } from './virtual-tree.ts';

const shape = { width: { rack: 4, disk: 2 } };
const start = regular({ zone: 2, rack: 8, disk: 6 }, { quorum: { disk: 2, rack: 2 } });
const down = (topology: Topology, paths: readonly string[]) =>
  changeVertices(topology, Object.fromEntries(paths.map((path) => [path, { up: false }])));
const rackOf = (path: string) => path.slice(0, path.lastIndexOf('/'));
const serving = (pool: Pool) =>
  new Map(pool.slots().map((slot) => [slot.coordinates.join(), slot.path]));

const collection = fc.string({ minLength: 1, maxLength: 12 });
const someTargets = fc.uniqueArray(fc.nat({ max: start.targets.length - 1 }), { maxLength: 8 });
const pathsOf = (indexes: readonly number[]) =>
  indexes.map((i) => start.targets[i]?.path as string);

describe('pool slots', () => {
  test('survivors keep their slots in every failure, and repair restores the pool', () => {
    fc.assert(
      fc.property(collection, someTargets, (name, failed) => {
        const healthy = selectPool(start, name, shape);
        const owners = serving(healthy);
        const broken = selectPool(down(start, pathsOf(failed)), name, shape);
        const failedPaths = new Set(pathsOf(failed));
        const failedPerRack = (rack: string) =>
          [...failedPaths].filter((path) => rackOf(path) === rack).length;
        for (const { coordinates, path, owner } of broken.slots()) {
          expect(owner).toBe(owners.get(coordinates.join()));
          if (!failedPaths.has(owner) && failedPerRack(rackOf(owner)) <= 2)
            expect(path).toBe(owner);
        }
        const repaired = selectPool(start, name, shape);
        expect(repaired.slots()).toEqual(healthy.slots());
      }),
      { numRuns: 100 },
    );
  });

  test('one more loss moves no slot that was served by another target', () => {
    fc.assert(
      fc.property(collection, fc.nat(), fc.nat(), (name, first, second) => {
        // Two losses in one rack are within quorum, and each slot has its own line of succession.
        const pool = selectPool(start, name, shape).slots();
        const one = pool[first % pool.length]?.owner as string;
        const mates = start.targets.filter(
          ({ path }) => rackOf(path) === rackOf(one) && path !== one,
        );
        const two = mates[second % mates.length]?.path as string;
        const before = serving(selectPool(down(start, [one]), name, shape));
        const after = serving(selectPool(down(start, [one, two]), name, shape));
        for (const [slot, path] of before) if (path !== two) expect(after.get(slot)).toBe(path);
      }),
      { numRuns: 100 },
    );
  });

  test('a lost slot’s place is taken by a live disk of the same rack outside the pool', () => {
    for (let i = 0; i < 100; i++) {
      const healthy = selectPool(start, `table ${i}`, shape);
      const lost = healthy.slots()[i % 16]?.owner as string;
      const inPool = new Set(healthy.slots().map(({ path }) => path));
      const slots = selectPool(down(start, [lost]), `table ${i}`, shape).slots();
      const taker = slots.find(({ owner }) => owner === lost)?.path as string;
      expect(rackOf(taker)).toBe(rackOf(lost));
      expect(inPool.has(taker)).toBe(false);
    }
  });

  test('the place of a slot that is first in line goes to the next-ranked disk', () => {
    const wide = selectPool(start, 'table', { width: { rack: 4, disk: 5 } }).slots();
    const narrow = selectPool(start, 'table', { width: { rack: 4, disk: 2 } }).slots();
    const lost = narrow[0]?.owner as string;
    const ranked = wide
      .filter(({ owner }) => rackOf(owner) === rackOf(lost))
      .map(({ owner }) => owner);
    expect(ranked.slice(0, 2)).toEqual([lost, narrow[1]?.owner]);
    expect(selectPool(down(start, [lost]), 'table', shape).slots()[0]?.path).toBe(ranked[2]);
  });

  test('a hollow rack’s place is taken by another rack of the zone outside the pool', () => {
    for (let i = 0; i < 50; i++) {
      const healthy = selectPool(start, `table ${i}`, shape).slots();
      const racks = new Set(healthy.map(({ owner }) => rackOf(owner)));
      const hollow = [...racks][i % 8] as string;
      const lost = ['d0', 'd1', 'd2'].map((disk) => `${hollow}/${disk}`);
      const slots = selectPool(down(start, lost), `table ${i}`, shape).slots();
      for (const { owner, path } of slots) {
        if (rackOf(owner) !== hollow) expect(path).toBe(owner);
        else {
          expect(rackOf(rackOf(path as string))).toBe(rackOf(hollow));
          expect(racks.has(rackOf(path as string))).toBe(false);
        }
      }
    }
  });

  test('a hollow zone’s place is taken by a zone outside the pool', () => {
    const three = regular({ zone: 3, rack: 4, disk: 3 }, { quorum: { rack: 1, disk: 1 } });
    const two = { width: { zone: 2, rack: 2, disk: 1 } };
    const healthy = selectPool(three, 'table', two).slots();
    const zones = [...new Set(healthy.map(({ owner }) => owner.slice(0, 2)))];
    const lost = ['r0', 'r1'].map((rack) => `${zones[0]}/${rack}`);
    const slots = selectPool(down(three, lost), 'table', two).slots();
    const serves = slots.filter(({ owner }) => owner.startsWith(zones[0] as string));
    for (const { path } of serves) expect(zones).not.toContain(path?.slice(0, 2));
    for (const { owner, path } of slots) {
      if (owner.startsWith(zones[1] as string)) expect(path).toBe(owner);
    }
  });

  test('a zone with nowhere to go is used as far as it lives, and dead slots are empty', () => {
    const one = regular({ zone: 1, rack: 2, disk: 2 }, { quorum: { disk: 0, rack: 0 } });
    const all = { width: { rack: 2, disk: 2 } };
    const slots = selectPool(down(one, ['z0/r0/d0']), 'table', all).slots();
    expect(slots.filter(({ path }) => path === null)).toHaveLength(1);
    expect(slots.filter(({ owner, path }) => path === owner)).toHaveLength(3);
  });
});

describe('keys in a pool', () => {
  test('a key moves only when its own slot’s target changes', () => {
    const healthy = selectPool(start, 'table', shape);
    const lost = healthy.slots()[3]?.owner as string;
    const broken = selectPool(down(start, [lost]), 'table', shape);
    const taker = broken.slots()[3]?.path as string;
    for (let i = 0; i < 500; i++) {
      const before = healthy.place(`key ${i}`, 4).replicas.map(({ path }) => path);
      const after = broken.place(`key ${i}`, 4).replicas.map(({ path }) => path);
      expect(after).toEqual(before.map((path) => (path === lost ? taker : path)));
    }
  });

  test('more replicas than slots gives all and says so', () => {
    const placement = selectPool(start, 'table', shape).place('key', 20);
    expect(placement).toMatchObject({ wanted: 20, complete: false });
    expect(placement.replicas).toHaveLength(16);
  });
});

describe('virtual tree', () => {
  const slotted = regular(
    { zone: 2, rack: 8, disk: 6 },
    { quorum: { disk: 2, rack: 2 }, slots: [{ name: 'queue', count: 4 }] },
  );
  const options = [{}, { fanOuts: [4, 2, 4] }, { fanOuts: [3, 5, 4] }];

  test.each(options)('replicas are on different racks, zones in turn: %j', (option) => {
    const tree = new VirtualTree(selectPool(slotted, 'table', shape), option);
    for (let i = 0; i < 300; i++) {
      for (const replicas of [1, 2, 3, 6]) {
        const leaves = tree.place(`key ${i}`, replicas);
        expect(leaves).toHaveLength(replicas);
        expect(new Set(leaves.map(({ path }) => rackOf(path))).size).toBe(replicas);
        const inFirst = leaves.filter(({ path }) => path.startsWith('z0')).length;
        expect(Math.abs(inFirst - (replicas - inFirst))).toBeLessThanOrEqual(replicas % 2);
      }
    }
  });

  test.each(options)('every leaf gets its share: %j', (option) => {
    const tree = new VirtualTree(selectPool(slotted, 'table', shape), option);
    const counts = new Map<string, number>();
    for (let lo = 0; lo < 64_000; lo++) {
      const [leaf] = tree.place({ hi: 0, lo }, 1);
      const name = `${leaf?.path}#${leaf?.slot.join()}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    expect(counts.size).toBe(64);
    // 3 × 5 virtual stripes over 8 real ones: one of them gets half.
    const least = option.fanOuts?.[0] === 3 ? 400 : 850;
    for (const count of counts.values()) {
      expect(count).toBeGreaterThan(least);
      expect(count).toBeLessThan(1250);
    }
  });

  test('a lost disk moves only its own leaves, to the target that took its slot', () => {
    const healthy = selectPool(slotted, 'table', shape);
    const lost = healthy.slots()[5]?.owner as string;
    const broken = selectPool(down(slotted, [lost]), 'table', shape);
    const taker = broken.slots()[5]?.path as string;
    const before = new VirtualTree(healthy);
    const after = new VirtualTree(broken);
    for (let i = 0; i < 500; i++) {
      const old = before.place(`key ${i}`, 4);
      const now = after.place(`key ${i}`, 4);
      expect(now.map(({ path }) => path)).toEqual(
        old.map(({ path }) => (path === lost ? taker : path)),
      );
      expect(now.map(({ slot }) => slot)).toEqual(old.map(({ slot }) => slot));
    }
  });

  test('an empty slot is passed over for the next machine', () => {
    const small = regular({ rack: 3, disk: 1 }, { quorum: { rack: 3 } });
    const all = { width: { rack: 3, disk: 1 } };
    const tree = new VirtualTree(selectPool(down(small, ['r0/d0']), 'table', all));
    for (let i = 0; i < 100; i++) {
      const paths = tree.place(`key ${i}`, 3).map(({ path }) => path);
      expect(paths.toSorted()).toEqual(['r1/d0', 'r2/d0']);
    }
  });

  test('fan-outs that do not fit the pool are refused', () => {
    const pool = selectPool(slotted, 'table', shape);
    for (const fanOuts of [[8, 5], [4, 4], [2, 2, 4], [8.5, 4], []]) {
      expect(() => new VirtualTree(pool, { fanOuts })).toThrow(
        expect.objectContaining({ code: 'bad_input' }),
      );
    }
  });
});
