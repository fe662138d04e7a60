/**
 * The cost of each way to six replicas on 2048 disks: µs of CPU for a lookup, KiB of memory once compiled.
 * Run it: node --expose-gc --conditions=source packages/placement/scripts/trees-table.ts
 */
import {
  buildTopology,
  compilePools,
  compileTargets,
  compileTopology,
  toSpec,
  tree,
  VirtualTree,
} from '../src/index.ts';

const slots = [
  { name: 'namespace', count: 8 },
  { name: 'queue', count: 128 },
];
const cluster = tree({ region: 2, zone: 2, node: 32, disk: 16 }, { slots });
const pin = { region: 'r0' };
const replicas = 6;
const pools = compilePools(cluster, { partitions: 16, replicas, pin });
const pool = pools.select('acme/orders/row');
const out = new Int32Array(replicas);

function cpuUs(times: number, lookup: (i: number) => unknown): string {
  for (let i = 0; i < times / 3; i++) lookup(i);
  const start = process.cpuUsage();
  for (let i = 0; i < times; i++) lookup(i);
  const { user, system } = process.cpuUsage(start);
  return `${((user + system) / times).toFixed(2)} µs of CPU`;
}

function memoryKib(times: number, make: (i: number) => unknown): string {
  const used = (): number => {
    globalThis.gc?.();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  make(0);
  const before = used();
  const made = Array.from({ length: times }, (_, i) => make(i));
  return `${((used() - before) / made.length / 1024).toFixed(0)} KiB`;
}

/** 1536 disks, a third of them in a zone that accounts see one after the other. */
function growing() {
  const { levels, children } = toSpec(tree({ zone: 3, node: 32, disk: 16 }));
  const [first, second, third] = children;
  if (first === undefined || second === undefined || third === undefined) return cluster;
  const expansions = [{ id: 'spring', rollout: 0.5 }];
  return buildTopology({
    levels,
    expansions,
    children: [first, second, { ...third, expansion: 'spring' }],
  });
}

const flat = compileTargets(cluster.targets.map(({ path }) => path));
const whole = compileTopology(cluster, { replicas, pin });
const virtual = new VirtualTree(pool);
const grown = growing();
const rows: [string, string][] = [
  ['flat targets, lookup', cpuUs(20_000, (i) => flat.pick(i, i * 7, replicas, out))],
  ['cluster tree, lookup', cpuUs(500_000, (i) => whole.pick(i, i * 7, replicas, out))],
  ['pool, selection', cpuUs(20_000, (i) => pools.select(`acme/${i}/row`))],
  ['pool tree, lookup', cpuUs(500_000, (i) => pool.pick(i, i * 7, replicas, out))],
  ['virtual tree, lookup', cpuUs(500_000, (i) => virtual.pick(i, i * 7, replicas, out))],
  ['cluster tree', memoryKib(200, () => compileTopology(cluster, { replicas, pin }))],
  [
    'cluster tree of 1536 disks as one account sees it',
    memoryKib(200, (i) => compileTopology(grown, { replicas, account: { id: `account-${i}` } })),
  ],
  ['pool and virtual tree', memoryKib(500, (i) => new VirtualTree(pools.select(`a/${i}/row`)))],
];
for (const [name, figure] of rows) console.log(`${name.padEnd(52)}${figure}`);
