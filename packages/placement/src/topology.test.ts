import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changeVertices } from './change.ts';
import { PlacementError } from './errors.ts';
import { fingerprint, fingerprintTargets, toSpec } from './fingerprint.ts';
import { hashText } from './flat/hash.ts';
import { compileTopology, place } from './place.ts';
import { compileTargets } from './flat/rendezvous.ts';
import { treeSpec } from './tree-spec.ts';
import { regular } from './testing/regular-topology.contract.ts';
import { topologySpec } from './testing/random-topology.contract.ts';
import { buildTopology, levelsMax } from './topology.ts';

function errorOf(work: () => unknown): PlacementError {
  try {
    work();
  } catch (error) {
    if (error instanceof PlacementError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const levels = ['zone', 'disk'];
const cyclic: { id: string; children: unknown[] } = { id: 'a', children: [] };
cyclic.children.push(cyclic);
const deepCycle = { id: 'a', children: [{ id: 'b', children: [] as unknown[] }] };
deepCycle.children[0]?.children.push(deepCycle);

describe('the plain form of a regular tree', () => {
  test('stands for its levels and children, with the vertices that differ', () => {
    const vertices = { z1: { weight: 0 }, 'z0/d1': { up: false } };
    expect(toSpec(buildTopology({ tree: { zone: 2, disk: 2 }, vertices }))).toEqual(
      toSpec(
        buildTopology({
          levels: ['zone', 'disk'],
          children: [
            { id: 'z0', children: [{ id: 'd0' }, { id: 'd1', up: false }] },
            { id: 'z1', weight: 0, children: [{ id: 'd0' }, { id: 'd1' }] },
          ],
        }),
      ),
    );
  });

  test.each([
    [{ tree: { zone: 2 }, levels: ['zone'] }, /either "tree" or "levels" and "children"/],
    [{ vertices: {}, levels: ['zone'], children: [] }, /"vertices" goes with "tree"/],
    [
      { tree: { zone: 2 }, vertices: { z7: { weight: 0 } } },
      /names "z7", which is not in the tree/,
    ],
    [{ tree: { zone: 2 }, vertices: { z1: { wieght: 0 } } }, /did you mean "weight"|"weight"/],
    [{ tree: { zone: 2 }, vertices: { z1: 0 } }, /must be an object/],
    [{ tree: { zone: 0.5 } }, /count of "zone" must be a whole number/],
    [{ tree: { zone: 2000, disk: 2000 } }, /at most 1000000 vertices/],
    [{ tree: {} }, /"levels" must list 1 to 16 names/],
  ])('%j is refused', (spec, says) => {
    expect(() => buildTopology(spec)).toThrow(says);
  });
});

describe('bad topologies get an error that names the vertex by its path', () => {
  test.each([
    [
      'two siblings with one id',
      [{ id: 'a', children: [{ id: 'x' }, { id: 'x' }] }],
      'duplicate_id',
      'a/x',
    ],
    ['an empty id', [{ id: 'a', children: [{ id: '' }] }], 'bad_id', 'a'],
    ['an id that is no text', [{ id: 7, children: [] }], 'bad_id', 'the top'],
    ['an id with a slash', [{ id: 'a', children: [{ id: 'x/y' }] }], 'bad_id', 'a/x/y'],
    ['a lone surrogate', [{ id: '\ud800', children: [{ id: 'x' }] }], 'bad_id', 'the top'],
    ['a negative weight', [{ id: 'a', children: [{ id: 'x', weight: -1 }] }], 'bad_weight', 'a/x'],
    [
      'a NaN weight',
      [{ id: 'a', children: [{ id: 'x', weight: Number.NaN }] }],
      'bad_weight',
      'a/x',
    ],
    [
      'an infinite weight',
      [{ id: 'a', weight: Number.POSITIVE_INFINITY, children: [{ id: 'x' }] }],
      'bad_weight',
      'a',
    ],
    [
      'a weight that is no number',
      [{ id: 'a', weight: '1', children: [{ id: 'x' }] }],
      'bad_weight',
      'a',
    ],
    [
      'a branch that ends early',
      [{ id: 'a', children: [{ id: 'x' }] }, { id: 'b' }],
      'uneven_depth',
      'b',
    ],
    [
      'a branch that goes on',
      [{ id: 'a', children: [{ id: 'x', children: [{ id: 'y' }] }] }],
      'uneven_depth',
      'a/x',
    ],
    ['a vertex that is its own child', [cyclic], 'cycle', 'a/a'],
    ['a vertex below itself', [deepCycle], 'cycle', 'a/b'],
    [
      'up that is no boolean',
      [{ id: 'a', children: [{ id: 'x', up: 'yes' }] }],
      'bad_input',
      'a/x',
    ],
    [
      'an unknown expansion',
      [{ id: 'a', expansion: 'e9', children: [{ id: 'x' }] }],
      'unknown_vertex',
      'a',
    ],
    ['a child that is no object', [{ id: 'a', children: ['x'] }], 'bad_input', 'a'],
  ])('%s', (_, children, code, path) => {
    const error = errorOf(() => buildTopology({ levels, children }));
    expect(error).toMatchObject({ code, path });
    expect(error.message).toMatch(/[.]$/);
  });

  test.each([
    ['no object', null, 'bad_input'],
    ['no levels', { children: [] }, 'bad_input'],
    ['a level twice', { levels: ['a', 'a'], children: [] }, 'duplicate_id'],
    [
      'too many levels',
      { levels: Array.from({ length: levelsMax + 1 }, (_, i) => `l${i}`), children: [] },
      'bad_input',
    ],
    [
      'a quorum for an unknown level',
      { levels, quorum: { rack: 1 }, children: [] },
      'unknown_level',
    ],
    [
      'a quorum that is no whole number',
      { levels, quorum: { disk: 1.5 }, children: [] },
      'bad_input',
    ],
    ['another algorithm', { levels, algorithm: 'carillon-placement-9', children: [] }, 'bad_input'],
    [
      'a slot level named as a level',
      { levels, slots: [{ name: 'disk', count: 2 }], children: [] },
      'duplicate_id',
    ],
    ['slots without a count', { levels, slots: [{ name: 'queue' }], children: [] }, 'bad_input'],
    [
      'too many slots',
      {
        levels,
        slots: [
          { name: 'q', count: 2 ** 13 },
          { name: 's', count: 2 ** 12 },
        ],
        children: [],
      },
      'too_large',
    ],
    [
      'a rollout over 1',
      { levels, expansions: [{ id: 'e', rollout: 1.1 }], children: [] },
      'bad_input',
    ],
    [
      'an expansion twice',
      {
        levels,
        expansions: [
          { id: 'e', rollout: 0 },
          { id: 'e', rollout: 0 },
        ],
        children: [],
      },
      'duplicate_id',
    ],
    ['an unknown kind of weights', { levels, weights: 'max', children: [] }, 'bad_input'],
  ])('%s', (_, spec, code) => {
    expect(errorOf(() => buildTopology(spec)).code).toBe(code);
  });

  test.each([
    ['a width for an unknown level', { width: { rack: 1 } }, 'unknown_level'],
    ['a pin to nowhere', { pin: { zone: 'mars' } }, 'unknown_vertex'],
    ['a width of 0', { width: { zone: 0 } }, 'bad_input'],
    ['replicas 0', { replicas: 0 }, 'bad_input'],
    ['half a replica', { replicas: 1.5 }, 'bad_input'],
    ['replica for replicas', { replica: 3 }, 'unknown_field'],
  ])('policy: %s', (_, policy, code) => {
    expect(errorOf(() => place(regular({ zone: 2, disk: 2 }), 'key', policy as object)).code).toBe(
      code,
    );
  });

  test.each([
    ['wieght: 0 of a vertex', { id: 'x', wieght: 0 }, 'a/x', 'weight'],
    ['chidlren of a vertex', { id: 'x', chidlren: [] }, 'a/x', 'children'],
    ['Up in capitals', { id: 'x', Up: false }, 'a/x', 'up'],
  ])('%s is refused with the path and the right word', (_, child, path, right) => {
    const error = errorOf(() =>
      buildTopology({ levels, children: [{ id: 'a', children: [child] }] }),
    );
    expect(error).toMatchObject({ code: 'unknown_field', path });
    expect(error.message).toContain(`The vertex "${path}" has no field`);
    expect(error.message).toContain(`Did you mean "${right}"?`);
  });

  test.each([
    ['quorums', { quorums: { disk: 1 } }, 'quorum'],
    ['weigths', { weigths: 'sum' }, 'weights'],
    ['cont of a slot level', { slots: [{ name: 'queue', count: 2, cont: 3 }] }, 'count'],
    ['rolluot of an expansion', { expansions: [{ id: 'e', rollout: 0, rolluot: 1 }] }, 'rollout'],
  ])('%s is refused with the right word', (_, more, right) => {
    const error = errorOf(() => buildTopology({ levels, children: [], ...more }));
    expect(error.code).toBe('unknown_field');
    expect(error.message).toContain(`Did you mean "${right}"?`);
  });

  test('a word that is near to none is refused with all that are right', () => {
    const error = errorOf(() => buildTopology({ levels, children: [], description: 'ours' }));
    expect(error.message).toBe(
      'A topology has no field "description"; the fields are algorithm, levels, quorum, weights, slots, expansions, children, tree, vertices.',
    );
  });

  test('no input makes it crash in another way', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4 }), fc.anything({ maxDepth: 4 }), (children, rest) => {
        const spec = { levels: ['a', 'b'], ...(typeof rest === 'object' ? rest : {}), children };
        try {
          buildTopology(spec);
        } catch (error) {
          expect(error).toBeInstanceOf(PlacementError);
        }
      }),
      { numRuns: 600 },
    );
  });
});

