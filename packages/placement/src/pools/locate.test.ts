import { describe, expect, test } from 'vitest';
import { changeVertices } from '../change.ts';
import { diff } from '../diff.ts';
import { locate } from './locate.ts';
import { compilePools, diffPools, selectPool } from './pool.ts';
import { tree } from '../regular-tree.ts';
import { buildTopology } from '../topology.ts';
import { toSpec } from '../fingerprint.ts';
import { VirtualTree } from './virtual-tree.ts';

const slots = [
  { name: 'namespace', count: 8 },
  { name: 'queue', count: 128 },
];
const cluster = tree({ region: 2, zone: 2, node: 32, disk: 16 }, { slots });
const size = { partitions: 16, replicas: 6 };
const pin = { region: 'r0' };

describe('the question of the notes on key addressing', () => {
  test('tree gives regular trees, and refuses counts that are none', () => {
    expect(cluster.targets).toHaveLength(2048);
    expect(cluster.targets[0]?.path).toBe('r0/z0/n0/d0');
    expect(() => tree({ zone: 0 })).toThrow(/count of "zone"/);
    expect(() => tree({})).toThrow(/"levels"/);
  });

  test('16 partitions and 6 replicas are 2 zones × 16 nodes × 3 disks', () => {
    const byHand = compilePools(cluster, { width: { node: 16, disk: 3 }, pin });
    const workedOut = compilePools(cluster, { ...size, pin });
    const slotsOf = (pools: typeof byHand) => pools.select('a/t/x').slots();
    expect(slotsOf(workedOut)).toHaveLength(96);
    expect(slotsOf(workedOut)).toEqual(slotsOf(byHand));
  });

  test.each([
    [{ partitions: 16 }, /either "width" or both/],
    [{ ...size, width: { disk: 3 } }, /either "width" or both/],
    [{}, /either "width" or both/],
    [{ partitions: 16, replicas: 5 }, /5 replicas do not divide over 2 zones/],
  ])('%j is refused', (shape, sentence) => {
    expect(() => compilePools(cluster, { ...shape, pin })).toThrow(sentence);
  });

  test('locate says region, zone, node, disk, namespace and queue of each replica', () => {
    const found = locate(cluster, 'acme/orders/row/4711', { ...size, pin });
    expect(found).toHaveLength(6);
    for (const { path, at } of found) {
      expect(Object.keys(at)).toEqual(['region', 'zone', 'node', 'disk', 'namespace', 'queue']);
      expect(at['region']).toBe('r0');
      expect(path).toBe(`r0/${at['zone']}/${at['node']}/${at['disk']}`);
    }
    expect(new Set(found.map(({ at }) => `${at['zone']}/${at['node']}`)).size).toBe(6);
    expect(() => locate(cluster, 'acme/orders', { ...size, pin })).toThrow(/account\/table\/type/);
  });

  test('locate asks as the account: an expansion that it does not see holds nothing', () => {
    const disks = [{ id: 'd0' }, { id: 'd1' }, { id: 'd2' }];
    const nodes = ['n0', 'n1', 'n2'].map((id) => ({ id, children: disks }));
    const growing = buildTopology({
      levels: ['zone', 'node', 'disk'],
      expansions: [{ id: 'spring', rollout: 0 }],
      children: [
        { id: 'z0', children: nodes },
        { id: 'z1', expansion: 'spring', children: nodes },
      ],
    });
    const zones = (createdUnder?: string) =>
      new Set(
        locate(growing, 'acme/t/x/1', {
          partitions: 2,
          replicas: 2,
          zones: 1,
          ...(createdUnder === undefined ? {} : { createdUnder }),
        }).map(({ at }) => at['zone']),
      );
    expect(zones()).toEqual(new Set(['z0']));
    expect(zones('spring')).toEqual(new Set(['z0', 'z1']));
  });
});

describe('a planned zone comes', () => {
  const three = tree({ zone: 3, node: 32, disk: 16 }, { slots });
  const two = changeVertices(three, { z2: { weight: 0 } });
  const input = { replicas: 6, keys: 5000 };

  test('while a zone is planned or comes with an expansion, a pool must say for how many zones it was made', () => {
    expect(() => selectPool(two, 'a/t/x', size)).toThrow(
      /"zones": 2 without "z2", planned or of an expansion/,
    );
    const { children, ...rest } = toSpec(three);
    const growing = buildTopology({
      ...rest,
      expansions: [{ id: 'spring', rollout: 1 }],
      children: children.map((zone) =>
        zone.id === 'z2' ? { ...zone, expansion: 'spring' } : zone,
      ),
    });
    // Accounts that see the zone already have the same shape of pool as all others.
    const seen = { account: { id: 'a', createdUnder: 'spring' } };
    expect(() => selectPool(growing, 'a/t/x', { ...size, ...seen })).toThrow(/"zones": 2/);
  });

  test('with the pool kept at 96 the change is refused, and the sentence says what to do instead', () => {
    const before = selectPool(two, 'a/t/x', { ...size, zones: 2 });
    const after = selectPool(three, 'a/t/x', { ...size, zones: 3 });
    expect(after.slots()).toHaveLength(96);
    expect(() => diffPools(before, after, input)).toThrow(
      expect.objectContaining({ code: 'pool_reshaped' }),
    );
    const unchecked = diff(before, after, input);
    expect(unchecked.moved / unchecked.copies).toBeGreaterThan(0.5);
    expect(() => diffPools(before, after, input)).toThrow(
      /takes 3 of each "disk" before and 2 after/,
    );
  });

  test('with its width kept the pool grows to 144 and a third moves, the least possible, in the pool tree and the virtual tree', () => {
    const before = selectPool(two, 'a/t/x', { ...size, zones: 2 });
    const after = selectPool(three, 'a/t/x', { ...size, zones: 2 });
    expect(after.slots()).toHaveLength(144);
    const change = diffPools(before, after, input);
    expect(change.moved / change.copies).toBeCloseTo(1 / 3, 3);
    expect(change.moved).toBe(change.minimum);
    expect(change.betweenSurvivors).toBe(0);
    const [old, now] = [new VirtualTree(before), new VirtualTree(after)];
    let moved = 0;
    for (let key = 0n; key < 1000n; key++) {
      const paths = new Set(old.place(key, 6).map(({ path }) => path));
      moved += now.place(key, 6).filter(({ path }) => !paths.has(path)).length;
    }
    expect(moved / 6000).toBeCloseTo(1 / 3, 3);
  });
});
