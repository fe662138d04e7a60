/** Arguments of other forms than the documented ones: each is refused with a sentence, and none with an accident. */
import { describe, expect, test } from 'vitest';
import * as placement from './index.ts';
import { PlacementError } from './errors.ts';

const {
  buildTopology,
  compileLabelled,
  compileSkeleton,
  compileTargets,
  compileTopology,
  diff,
  place,
  tree,
} = placement;

const plain = {
  levels: ['zone', 'disk'],
  children: [{ id: 'z', children: [{ id: 'd0' }, { id: 'd1' }] }],
};
const topology = buildTopology(plain);
const targets = compileTargets(['a', 'b', 'c']);
const wide = tree({ zone: 2, node: 4, disk: 2 });
const pool = placement.selectPool(wide, 'acme/orders/row', { width: { node: 2, disk: 1 } });
const virtual = new placement.VirtualTree(pool);

/** The error of a call whose arguments the types forbid. */
function refusal(call: (any: never) => unknown, given: unknown): PlacementError {
  try {
    call(given as never);
  } catch (error) {
    if (error instanceof PlacementError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

/** Each public function that takes a topology. */
const lookups: Readonly<Record<string, (any: never) => unknown>> = {
  place: (any) => place(any, 'key'),
  compileTopology: (any) => compileTopology(any),
  explain: (any) => placement.explain(any, 'key'),
  health: (any) => placement.health(any),
  changeVertices: (any) => placement.changeVertices(any, {}),
  topologyFor: (any) => placement.topologyFor(any, { id: 'acme' }),
  seenExpansions: (any) => placement.seenExpansions(any, { id: 'acme' }),
  fingerprint: (any) => placement.fingerprint(any),
  toSpec: (any) => placement.toSpec(any),
  partsOf: (any) => placement.partsOf(any),
  compilePools: (any) => placement.compilePools(any, { width: {} }),
  selectPool: (any) => placement.selectPool(any, 'acme/a/b', { width: {} }),
  locate: (any) => placement.locate(any, 'acme/a/b/c', { replicas: 1, width: {} }),
};

describe('a topology that was not built', () => {
  test.each(Object.entries(lookups))(
    '%s refuses the plain form and names buildTopology',
    (_, call) => {
      for (const form of [plain, { tree: { zone: 2 } }]) {
        const { code, message } = refusal(call, form);
        expect(code).toBe('bad_input');
        expect(message).toBe(
          'The topology is in its plain form, that of JSON and YAML; pass buildTopology(topology) instead.',
        );
      }
    },
  );

  test.each(Object.entries(lookups))('%s refuses what is no topology at all', (_, call) => {
    for (const form of [undefined, null, 7, 'levels: [zone]', [], {}, targets]) {
      expect(refusal(call, form).message).toMatch(
        /^The topology must be one that buildTopology or tree makes, not .+\.$/s,
      );
    }
  });
});

describe('diff', () => {
  const input = { keys: 10, replicas: 1 };

  test.each([
    [topology, /not a topology; pass compileTopology\(topology, policy\) instead\.$/],
    [
      plain,
      /not the plain form of a topology; pass compileTopology\(buildTopology\(topology\), po/,
    ],
    [virtual, /not a virtual tree; pass tablePlacer\(tree\) instead\.$/],
    [['a', 'b'], /such as compileTargets or compileTopology makes, not a list\.$/],
    [undefined, /not undefined\.$/],
  ])('takes placers, and says how to make one (%#)', (given, says) => {
    expect(refusal((any) => diff(any, targets, input), given).message).toMatch(says);
    expect(refusal((any) => diff(targets, any, input), given).message).toMatch(says);
    expect(refusal((any) => diff(targets, any, input), given).message).toMatch(/^The second arg/);
  });

  test.each([
    [undefined, /input of diff must be an object/],
    [{ keys: 10 }, /number of replicas must be a whole number from 1 to 256, not undefined/],
    [{ keys: 10, replicas: -1 }, /not -1\.$/],
    [{ keys: 10, replicas: Number.NaN }, /not NaN\.$/],
    [{ replicas: 1 }, /"keys", unless it is the size of a sample, must be a list, not undefined/],
    [{ replicas: 1, keys: 'abc' }, /must be a list, not abc/],
    [{ replicas: 1, keys: Number.NaN }, /sample must be a whole number/],
    [{ replicas: 1, keys: 10, replica: 1 }, /has no field "replica".+Did you mean "replicas"\?/],
  ])('refuses an input that does not fit (%#)', (given, says) => {
    expect(refusal((any) => diff(targets, targets, any), given).message).toMatch(says);
  });
});

describe('the count of a pick', () => {
  const labelled = ['a', 'b', 'c'].map((name) => ({ name, labels: { zone: name } }));
  const placers: Readonly<Record<string, placement.Placer>> = {
    targets,
    'targets by rank': compileTargets(['a', 'b'], { roles: 'rank' }),
    'weighted targets': compileTargets([{ name: 'a', weight: 2 }, 'b']),
    'many targets': compileTargets(Array.from({ length: 40 }, (_, i) => `t${i}`)),
    skeleton: compileSkeleton(['a', 'b']),
    labelled: compileLabelled(labelled),
    'labelled by the first rule': compileLabelled(labelled, placement.algorithm),
    topology: compileTopology(topology),
    pool,
    table: placement.tablePlacer(virtual),
  };
  const both = Object.entries({ ...placers, 'virtual tree': virtual });

  test.each(both)('%s: whole and not negative, or it is refused', (_, placer) => {
    const out = new Int32Array(4);
    for (const count of [-1, 1.5, Number.NaN, Infinity, undefined, '2']) {
      const says = /^The count of a pick must be a whole number from 0 .+, not .+\.$/;
      expect(refusal((any) => placer.pick(0, 7, any, out), count).message).toMatch(says);
      expect(refusal((any) => placer.pickText('key', any, out), count).message).toMatch(says);
    }
    expect([placer.pick(0, 7, 0, out), placer.pickText('key', 0, out)]).toEqual([0, 0]);
  });

  test.each(both)('%s: a key that is no text is refused', (_, placer) => {
    const out = new Int32Array(4);
    for (const key of [undefined, 7, 7n, null]) {
      expect(refusal((any) => placer.pickText(any, 1, out), key).code).toBe('bad_key');
    }
  });
});

describe('sets of targets and members', () => {
  test.each(['abc', 7, null, undefined, {}])('%s is no list of targets', (given) => {
    expect(refusal((any) => compileTargets(any), given).message).toMatch(/targets must be a list/);
    expect(refusal((any) => compileSkeleton(any), given).message).toMatch(/names must be a list/);
    expect(refusal((any) => compileLabelled(any), given).message).toMatch(/members must be a list/);
  });

  test('a target that is no object is refused, and a weight where there are none', () => {
    expect(refusal((any) => compileTargets([any]), null).message).toMatch(
      /target must be an object/,
    );
    const heavy = { name: 'a', weight: 2 };
    expect(refusal((any) => compileSkeleton([any]), heavy).code).toBe('bad_id');
  });

  test.each([
    [{ role: 'rank' }, /has no field "role".+Did you mean "roles"\?/],
    [{ roles: 'chrono' }, /"roles" must be "rank" or "chronos", not "chrono"/],
    ['rank', /must be an object, not rank/],
  ])('options that do not exist are refused (%#)', (options, says) => {
    expect(refusal((any) => compileTargets(['a'], any), options).message).toMatch(says);
  });

  test.each([
    [[null], /member must be an object/],
    [[{ name: 'a', labels: 'zone' }], /"labels" of "a" must be an object, not zone/],
    [[{ name: 'a', labels: { zone: 5 } }], /The label "zone" of "a" must be a text, not 5/],
    [[{ name: 'a', weight: -1 }], /has the weight -1/],
  ])('a member that does not fit is refused (%#)', (members, says) => {
    const calls: ((any: never) => unknown)[] = [
      (any) => compileLabelled(any),
      (any) => placement.hotMembers(any, 1),
      (any) => placement.evenShares(any, 1),
      (any) => placement.explainMembers(any, 'key', 1),
    ];
    for (const call of calls) expect(refusal(call, members).message).toMatch(says);
  });

  test('a rule for members that does not exist is refused', () => {
    const says = /must be "carillon-placement-1" or "carillon-labels-2", not carillon-labels-3/;
    const error = refusal((any) => compileLabelled([], any), 'carillon-labels-3');
    expect(error.message).toMatch(says);
  });
});

test.each<[string, (any: never) => unknown]>([
  ['evenLoads', (any) => placement.evenLoads(placement.partsOf(topology), any)],
  ['evenShares', (any) => placement.evenShares([{ name: 'a' }], any)],
  ['hotMembers', (any) => placement.hotMembers([{ name: 'a' }], any)],
  ['explainMembers', (any) => placement.explainMembers([{ name: 'a' }], 'key', any)],
  ['explainPool', (any) => placement.explainPool(pool, 'key', any)],
  ['explainTable', (any) => placement.explainTable(virtual, 'key', any)],
  ['poolShares', (any) => placement.poolShares(pool, any)],
  ['tableShares', (any) => placement.tableShares(virtual, any)],
  ['locateIn', (any) => placement.locateIn(virtual, 'a/b/c/d', any)],
  ['Pool.place', (any) => pool.place('key', any)],
])('%s refuses a number of replicas that is none', (_, call) => {
  for (const replicas of [-1, 1.5, Number.NaN, '2', undefined]) {
    expect(refusal(call, replicas).message).toMatch(/must be a whole number from [01] to/);
  }
});

test.each<[string, (any: never) => unknown]>([
  ['explainPool', (any) => placement.explainPool(any, 'key', 1)],
  ['explainTable', (any) => placement.explainTable(any, 'key', 1)],
  ['explainIn', (any) => placement.explainIn(any, 'key', 1)],
  ['locateIn', (any) => placement.locateIn(any, 'a/b/c/d', 1)],
  ['changeIn', (any) => placement.changeIn(any, any, { keys: 1, replicas: 1 })],
  ['diffPools', (any) => placement.diffPools(any, any, { keys: 1, replicas: 1 })],
  ['diffTables', (any) => placement.diffTables(any, any, { keys: 1, replicas: 1 })],
  ['poolUnder', (any) => placement.poolUnder(any)],
  ['poolShares', (any) => placement.poolShares(any, 1)],
  ['tableShares', (any) => placement.tableShares(any, 1)],
  ['tablePlacer', (any) => placement.tablePlacer(any)],
  ['VirtualTree', (any) => new placement.VirtualTree(any)],
])('%s refuses a topology in the place of a pool or a virtual tree', (_, call) => {
  for (const given of [topology, undefined]) {
    expect(refusal(call, given).message).toMatch(/as (selectPool|tableOf)\(.+ is needed, not /);
  }
});

test('a change of vertices that does not fit is refused', () => {
  const change = (any: never) => placement.changeVertices(topology, any);
  expect(refusal(change, undefined).message).toMatch(/changes of vertices must be an object/);
  expect(refusal(change, { z: 0 }).message).toMatch(/change of "z" must be an object, not 0/);
  expect(refusal(change, { z: { up: 'no' } }).message).toMatch(/"up" of "z" must be true or false/);
});

test('a key to locate and its options that do not fit are refused', () => {
  const options = { replicas: 1, width: { node: 2, disk: 1 } };
  const locate = (any: never) => placement.locate(wide, any, options);
  expect(refusal(locate, 7).message).toMatch(/key to locate must be a text, not 7/);
  const located = (any: never) => placement.locate(wide, 'a/b/c/d', any);
  expect(refusal(located, undefined).message).toMatch(/options of locate must be an object/);
  const misspelt = { ...options, fanouts: [4, 2] };
  expect(refusal(located, misspelt).message).toMatch(/no field "fanouts".+Did you mean "fanOuts"/);
  const table = (any: never) => placement.tableOf(wide, any, options);
  expect(refusal(table, undefined).message).toMatch(/name of a table must be a text/);
});
