import { describe, expect, test } from 'vitest';
import { compileTopology } from './place.ts';
import { compilePools } from './pools/pool.ts';
import { compileTargets } from './flat/rendezvous.ts';
import { slotCount } from './slots.ts';
import { treeSpec } from './tree-spec.ts';
import { countingHash, keyAddressing } from './testing/regular-topology.contract.ts';
import { buildTopology, type VertexSpec } from './topology.ts';
import { VirtualTree } from './pools/virtual-tree.ts';

const collection = 'account/tableName/resourceType';
const shape = { width: { node: 16, disk: 3 }, pin: { region: 'r0' } };
const domain = (path: string, depth: number) => path.split('/').slice(0, depth).join('/');

describe('seed 003, key addressing: replication factor 6, partitioning factor 16, a single region', () => {
  const topology = keyAddressing();

  test('this means that we have a total of 2^21 combinations', () => {
    expect(topology.targets.length * slotCount(topology.slots)).toBe(2 ** 21);
  });

  test('16*6 = 96 slots are picked for the table: 2 zones × 16 nodes × 3 disks, all different', () => {
    const slots = compilePools(topology, shape).select(collection).slots();
    expect(slots).toHaveLength(96);
    expect(new Set(slots.map(({ path }) => path)).size).toBe(96);
    expect(new Set(slots.map(({ owner }) => domain(owner, 2))).size).toBe(2);
    expect(new Set(slots.map(({ owner }) => domain(owner, 3))).size).toBe(32);
  });

  test('the first level is region, the weights force the algorithm to pick the first region and need no hashing', () => {
    const hash = countingHash();
    const spec = treeSpec({ region: 2, zone: 2, disk: 4 });
    const [first, second] = spec.children as [VertexSpec, VertexSpec];
    const weighted = buildTopology({ ...spec, children: [first, { ...second, weight: 0 }] }, hash);
    const compiled = compileTopology(weighted, { replicas: 2 });
    const out = new Int32Array(2);
    for (let lo = 0; lo < 50; lo++) {
      hash.count = 0;
      expect(compiled.pick(0, lo, 2, out)).toBe(2);
      for (const i of out) expect(compiled.names[i]?.startsWith('r0/')).toBe(true);
      expect(hash.count).toBe(8);
    }
  });

  test('2 real zones and 6 fake zones to plan for future expansion: both real ones are involved, no fake one', () => {
    const spec = treeSpec({ zone: 2, node: 32, disk: 16 });
    const fake = Array.from({ length: 6 }, (_, i) => ({ id: `fake${i}`, weight: 0 }));
    const planned = buildTopology({ ...spec, children: [...spec.children, ...fake] });
    const slots = compilePools(planned, { width: shape.width }).select(collection).slots();
    expect(new Set(slots.map(({ owner }) => domain(owner, 1)))).toEqual(new Set(['z0', 'z1']));
    expect(slots).toHaveLength(96);
  });

  test('we have thus selected the candidate disks: 2 zones × 16 nodes × 16 disks = 512, times 8 × 128 is 2^19', () => {
    const machines = new Set(
      compilePools(topology, shape)
        .select(collection)
        .slots()
        .map(({ owner }) => domain(owner, 3)),
    );
    expect(machines.size * 16).toBe(512);
    expect(machines.size * 16 * slotCount(topology.slots)).toBe(2 ** 19);
    expect(32 * 32 * 32 * 16).toBe(2 ** 19);
  });

  test('instead of another round on the cluster tree, a lookup on the smaller tree gives 6 disks of the pool on 6 nodes, 3 in each zone', () => {
    const pool = compilePools(topology, shape).select(collection);
    const inPool = new Set(pool.slots().map(({ path }) => path));
    for (let i = 0; i < 500; i++) {
      const paths = pool.place(`${collection}/${i}`, 6).replicas.map(({ path }) => path);
      expect(new Set(paths).size).toBe(6);
      expect(paths.every((path) => inPool.has(path))).toBe(true);
      expect(new Set(paths.map((path) => domain(path, 3))).size).toBe(6);
      for (const zone of ['r0/z0', 'r0/z1']) {
        expect(paths.filter((path) => domain(path, 2) === zone)).toHaveLength(3);
      }
    }
  });

  test('to know the position of a key we need 4 steps, 8 steps if we want to know all the 6 replicas', () => {
    const hash = countingHash();
    const pool = compilePools(keyAddressing(hash), shape).select(collection);
    const tree = new VirtualTree(pool, { fanOuts: [32, 32, 32, 16] });
    const steps = tree.stripeFanOuts.length + 1;
    expect(steps).toBe(4);
    hash.count = 0;
    const leaves = tree.place(7n, 6);
    expect(hash.count).toBe(2 * (32 + 32 + 32 + 16));
    expect(leaves).toHaveLength(6);
    expect(new Set(leaves.map(({ path }) => domain(path, 3))).size).toBe(6);
    for (const { slot } of leaves) {
      expect(slot[0]).toBeLessThan(8);
      expect(slot[1]).toBeLessThan(128);
    }
  });
});

describe('cost in hash evaluations', () => {
  const hash = countingHash();
  const topology = keyAddressing(hash);
  const pool = compilePools(topology, shape).select(collection);
  const out = new Int32Array(6);
  const cost = (work: () => void): number => {
    hash.count = 0;
    work();
    return hash.count;
  };

  test('flat: 2048, one per disk', () => {
    const flat = compileTargets(
      topology.targets.map(({ path }) => path),
      { hash },
    );
    expect(cost(() => flat.pick(1, 2, 6, out))).toBe(2048);
  });

  test('cluster tree, 6 replicas: 160', () => {
    const compiled = compileTopology(topology, { pin: { region: 'r0' } });
    for (let lo = 0; lo < 50; lo++) expect(cost(() => compiled.pick(1, lo, 6, out))).toBe(160);
  });

  test('pool selection: 576', () => {
    const selector = compilePools(topology, shape);
    for (let i = 0; i < 50; i++) expect(cost(() => selector.select(`table ${i}`))).toBe(576);
  });

  test('pool tree, 6 replicas: 50', () => {
    const walk = pool.compile();
    for (let lo = 0; lo < 50; lo++) expect(cost(() => walk.number(1, lo, 6))).toBe(50);
  });

  test.each([
    [[32, 32, 32, 16], 224],
    [[16, 16, 12, 16], 120],
    [undefined, 34],
  ])('virtual tree %j, 6 replicas: %i', (fanOuts, evaluations) => {
    const tree = new VirtualTree(pool, fanOuts === undefined ? {} : { fanOuts });
    for (let lo = 0; lo < 50; lo++) expect(cost(() => tree.pick(1, lo, 6, out))).toBe(evaluations);
  });
});
