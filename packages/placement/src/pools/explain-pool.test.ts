import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tree } from '../regular-tree.ts';
import { anyTopology } from '../testing/random-topology.contract.ts';
import { explainPool } from './explain-pool.ts';
import { locateIn } from './locate.ts';
import { selectPool } from './pool.ts';
import { poolShares } from './table.ts';

test('the replicas that the steps lead to are those of the lookup, in any topology and shape', () => {
  const input = anyTopology.chain((topology) =>
    fc.record({
      topology: fc.constant(topology),
      width: fc.record(
        Object.fromEntries(topology.levels.map((level) => [level, fc.integer({ min: 1, max: 4 })])),
      ),
      key: fc.string({ maxLength: 12 }),
      replicas: fc.integer({ min: 1, max: 8 }),
    }),
  );
  fc.assert(
    fc.property(input, ({ topology, width, key, replicas }) => {
      const pool = selectPool(topology, 'a/b/c', { width });
      const { replicas: placed } = pool.place(key, replicas);
      const { replicas: explained, steps } = explainPool(pool, key, replicas);
      expect(explained).toEqual(placed.map(({ path }) => path));
      for (const { candidates, replicas: wanted } of steps) {
        expect(candidates.reduce((sum, { share }) => sum + share, 0)).toBe(wanted);
      }
    }),
    { numRuns: 400 },
  );
});

const cluster = tree(
  { region: 2, zone: 2, node: 32, disk: 16 },
  { slots: [{ name: 'queue', count: 8 }] },
);
const pool = selectPool(cluster, 'acme/orders/row', {
  width: { node: 16, disk: 3 },
  pin: { region: 'r0' },
});

test('2 × 16 × 3: a round of machines in each zone, and one of disks in each machine', () => {
  const { steps } = explainPool(pool, 'acme/orders/row/1', 6);
  const rounds = steps.map(({ level, candidates }) => `${level} ${candidates.length}`);
  expect(rounds).toEqual([
    'region 1',
    'zone 2',
    'node 16',
    ...Array.from({ length: 3 }, () => 'disk 3'),
    'node 16',
    ...Array.from({ length: 3 }, () => 'disk 3'),
  ]);
});

test('a key in the tree of a pool has an id per level and an index per slot level', () => {
  const [first] = locateIn(pool, 'acme/orders/row/1', 6);
  expect(Object.keys(first?.at ?? {})).toEqual(['region', 'zone', 'node', 'disk', 'queue']);
  expect(locateIn(pool, 'acme/orders/row/1', 6)).toHaveLength(6);
});

test('exact shares in a pool are alike for all its disks', () => {
  const shares = poolShares(pool, 6);
  expect(shares.size).toBe(96);
  for (const share of shares.values()) expect(share).toBeCloseTo(6 / 96, 6);
});