describe('bad targets and keys', () => {
  test.each([
    ['a name twice', ['a', 'b', 'a'], 'duplicate_id'],
    ['an empty name', [''], 'bad_id'],
    ['a negative weight', [{ name: 'a', weight: -1 }], 'bad_weight'],
    ['a NaN weight', [{ name: 'a', weight: Number.NaN }], 'bad_weight'],
    ['wieght for weight', [{ name: 'a', wieght: 0 }], 'unknown_field'],
  ])('%s', (_, targets, code) => {
    expect(errorOf(() => compileTargets(targets)).code).toBe(code);
  });

  test('keys outside 64 bits are refused', () => {
    const targets = compileTargets(['a']);
    expect(errorOf(() => targets.rank(-1n)).code).toBe('bad_key');
    expect(errorOf(() => targets.rank(2n ** 64n)).code).toBe('bad_key');
    expect(errorOf(() => targets.rank({ hi: 0, lo: 1.5 })).code).toBe('bad_key');
    expect(errorOf(() => targets.rank('x'.repeat(70_000))).code).toBe('too_large');
    expect(targets.rank(2n ** 64n - 1n)).toHaveLength(1);
  });

  test('no targets: no replicas', () => {
    expect(compileTargets([]).pick(0, 1, 2, new Int32Array(2))).toBe(0);
    expect(compileTargets([{ name: 'a', weight: 0 }]).rank(1n)).toEqual([]);
  });
});

