/**
 * The cases of the published test vectors and how each is answered. Inputs are plain JSON, so that any language reads
 * them.
 */
import { bloomBits } from '../flat/bloom.ts';
import { hashNumber, hashText } from '../flat/hash.ts';
import { fingerprint } from '../fingerprint.ts';
import { logOfHash } from '../flat/logarithm.ts';
import { compileTopology } from '../place.ts';
import type { Policy } from '../policy.ts';
import { type PoolShape, selectPool } from '../pools/pool.ts';
import { compileTargets, type Placer, type Roles, type TargetSpec } from '../flat/rendezvous.ts';
import { compileSkeleton } from '../flat/skeleton.ts';
import { buildTopology, type TopologySpec } from '../topology.ts';
import { VirtualTree } from '../pools/virtual-tree.ts';
import { treeSpec } from '../tree-spec.ts';

/** Keys are texts, or 64-bit numbers as `0x` and 16 hex digits. */
export type Case =
  | { id: string; kind: 'hash'; key: string; seed: number }
  | { id: string; kind: 'logarithm'; hash: number }
  | { id: string; kind: 'bloom'; name: string }
  | { id: string; kind: 'flat'; targets: (string | TargetSpec)[]; roles: Roles; keys: string[] }
  | { id: string; kind: 'skeleton'; count: number; prefix: string; keys: string[] }
  | {
      id: string;
      kind: 'place';
      topology: TopologySpec;
      policy: Policy;
      account?: string;
      keys: string[];
    }
  | {
      id: string;
      kind: 'pool';
      topology: TopologySpec;
      shape: PoolShape;
      collection: string;
      fanOuts?: number[];
      replicas: number;
      keys: string[];
    };

const hex = (number: bigint) => `0x${number.toString(16).padStart(16, '0')}`;
export const vectorKeys: readonly string[] = [
  hex(0n),
  hex(100n),
  hex(2n ** 64n - 1n),
  hex(0x0123_4567_89ab_cdefn),
  '',
  'a',
  'tür',
  'key 🔔',
];
const keys = [...vectorKeys];
const names = ['A', 'B', 'C'];

/** Weights, health, a planned zone, a hollow rack, slots and an expansion in one tree. */
const mixed: TopologySpec = {
  levels: ['zone', 'rack', 'disk'],
  quorum: { disk: 1, rack: 1 },
  slots: [
    { name: 'namespace', count: 3 },
    { name: 'queue', count: 5 },
  ],
  expansions: [{ id: 'spring', rollout: 0.5 }],
  children: [
    {
      id: 'east',
      children: [
        { id: 'r1', children: [{ id: 'd1' }, { id: 'd2', weight: 2 }, { id: 'd3', weight: 0.5 }] },
        { id: 'r2', children: [{ id: 'd1', up: false }, { id: 'd2', up: false }, { id: 'd3' }] },
        { id: 'r3', weight: 3, children: [{ id: 'd1' }, { id: 'd2' }] },
      ],
    },
    {
      id: 'west',
      weight: 2,
      children: [
        { id: 'r1', children: [{ id: 'd1' }, { id: 'd2' }] },
        { id: 'r2', expansion: 'spring', children: [{ id: 'd1' }, { id: 'd2' }] },
      ],
    },
    { id: 'north', weight: 0 },
  ],
};
const pooled: TopologySpec = {
  ...treeSpec({ zone: 2, rack: 6, disk: 5 }),
  slots: [{ name: 'queue', count: 4 }],
};

