/** Properties of change: which keys may move when targets come, go, fail and return, over random clusters and trees. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changeVertices } from './change.ts';
import { health } from './health.ts';
import { compileTopology } from './place.ts';
import { compileTargets, type Placer } from './flat/rendezvous.ts';
import { treeSpec } from './tree-spec.ts';
import { regular } from './testing/regular-topology.contract.ts';
import { topologySpec } from './testing/random-topology.contract.ts';
import { buildTopology, type Topology, type VertexSpec } from './topology.ts';

const seedNumber = fc.integer({ min: 0, max: 0xffff_ffff });
const keysPerCase = 20;

function picked(placer: Placer, hi: number, lo: number, count: number): string[] {
  const out = new Int32Array(count);
  const size = placer.pick(hi, lo, count, out);
  return Array.from(out.subarray(0, size), (i) => placer.names[i] as string);
}

/** Calls `check` with the replicas of some keys before and after. */
function eachKey(
  before: Placer,
  after: Placer,
  replicas: number,
  check: (old: string[], now: string[]) => void,
): void {
  for (let lo = 0; lo < keysPerCase; lo++) {
    check(picked(before, 9, lo, replicas), picked(after, 9, lo, replicas));
  }
}

/** As `expect`, but cheap enough for every key of thousands of cases. */
function must(holds: boolean, what: string, ...seen: unknown[]): void {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(seen)}`);
}

function mustEqual(old: readonly string[], now: readonly string[]): void {
  must(old.join() === now.join(), 'nothing may change', old, now);
}

const members = fc.uniqueArray(
  seedNumber.map((number) => `10.${number % 256}.${(number >>> 8) % 256}.9:7253`),
  { minLength: 2, maxLength: 30 },
);

describe('flat targets', () => {
  test('every member agrees: the order of the list never matters', () => {
    const shuffled = members.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        eachKey(compileTargets(list), compileTargets(other), 4, mustEqual);
      }),
      { numRuns: 150 },
    );
  });

  test('a new target takes keys only for itself; no primary becomes a backup nor the reverse', () => {
    fc.assert(
      fc.property(members, fc.integer({ min: 1, max: 5 }), (list, factor) => {
        const replicas = Math.min(factor, list.length);
        eachKey(compileTargets(list), compileTargets([...list, 'new']), replicas, (old, now) => {
          for (const [i, name] of now.entries()) {
            if (name === 'new') continue;
            must(old.includes(name), 'no key moves between old targets', old, now);
            must((old[0] === name) === (i === 0), 'roles stay apart', old, now);
          }
          must(old[0] === now[0] || now[0] === 'new', 'primaries move only onto it', old, now);
        });
      }),
      { numRuns: 150 },
    );
  });

  test('a target that leaves moves only its own keys; no role changes between survivors', () => {
    fc.assert(
      fc.property(members, fc.integer({ min: 1, max: 5 }), (list, factor) => {
        const [gone, ...rest] = list as [string, ...string[]];
        const replicas = Math.min(factor, rest.length);
        eachKey(compileTargets(list), compileTargets(rest), replicas, (old, now) => {
          if (!old.includes(gone)) mustEqual(old, now);
          must(old[0] === gone || now[0] === old[0], 'other primaries stay', old, now);
          for (const name of old.slice(1)) {
            must(name === gone || now.indexOf(name) > 0, 'other backups stay backups', old, now);
          }
          must(now.indexOf(old[0] as string) <= 0, 'no primary becomes a backup', old, now);
        });
      }),
      { numRuns: 150 },
    );
  });

  test('weights: raising one weight only brings keys to its target', () => {
    const weighted = fc.uniqueArray(
      fc.record({ name: seedNumber.map(String), weight: fc.constantFrom(0.5, 1, 1, 2, 3) }),
      { minLength: 2, maxLength: 15, selector: ({ name }) => name },
    );
    fc.assert(
      fc.property(weighted, (list) => {
        const [first, ...rest] = list as [{ name: string; weight: number }];
        const raised = [{ ...first, weight: first.weight * 1.5 }, ...rest];
        const options = { roles: 'rank' } as const;
        eachKey(compileTargets(list, options), compileTargets(raised, options), 1, (old, now) => {
          if (old[0] !== now[0]) expect(now[0]).toBe(first.name);
        });
      }),
      { numRuns: 100 },
    );
  });
});

/** Three to five children everywhere, everything up, so that one loss never runs out of room for two replicas. */
const roomy = fc
  .record({
    zone: fc.integer({ min: 2, max: 4 }),
    rack: fc.integer({ min: 3, max: 4 }),
    disk: fc.integer({ min: 3, max: 5 }),
  })
  .map((counts) => regular(counts, { quorum: { disk: 1, rack: 1 } }));
const roles = fc.constantFrom('rank' as const, 'chronos' as const);
const replicaCount = fc.integer({ min: 1, max: 2 });
const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'));

describe('topologies', () => {
  test('the order of children never matters', () => {
    const reversed = (specs: readonly VertexSpec[]): VertexSpec[] =>
      specs.toReversed().map((spec) => ({ ...spec, children: reversed(spec.children ?? []) }));
    fc.assert(
      fc.property(topologySpec(), roles, (spec, role) => {
        const other = buildTopology({ ...spec, children: reversed(spec.children) });
        const policy = { roles: role };
        eachKey(
          compileTopology(buildTopology(spec), policy),
          compileTopology(other, policy),
          3,
          mustEqual,
        );
      }),
      { numRuns: 150 },
    );
  });

  test('a loss within quorum moves only the lost copies, inside the same parent, and repair restores all', () => {
    fc.assert(
      fc.property(roomy, roles, replicaCount, fc.nat(), (topology, role, replicas, nth) => {
        const lost = topology.targets[nth % topology.targets.length]?.path as string;
        const after = changeVertices(topology, { [lost]: { up: false } });
        const policy = { roles: role };
        eachKey(
          compileTopology(topology, policy),
          compileTopology(after, policy),
          replicas,
          (old, now) => {
            const arrived = now.filter((path) => !old.includes(path));
            must(arrived.length === (old.includes(lost) ? 1 : 0), 'only what was lost', old, now);
            const inside = arrived.every((path) => parentOf(path) === parentOf(lost));
            must(inside, 'inside the same parent', old, now);
            must(!now.includes(lost), 'nothing on what is lost', old, now);
          },
        );
        const repaired = changeVertices(after, { [lost]: { up: true } });
        eachKey(
          compileTopology(topology, policy),
          compileTopology(repaired, policy),
          replicas,
          mustEqual,
        );
      }),
      { numRuns: 100 },
    );
  });

  test('a loss beyond quorum moves the parent’s content to its siblings, one level up and no further', () => {
    fc.assert(
      fc.property(roomy, roles, fc.nat(), (topology, role, nth) => {
        const rack = parentOf(topology.targets[nth % topology.targets.length]?.path as string);
        const [first, second] = topology.targets.filter(({ path }) => parentOf(path) === rack);
        const one = changeVertices(topology, { [first?.path as string]: { up: false } });
        const two = changeVertices(one, { [second?.path as string]: { up: false } });
        const policy = { roles: role };
        eachKey(compileTopology(one, policy), compileTopology(two, policy), 1, ([old], [now]) => {
          if (parentOf(old as string) !== rack) expect(now).toBe(old);
          else {
            expect(parentOf(now as string)).not.toBe(rack);
            expect(parentOf(parentOf(now as string))).toBe(parentOf(rack));
          }
        });
      }),
      { numRuns: 150 },
    );
  });

  test('turning weight 0 into 1 moves exactly the keys the new vertex wins', () => {
    fc.assert(
      fc.property(roomy, roles, replicaCount, fc.nat(), (topology, role, replicas, nth) => {
        const path = topology.targets[nth % topology.targets.length]?.path as string;
        const vertex = nth % 2 === 0 ? path : parentOf(path);
        const planned = changeVertices(topology, { [vertex]: { weight: 0 } });
        const policy = { roles: role };
        eachKey(
          compileTopology(planned, policy),
          compileTopology(topology, policy),
          replicas,
          (old, now) => {
            for (const name of now) {
              if (!old.includes(name)) expect(`${name}/`.startsWith(`${vertex}/`)).toBe(true);
            }
          },
        );
      }),
      { numRuns: 100 },
    );
  });

  test('with chronos roles a new domain turns no primary into a backup', () => {
    const spec = treeSpec({ zone: 3, disk: 3 });
    const grown = buildTopology({
      ...spec,
      children: [...spec.children, { id: 'new', children: [{ id: 'd0' }, { id: 'd1' }] }],
    });
    const policy = { roles: 'chronos' } as const;
    const before = compileTopology(buildTopology(spec), policy);
    const after = compileTopology(grown, policy);
    for (let lo = 0; lo < 3000; lo++) {
      const old = picked(before, 1, lo, 2);
      const now = picked(after, 1, lo, 2);
      expect(now.slice(1)).not.toContain(old[0]);
      expect(now[0] === old[1]).toBe(false);
      if (now[0] !== old[0]) expect(now[0]?.startsWith('new/')).toBe(true);
    }
  });

  test('no replica is on a dead or planned target, in any tree', () => {
    fc.assert(
      fc.property(topologySpec(), (spec) => {
        const topology: Topology = buildTopology(spec);
        const states = health(topology);
        const compiled = compileTopology(topology);
        const byPath = new Map(topology.targets.map((target) => [target.path, target]));
        for (let lo = 0; lo < keysPerCase; lo++) {
          for (const path of picked(compiled, 3, lo, 3)) {
            const target = byPath.get(path);
            expect(target && states.get(target)?.state).toBe('up');
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});
