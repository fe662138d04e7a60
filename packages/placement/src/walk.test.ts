import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explain } from './explain.ts';
import { health } from './health.ts';
import { compileTopology, place } from './place.ts';
import type { Policy } from './policy.ts';
import { compileTargets } from './flat/rendezvous.ts';
import { anyCase, anyTopology } from './testing/random-topology.contract.ts';
import { buildTopology, type Topology } from './topology.ts';

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const anyKey = fc.oneof(fc.record({ hi: u32, lo: u32 }), fc.string({ maxLength: 30 }));

function paths(topology: Topology, key: Parameters<typeof place>[1], policy: Policy): string[] {
  return place(topology, key, policy).replicas.map(({ path }) => path);
}

test('the order of zones goes by the targets chosen below, not by the ones that ranked first there', () => {
  // Rack r0 of both zones ranks first but holds one replica where two must fit into one rack.
  const rack = (id: string, disks: number, up: number) => ({
    id,
    children: Array.from({ length: disks }, (_, i) => ({ id: `d${i}`, up: i < up })),
  });
  const topology = buildTopology({
    levels: ['zone', 'rack', 'disk'],
    quorum: { disk: 0 },
    children: ['z0', 'z1'].map((id) => ({ id, children: [rack('r0', 1, 1), rack('r1', 4, 3)] })),
  });
  const policy = { replicas: 4, width: { rack: 1 } };
  for (let i = 0; i < 200; i++) {
    expect(paths(topology, `key ${i}`, policy)).toEqual(
      explain(topology, `key ${i}`, policy).replicas,
    );
  }
});

describe('the walk over random topologies', () => {
  test('answers exactly as explain derives step by step', () => {
    fc.assert(
      fc.property(anyCase, anyKey, ({ topology, policy }, key) => {
        expect(paths(topology, key, policy)).toEqual(explain(topology, key, policy).replicas);
      }),
      { numRuns: 1000 },
    );
  });

  test('gives min(replicas, live) different live targets when no width or pin is set', () => {
    fc.assert(
      fc.property(
        anyTopology,
        fc.integer({ min: 1, max: 12 }),
        anyKey,
        (topology, replicas, key) => {
          const states = health(topology);
          const live = topology.children.reduce(
            (sum, top) => sum + (states.get(top)?.live ?? 0),
            0,
          );
          const found = paths(topology, key, { replicas });
          expect(found).toHaveLength(Math.min(replicas, live));
          expect(new Set(found).size).toBe(found.length);
          for (const path of found) {
            const target = topology.targets.find((one) => one.path === path);
            expect(target && states.get(target)?.state).toBe('up');
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('says so when there are fewer targets than replicas', () => {
    const topology = buildTopology({ levels: ['disk'], children: [{ id: 'a' }, { id: 'b' }] });
    expect(place(topology, 'key', { replicas: 3 })).toMatchObject({ wanted: 3, complete: false });
    expect(place(topology, 'key', { replicas: 3 }).replicas).toHaveLength(2);
    expect(place(topology, 'key', { replicas: 2 }).complete).toBe(true);
  });

  test('a topology of one level ranks as flat targets do', () => {
    const ids = fc.uniqueArray(fc.string({ unit: 'grapheme-ascii', minLength: 1 }), {
      minLength: 1,
      maxLength: 20,
    });
    const plain = ids.filter((list) => list.every((id) => !id.includes('/')));
    fc.assert(
      fc.property(plain, fc.constantFrom('rank', 'chronos'), anyKey, (list, roles, key) => {
        const topology = buildTopology({
          levels: ['member'],
          children: list.map((id) => ({ id })),
        });
        const flat = compileTargets(list, { roles }).rank(key);
        expect(paths(topology, key, { replicas: list.length, roles })).toEqual(
          flat.map(({ name }) => name),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('number keys and pick agree with place', () => {
    fc.assert(
      fc.property(anyTopology, u32, u32, (topology, hi, lo) => {
        const compiled = compileTopology(topology, { replicas: 3 });
        const out = new Int32Array(3);
        const size = compiled.pick(hi, lo, 3, out);
        const picked = Array.from(out.subarray(0, size), (i) => compiled.names[i]);
        expect(picked).toEqual(compiled.place({ hi, lo }).replicas.map(({ path }) => path));
      }),
    );
  });
});