export const cases: readonly Case[] = [
  ...keys.flatMap((key, i) =>
    [0, 1, 1000, 0xffff_ffff].map(
      (seed): Case => ({ id: `hash-${i}-${seed}`, kind: 'hash', key, seed }),
    ),
  ),
  ...[0, 1, 2, 1000, 0x7fff_ffff, 0x8000_0000, 0xdead_beef, 0xffff_fffe, 0xffff_ffff].map(
    (hash): Case => ({ id: `logarithm-${hash}`, kind: 'logarithm', hash }),
  ),
  ...[...names, '10.0.0.1:7253', 'tür'].map(
    (name): Case => ({ id: `bloom-${name}`, kind: 'bloom', name }),
  ),
  { id: 'flat-chronos', kind: 'flat', targets: names, roles: 'chronos', keys },
  { id: 'flat-rank', kind: 'flat', targets: names, roles: 'rank', keys },
  {
    id: 'flat-weighted-rank',
    kind: 'flat',
    targets: [
      ...names,
      { name: 'D', weight: 2 },
      { name: 'E', weight: 0.25 },
      { name: 'F', weight: 0 },
    ],
    roles: 'rank',
    keys,
  },
  {
    id: 'flat-weighted-chronos',
    kind: 'flat',
    targets: [...names, { name: 'D', weight: 2 }, { name: 'E', weight: 0.25 }],
    roles: 'chronos',
    keys,
  },
  { id: 'skeleton-400', kind: 'skeleton', count: 400, prefix: 'target-', keys },
  { id: 'place-one', kind: 'place', topology: mixed, policy: { replicas: 1 }, keys },
  { id: 'place-three', kind: 'place', topology: mixed, policy: { replicas: 3 }, keys },
  { id: 'place-all', kind: 'place', topology: mixed, policy: { replicas: 20 }, keys },
  {
    id: 'place-chronos',
    kind: 'place',
    topology: mixed,
    policy: { replicas: 3, roles: 'chronos' },
    keys,
  },
  {
    id: 'place-width',
    kind: 'place',
    topology: mixed,
    policy: { replicas: 3, width: { zone: 1 } },
    keys,
  },
  {
    id: 'place-pin',
    kind: 'place',
    topology: mixed,
    policy: { replicas: 2, pin: { zone: 'west' } },
    keys,
  },
  {
    id: 'place-sum',
    kind: 'place',
    topology: { ...mixed, weights: 'sum' },
    policy: { replicas: 2 },
    keys,
  },
  {
    id: 'place-account-1',
    kind: 'place',
    topology: mixed,
    policy: { replicas: 4 },
    account: 'account 1',
    keys,
  },
  {
    id: 'place-account-3',
    kind: 'place',
    topology: mixed,
    policy: { replicas: 4 },
    account: 'account 3',
    keys,
  },
  {
    id: 'pool-tree',
    kind: 'pool',
    topology: pooled,
    shape: { width: { rack: 3, disk: 2 } },
    collection: 'account/table/type',
    replicas: 4,
    keys,
  },
  {
    id: 'pool-fan-outs',
    kind: 'pool',
    topology: pooled,
    shape: { width: { rack: 3, disk: 2 } },
    collection: 'account/table/type',
    fanOuts: [4, 2, 3],
    replicas: 4,
    keys,
  },
];

export function answer(one: Case): unknown {
  switch (one.kind) {
    case 'hash': {
      const key = readVectorKey(one.key);
      return typeof key === 'string'
        ? hashText(key, one.seed)
        : hashNumber(key.hi, key.lo, one.seed);
    }
    case 'logarithm':
      return doubleHex(logOfHash(one.hash));
    case 'bloom': {
      const { hi, lo } = bloomBits(one.name);
      return hex((BigInt(hi) << 32n) | BigInt(lo));
    }
    case 'flat': {
      const targets = compileTargets(one.targets, { roles: one.roles });
      const ranked = one.keys.map((key) => targets.rank(readVectorKey(key)));
      return ranked.map((list) => list.map(({ name, score }) => `${name}/${score}`));
    }
    case 'skeleton':
      return picks(
        compileSkeleton(Array.from({ length: one.count }, (_, i) => `${one.prefix}${i}`)),
        one.keys,
      );
    case 'place':
      return placed(one);
    case 'pool':
      return pooledAnswer(one);
  }
}

/** The 64 bits of a double, so that no decimal conversion comes between. */
export function doubleHex(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return hex(view.getBigUint64(0));
}

export function readVectorKey(key: string): string | { hi: number; lo: number } {
  if (!/^0x[0-9a-f]{16}$/.test(key)) return key;
  return { hi: Number.parseInt(key.slice(2, 10), 16), lo: Number.parseInt(key.slice(10), 16) };
}

function picks(placer: Placer, list: readonly string[]): string[][] {
  return list.map((key) => {
    const out = new Int32Array(3);
    const read = readVectorKey(key);
    const size =
      typeof read === 'string'
        ? placer.pickText(read, 3, out)
        : placer.pick(read.hi, read.lo, 3, out);
    return Array.from(out.subarray(0, size), (i) => placer.names[i] as string);
  });
}

const shown = ({ path, slot }: { path: string; slot: readonly number[] }) =>
  slot.length === 0 ? path : `${path}#${slot.join('.')}`;

function placed(one: Case & { kind: 'place' }) {
  const built = buildTopology(one.topology);
  // A vector without an account is about one that sees every expansion.
  const newest = built.expansions.at(-1)?.id;
  const account =
    one.account === undefined
      ? { id: 'new', ...(newest === undefined ? {} : { createdUnder: newest }) }
      : { id: one.account };
  const compiled = compileTopology(built, { ...one.policy, account });
  return {
    fingerprint: fingerprint(built),
    replicas: one.keys.map((key) => compiled.place(readVectorKey(key)).replicas.map(shown)),
  };
}

function pooledAnswer(one: Case & { kind: 'pool' }) {
  const pool = selectPool(buildTopology(one.topology), one.collection, one.shape);
  const tree = new VirtualTree(pool, one.fanOuts === undefined ? {} : { fanOuts: one.fanOuts });
  const read = one.keys.map(readVectorKey);
  return {
    slots: pool.slots().map(({ path }) => path),
    poolTree: read.map((key) => pool.place(key, one.replicas).replicas.map(shown)),
    virtualTree: read.map((key) => tree.place(key, one.replicas).map(shown)),
  };
}
