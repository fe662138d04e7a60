import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changeVertices } from '../change.ts';
import { buildTopology, type Topology } from '../topology.ts';
import { toSpec } from '../fingerprint.ts';
import { tree } from '../regular-tree.ts';
import { explainTable } from './explain-table.ts';
import { type LocateOptions, locate, locateIn, tableOf } from './locate.ts';
import { diffTables, tableShares } from './table.ts';

const slots = [
  { name: 'namespace', count: 8 },
  { name: 'queue', count: 128 },
];
const size: LocateOptions = { partitions: 16, replicas: 6, zones: 2 };
const inOneRegion = { ...size, pin: { region: 'r0' } };
const cluster = tree({ region: 2, zone: 2, node: 32, disk: 16 }, { slots });
const table = 'acme/orders/row';
const fanOuts = [32, 32, 32, 16];

describe('the steps of a lookup', () => {
  test('32 × 32 × 32 × 16: 4 steps find a leaf of a zone, 8 steps six replicas', () => {
    const levels = (options: LocateOptions, replicas: number) =>
      explainTable(
        tableOf(cluster, table, { ...options, fanOuts }),
        `${table}/1`,
        replicas,
      ).steps.map(({ path, level, candidates }) => `${path} ${level} ${candidates.length}`);
    const zone = (name: string) => [
      ...[1, 2, 3].map((round) => `r0/${name} stripe ${round} 32`),
      `r0/${name} node 16`,
    ];
    expect(levels(inOneRegion, 6)).toEqual([...zone('z0'), ...zone('z1')]);
    const oneZone = { ...size, zones: 2, pin: { region: 'r0', zone: 'z1' } };
    expect(levels(oneZone, 1)).toEqual(zone('z1'));
    // One replica of two zones: a round more, which picks the zone.
    expect(levels(inOneRegion, 1)).toHaveLength(5);
  });

  test('with stripe bits it is one hash and one round in each zone', () => {
    const { steps } = explainTable(tableOf(cluster, table, inOneRegion), `${table}/1`, 6);
    expect(steps.map(({ level }) => level)).toEqual(['stripe', 'node', 'stripe', 'node']);
  });

  test.each([[undefined], [[16, 16, 16, 8]]])(
    'the targets that the last rounds choose are the ones of the lookup, also with failed targets (fan-outs %s)',
    (given) => {
      const small = tree({ zone: 3, node: 12, disk: 4 }, { slots, quorum: { disk: 1, node: 2 } });
      const paths = small.targets.map(({ path }) => path);
      fc.assert(
        fc.property(
          fc.string({ minLength: 1, maxLength: 20 }),
          fc.integer({ min: 1, max: 6 }),
          fc.uniqueArray(fc.constantFrom(...paths), { maxLength: 30 }),
          (key, replicas, failed) => {
            const now = changeVertices(
              small,
              Object.fromEntries(failed.map((path) => [path, { up: false }])),
            );
            const options = {
              partitions: 8,
              replicas: 6,
              zones: 3,
              ...(given && { fanOuts: given }),
            };
            const tree3 = tableOf(now, table, options);
            const { steps, replicas: found } = explainTable(tree3, key, replicas);
            const chosen = steps
              .filter(({ level }) => level === 'node')
              .flatMap(({ candidates }) => candidates.filter(({ share }) => share > 0));
            expect(chosen.map(({ path }) => path).toSorted()).toEqual(found.toSorted());
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});

describe('a table whose pool changes', () => {
  const grown = (rollout: number): Topology => {
    const { levels, children } = toSpec(tree({ zone: 3, node: 32, disk: 16 }));
    return buildTopology({
      levels,
      slots,
      expansions: [{ id: 'spring', rollout }],
      children: children.map((zone) =>
        zone.id === 'z2' ? { ...zone, expansion: 'spring' } : zone,
      ),
    });
  };
  const keys = 2000;

  test('a planned zone that comes takes a third of the copies, and nothing else moves', () => {
    const before = tableOf(grown(0), table, size);
    const after = tableOf(grown(1), table, size);
    const change = diffTables(before, after, { keys, replicas: 6 });
    expect(change.moved / change.copies).toBeCloseTo(1 / 3, 2);
    expect(change.moved).toBe(change.minimum);
    expect(change.betweenSurvivors).toBe(0);
    expect([...tableShares(after, 6).values()].reduce((sum, share) => sum + share, 0)).toBeCloseTo(
      6,
    );
  });

  test('a pool kept at 96 slots is refused with the way to grow', () => {
    const before = tableOf(grown(0), table, { ...size, zones: 2 });
    const after = tableOf(grown(1), table, { ...size, zones: 3 });
    expect(() => diffTables(before, after, { keys, replicas: 6 })).toThrow(
      /takes 3 of each "disk" before and 2 after, which moves almost every key\. Keep the width/,
    );
  });

  test('locate asks the table of the key', () => {
    const key = `${table}/4711`;
    expect(locate(cluster, key, inOneRegion)).toEqual(
      locateIn(tableOf(cluster, table, inOneRegion), key, 6),
    );
    expect(() => tableOf(cluster, 'acme/orders', inOneRegion)).toThrow(/account\/table\/type/);
  });
});
