/** Shares and movement compared with chance and arithmetic, at a million keys. */
import { describe, expect, test } from 'vitest';
import { compileTopology } from './place.ts';
import { compileTargets, type Placer } from './flat/rendezvous.ts';
import { compileSkeleton } from './flat/skeleton.ts';
import { treeSpec } from './tree-spec.ts';
import { regular } from './testing/regular-topology.contract.ts';
import { buildTopology } from './topology.ts';

const million = 1_000_000;
const addresses = (count: number) =>
  Array.from({ length: count }, (_, i) => `10.0.${i >> 8}.${i & 255}:7253`);

/** Keys per target, over numbers as the timer service makes them: rising. */
function loads(placer: Placer, keys: number, role = 0): number[] {
  const counts = Array.from(placer.names, () => 0);
  const out = new Int32Array(role + 1);
  for (let lo = 0; lo < keys; lo++) {
    placer.pick(401, lo, role + 1, out);
    const target = out[role] as number;
    counts[target] = (counts[target] as number) + 1;
  }
  return counts;
}

/** Standard deviation over mean, in units of the noise of random throws: sqrt((n − 1) / keys). */
function noise(counts: readonly number[], keys: number): number {
  const mean = keys / counts.length;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length;
  return Math.sqrt(variance) / mean / Math.sqrt((counts.length - 1) / keys);
}

describe('balance', () => {
  // The deviation of the deviation itself is 1/sqrt(2(n − 1)): few targets need a wider bound than 1.15.
  test.each([
    [100, 1.15],
    [64, 1.2],
  ])('primaries over %i targets at a million keys: within %f of random throws', (count, bound) => {
    expect(noise(loads(compileTargets(addresses(count)), million), million)).toBeLessThan(bound);
  });

  test('a few targets: no share is off by more than four standard deviations', () => {
    for (const count of [2, 3, 5, 10]) {
      const expected = million / count;
      const deviation = Math.sqrt(expected * (1 - 1 / count));
      for (const load of loads(compileTargets(addresses(count)), million)) {
        expect(Math.abs(load - expected)).toBeLessThan(4 * deviation);
      }
    }
  });

  test('first and second backups are as even as primaries', () => {
    const targets = compileTargets(addresses(100));
    for (const role of [1, 2]) {
      expect(noise(loads(targets, 200_000, role), 200_000)).toBeLessThan(1.3);
    }
  });

  test('disks of a regular tree share alike', () => {
    const compiled = compileTopology(regular({ zone: 4, rack: 5, disk: 10 }));
    expect(noise(loads(compiled, million), million)).toBeLessThan(1.15);
  });

  test('a thousand targets on the skeleton share alike', () => {
    expect(noise(loads(compileSkeleton(addresses(1000)), million), million)).toBeLessThan(1.15);
  });
});

describe('weights', () => {
  test('flat targets get shares in proportion to their weights', () => {
    const specs = [
      { name: 'a', weight: 1 },
      { name: 'b', weight: 2 },
      { name: 'c', weight: 3.5 },
      { name: 'd', weight: 0.5 },
      { name: 'e', weight: 0 },
      { name: 'f', weight: 2 },
    ];
    const total = 9;
    for (const roles of ['rank', 'chronos'] as const) {
      const targets = compileTargets(specs, { roles });
      const counts = loads(targets, 300_000);
      for (const [i, name] of targets.names.entries()) {
        const weight = specs.find((spec) => spec.name === name)?.weight as number;
        expect((counts[i] as number) / 300_000).toBeCloseTo(weight / total, 2);
      }
    }
  });

  test('weights do not add up through the tree unless asked to', () => {
    const children = [
      { id: 'small', children: [{ id: 'd0' }] },
      { id: 'large', children: [{ id: 'd0' }, { id: 'd1' }, { id: 'd2' }] },
    ];
    const share = (weights: 'set' | 'sum') => {
      const topology = buildTopology({ levels: ['rack', 'disk'], weights, children });
      const [, , , small] = loads(compileTopology(topology), 100_000);
      return (small as number) / 100_000;
    };
    expect(share('set')).toBeCloseTo(1 / 2, 2);
    expect(share('sum')).toBeCloseTo(1 / 4, 2);
  });
});

describe('movement against the theoretical share', () => {
  test.each([
    [3, 300_000],
    [10, 300_000],
    [99, 200_000],
  ])('adding one to %i targets moves 1/(N + 1) of the primaries, all onto it', (count, keys) => {
    const before = compileTargets(addresses(count));
    const after = compileTargets([...addresses(count), 'new']);
    const added = after.names.indexOf('new');
    const out = new Int32Array(1);
    let moved = 0;
    let elsewhere = 0;
    for (let lo = 0; lo < keys; lo++) {
      before.pick(5, lo, 1, out);
      const old = before.names[out[0] as number];
      after.pick(5, lo, 1, out);
      if (after.names[out[0] as number] === old) continue;
      moved++;
      if (out[0] !== added) elsewhere++;
    }
    expect(elsewhere).toBe(0);
    const share = 1 / (count + 1);
    const deviation = Math.sqrt((share * (1 - share)) / keys);
    expect(Math.abs(moved / keys - share)).toBeLessThan(4 * deviation);
  });

  test('adding a rack to a zone of four takes a fifth of that zone and nothing elsewhere', () => {
    const spec = treeSpec({ zone: 3, rack: 4, disk: 4 });
    const racks = [...(spec.children[0]?.children ?? []), { id: 'new', children: [{ id: 'd0' }] }];
    const grown = buildTopology({
      ...spec,
      children: [{ id: 'z0', children: racks }, ...spec.children.slice(1)],
    });
    const before = compileTopology(buildTopology(spec));
    const after = compileTopology(grown);
    const out = new Int32Array(1);
    const keys = 100_000;
    let moved = 0;
    for (let lo = 0; lo < keys; lo++) {
      before.pick(5, lo, 1, out);
      const old = before.names[out[0] as number];
      after.pick(5, lo, 1, out);
      const now = after.names[out[0] as number];
      if (now === old) continue;
      moved++;
      expect(now).toBe('z0/new/d0');
      expect(old?.startsWith('z0/')).toBe(true);
    }
    expect(moved / keys).toBeCloseTo(1 / 15, 2);
  });
});