describe('a topology', () => {
  test('seeds are chained from the top and clear of their siblings', () => {
    const topology = regular({ zone: 2, disk: 2 });
    const zone = topology.children[1];
    expect(zone?.seed).toBe(hashText('z1', 0));
    expect(zone?.children[0]?.seed).toBe(hashText('d0', zone?.seed as number));
  });

  test('siblings that collide are raised in name order, planned ones included', () => {
    const hash = { text: () => 5, number: () => 0 };
    const spec = { levels: ['disk'], children: [{ id: 'c' }, { id: 'a', weight: 0 }, { id: 'b' }] };
    const seeds = buildTopology(spec, hash).children.map(({ id, seed }) => [id, seed]);
    expect(seeds).toEqual([
      ['a', 5],
      ['b', 6],
      ['c', 7],
    ]);
  });

  test('a planned branch may end early, and counts once it is there', () => {
    const spec = treeSpec({ zone: 2, disk: 2 });
    const topology = buildTopology({
      ...spec,
      children: [...spec.children, { id: 'z9', weight: 0 }],
    });
    expect(topology.targets).toHaveLength(4);
    expect(compileTopology(topology).room).toBe(4);
  });

  test('its plain form builds the same topology again', () => {
    fc.assert(
      fc.property(topologySpec(), (spec) => {
        const topology = buildTopology(spec);
        const again = buildTopology(JSON.parse(JSON.stringify(toSpec(topology))));
        expect(fingerprint(again)).toBe(fingerprint(topology));
        expect(again).toEqual(topology);
      }),
      { numRuns: 200 },
    );
  });

  test('the fingerprint changes with anything that decides placement, and with nothing else', () => {
    const topology = regular({ zone: 2, disk: 2 });
    const spec = treeSpec({ zone: 2, disk: 2 });
    const reversed = buildTopology({ ...spec, children: spec.children.toReversed() });
    expect(fingerprint(reversed)).toBe(fingerprint(topology));
    expect(fingerprint(topology)).toMatch(/^[0-9a-f]{32}$/);
    const others = [
      changeVertices(topology, { 'z0/d0': { up: false } }),
      changeVertices(topology, { 'z0/d0': { weight: 2 } }),
      regular({ zone: 2, disk: 2 }, { quorum: { disk: 1 } }),
      regular({ zone: 2, disk: 2 }, { weights: 'sum' }),
      regular({ zone: 2, disk: 2 }, { slots: [{ name: 'q', count: 2 }] }),
      regular({ zone: 2, disk: 3 }),
    ];
    const prints = new Set([topology, ...others].map(fingerprint));
    expect(prints.size).toBe(others.length + 1);
  });

  test('flat targets have a fingerprint too', () => {
    expect(fingerprintTargets(['a', 'b'])).toBe(fingerprintTargets(['b', { name: 'a' }]));
    expect(fingerprintTargets(['a', 'b'])).not.toBe(
      fingerprintTargets(['a', { name: 'b', weight: 2 }]),
    );
    expect(fingerprintTargets(['a', 'b'])).not.toBe(
      fingerprintTargets(['a', { name: 'b', weight: 0 }]),
    );
  });

  test('a change that names something else than weight and up is refused', () => {
    const change = { d0: { wieght: 0 } as object };
    expect(errorOf(() => changeVertices(regular({ disk: 2 }), change))).toMatchObject({
      code: 'unknown_field',
      path: 'd0',
    });
  });

  test('changing a vertex that is not there is refused', () => {
    expect(
      errorOf(() => changeVertices(regular({ disk: 2 }), { d7: { up: false } })),
    ).toMatchObject({
      code: 'unknown_vertex',
      path: 'd7',
    });
  });
});

