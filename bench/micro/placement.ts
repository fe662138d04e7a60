/**
 * Placement against the packages people use today: picks per second of CPU time, how evenly keys fall, and how many
 * move when a target leaves, all in one run. Read the ratios; absolute numbers belong to the machine.
 *
 *   npm run bench -- --only placement
 */
import {
  buildTopology,
  changeVertices,
  compilePools,
  compileTopology,
  diff,
  type Topology,
  VirtualTree,
} from '@carillon/placement';
import { crush } from './placement-crush.ts';
import { makeKeys, movement, rates, spread } from './placement-measure.ts';
import {
  bareHash,
  flat,
  flatText,
  type Keys,
  type MakePicker,
  type Picker,
  rivals,
  skeleton,
} from './placement-rivals.ts';

const keyCount = 1 << 17;
const keyMask = keyCount - 1;
/** Slower pickers are timed but not asked for every key of the balance and movement columns. */
const tooSlowPerSecond = 20_000;

type Report = (line: string) => void;
interface Row {
  readonly name: string;
  readonly perSecond: number;
  readonly moved: number | null;
}

interface TreeRow extends Row {
  /** null: there is no crushtool. */
  readonly timesCrush: number | null;
}

export async function run(report: Report, share: number) {
  const keys = makeKeys(keyCount);
  const sizes = share < 1 ? [3, 10] : [3, 10, 100, 1000];
  const flatRows = sizes.map(
    (size) => [String(size), flatRun({ size, keys, report, share })] as const,
  );
  return { flat: Object.fromEntries(flatRows), tree: treeRun(keys, report, share) };
}

interface FlatRun {
  readonly size: number;
  readonly keys: Keys;
  readonly report: Report;
  readonly share: number;
}

function flatRun({ size, keys, report, share }: FlatRun): Row[] {
  const targets = Array.from({ length: size }, (_, i) => `10.0.${i >> 8}.${i & 255}:7253`);
  const makers = [flat, ...(size >= 1000 ? [skeleton] : []), flatText, bareHash, ...rivals];
  const pickers = makers.map((make) => make(targets, keys));
  const speeds = rates(
    pickers.map(({ name, pick }) => ({ name, call: (i: number) => pick(i & keyMask) })),
    share,
  );
  report(
    `\n2 of ${size} targets${' '.repeat(12 - String(size).length)} picks/s  ours is ×  max/mean  × noise  moved ÷ least`,
  );
  return pickers.map((picker, i) => {
    const perSecond = speeds.get(picker.name) as number;
    const fast = perSecond >= tooSlowPerSecond;
    const even = fast ? spread(picker, targets, keyCount) : null;
    const moved = fast ? leave(makers[i] as MakePicker, picker, targets, keys) : null;
    const ratio = (speeds.get('carillon') as number) / perSecond;
    report(
      [
        (picker.picks === 1 ? `${picker.name} (finds 1)` : picker.name).padEnd(25),
        thousands(perSecond).padStart(8),
        ratio.toFixed(2).padStart(10),
        (even === null ? 'too slow' : even.maxOverMean.toFixed(3)).padStart(9),
        (even === null ? '' : even.noise.toFixed(2)).padStart(8),
        (moved === null ? '' : moved.toFixed(3)).padStart(14),
      ].join(' '),
    );
    return { name: picker.name, perSecond, ratio, ...even, moved };
  });
}

/** One target of the middle leaves. */
function leave(make: MakePicker, before: Picker, targets: readonly string[], keys: Keys): number {
  const gone = targets[targets.length >> 1] as string;
  const rest = targets.filter((name) => name !== gone);
  return movement(before, make(rest, keys), gone, keyCount);
}

/** 2 regions × 2 zones × 32 machines × 16 disks, 8 × 128 slots a disk; six replicas in one region. */
function bigTopology(): Topology {
  const many = <T>(count: number, make: (i: number) => T) =>
    Array.from({ length: count }, (_, i) => make(i));
  const disks = many(16, (i) => ({ id: `d${i}` }));
  const machines = many(32, (i) => ({ id: `m${i}`, children: disks }));
  const zones = many(2, (i) => ({ id: `z${i}`, children: machines }));
  return buildTopology({
    levels: ['region', 'zone', 'machine', 'disk'],
    quorum: { disk: 4 },
    slots: [
      { name: 'namespace', count: 8 },
      { name: 'queue', count: 128 },
    ],
    children: many(2, (i) => ({ id: `r${i}`, children: zones })),
  });
}

function treeRun(keys: Keys, report: Report, share: number): TreeRow[] {
  const topology = bigTopology();
  const policy = { replicas: 6, pin: { region: 'r0' } };
  const compiled = compileTopology(topology, policy);
  const pools = compilePools(topology, { width: { machine: 16, disk: 3 }, pin: policy.pin });
  const pool = pools.select('account/table/type');
  const walk = pool.compile();
  const out = new Int32Array(6);
  const byNumber = (pick: (hi: number, lo: number) => void) => (i: number) =>
    pick(keys.hi[i & keyMask] as number, keys.lo[i & keyMask] as number);
  const virtual = (fanOuts?: readonly number[]) => {
    const tree = new VirtualTree(pool, fanOuts === undefined ? {} : { fanOuts });
    return byNumber((hi, lo) => void tree.pick(hi, lo, 6, out));
  };
  const speeds = rates(
    [
      { name: 'cluster tree', call: byNumber((hi, lo) => void compiled.pick(hi, lo, 6, out)) },
      { name: 'pool selection', call: (i) => void pools.select(keys.text[i & keyMask] as string) },
      { name: 'pool tree', call: byNumber((hi, lo) => void walk.number(hi, lo, 6)) },
      { name: 'virtual tree 32×32×32×16', call: virtual([32, 32, 32, 16]) },
      { name: 'virtual tree 16×16×12×16', call: virtual([16, 16, 12, 16]) },
      { name: 'virtual tree, stripe bits', call: virtual() },
    ],
    share,
  );
  const ceph = crush();
  report(`\n6 replicas, 2×2×32×16         per second  × CRUSH  moved ÷ least, one disk gone`);
  const moved = new Map([['cluster tree', oneDiskGone(topology, policy)]]);
  if (ceph === null) report('CRUSH straw2: left out, there is no crushtool on this machine');
  else {
    speeds.set('CRUSH straw2 (crushtool)', ceph.perSecond);
    moved.set('CRUSH straw2 (crushtool)', ceph.moved);
  }
  return [...speeds].map(([name, perSecond]) => {
    const ratio = ceph === null ? null : perSecond / ceph.perSecond;
    const movedShare = moved.get(name) ?? null;
    report(
      [
        name.padEnd(27),
        thousands(perSecond).padStart(12),
        (ratio === null ? '' : ratio.toFixed(1)).padStart(8),
        movedShare === null ? '' : movedShare.toFixed(3).padStart(8),
      ].join(' '),
    );
    return { name, perSecond, timesCrush: ratio, moved: movedShare };
  });
}

/** The disk is taken out of the topology for good: weight 0. */
function oneDiskGone(
  topology: Topology,
  policy: { replicas: number; pin: { region: string } },
): number {
  const after = changeVertices(topology, { 'r0/z0/m6/d4': { weight: 0 } });
  const change = diff(compileTopology(topology, policy), compileTopology(after, policy), {
    keys: 100_000,
    replicas: policy.replicas,
  });
  return change.moved / change.minimum;
}

function thousands(perSecond: number): string {
  return perSecond >= 1e6
    ? `${(perSecond / 1e6).toFixed(2)} M`
    : `${(perSecond / 1e3).toFixed(1)} k`;
}