describe('policy', () => {
  const topology = regular({ region: 2, zone: 3, disk: 4 });
  const paths = (policy: Parameters<typeof place>[2], key: string) =>
    place(topology, key, policy).replicas.map(({ path }) => path);

  test('width: { zone: 1 } keeps all replicas in one zone of each region', () => {
    for (let i = 0; i < 100; i++) {
      const found = paths({ replicas: 4, width: { region: 1, zone: 1 } }, `key ${i}`);
      expect(new Set(found.map((path) => path.slice(0, 5))).size).toBe(1);
      expect(found).toHaveLength(4);
    }
  });

  test('pin: { region } uses that region only', () => {
    for (let i = 0; i < 100; i++) {
      const found = paths({ replicas: 3, pin: { region: 'r1' } }, `key ${i}`);
      expect(found.every((path) => path.startsWith('r1/'))).toBe(true);
      expect(new Set(found.map((path) => path.slice(0, 5))).size).toBe(3);
    }
  });

  test('slots spread evenly below a target and cost no ranking', () => {
    const slotted = regular(
      { disk: 1 },
      {
        slots: [
          { name: 'a', count: 4 },
          { name: 'b', count: 8 },
        ],
      },
    );
    const compiled = compileTopology(slotted);
    const counts = new Map<string, number>();
    for (let i = 0; i < 32_000; i++) {
      const slot = compiled.place(`key ${i}`).replicas[0]?.slot.join() as string;
      counts.set(slot, (counts.get(slot) ?? 0) + 1);
    }
    expect(counts.size).toBe(32);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(160);
  });
});
