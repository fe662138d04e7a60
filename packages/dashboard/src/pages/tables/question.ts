/**
 * A table in a regular tree of regions, zones, machines and disks, without the looks: where a row lives, the steps that
 * lead there, the slots of the pool, and the copies that a further zone takes, account by account.
 */
import {
  buildTopology,
  changeIn,
  compilePools,
  type Diff,
  explainIn,
  type Located,
  locateIn,
  type Pool,
  PlacementError,
  poolUnder,
  rolloutPoint,
  type Step,
  tableOf,
  type Topology,
  VirtualTree,
} from '@carillon/placement';

/** bits: the stripe from one hash. rounds: a round of ranking for each fan-out. pool: the pool's own tree. */
export type Way = 'bits' | 'rounds' | 'pool';

export interface TableQuestion {
  /** account/table/type/key. */
  readonly key: string;
  readonly regions: number;
  /** Of each region. */
  readonly zones: number;
  readonly machines: number;
  readonly disks: number;
  readonly namespaces: number;
  readonly queues: number;
  readonly partitions: number;
  readonly replicas: number;
  /** The region that holds the table. */
  readonly region: string;
  readonly way: Way;
  /** Of the virtual tree, as typed: 32,32,32,16. */
  readonly fanOuts: string;
  /** Whether the account was created after the next zone was planned. */
  readonly isNewAccount: boolean;
}

/** The cluster of the notes, which the page begins with. */
export const firstQuestion: TableQuestion = {
  key: 'acme/orders/row/4711',
  regions: 2,
  zones: 2,
  machines: 32,
  disks: 16,
  namespaces: 8,
  queues: 128,
  partitions: 16,
  replicas: 6,
  region: 'r0',
  way: 'bits',
  fanOuts: '32,32,32,16',
  isNewAccount: false,
};

/** A disk of the pool; `role` is that of its replica of the row, null: it has none. */
export interface SlotShape {
  readonly disk: string;
  readonly role: number | null;
}

export interface MachineShape {
  readonly machine: string;
  readonly slots: readonly SlotShape[];
}

export interface ZoneShape {
  readonly zone: string;
  readonly machines: readonly MachineShape[];
}

/** One step of the rollout, over sample accounts. */
export interface RolloutStep {
  readonly rollout: number;
  /** Accounts that see the next zone. */
  readonly seeing: number;
  /** The part of all copies that moved since the step before. */
  readonly moved: number;
  /** The part of all copies in each zone. */
  readonly shares: readonly number[];
}

export interface Growth extends Diff {
  /** The least that moves between exact shares, in copies. */
  readonly evenMinimum: number;
  readonly zones: readonly string[];
  readonly account: string;
  /** The rollout from which the account of the row sees the next zone. */
  readonly accountFrom: number;
  readonly rollouts: readonly RolloutStep[];
}

export interface RowAnswer {
  readonly table: string;
  readonly levels: readonly string[];
  readonly places: readonly Located[];
  readonly steps: readonly Step[];
  readonly zones: readonly ZoneShape[];
  readonly slotCount: number;
}

/** Keys that are tried for the growth: few enough to answer while the user types. */
export const tableKeys = 2000;
export const sampleAccounts = 40;
const keysOfAnAccount = 20;
const rolloutSteps = [0, 0.25, 0.5, 0.75, 1];
const expansion = 'next';

/** The table of a row. Throws PlacementError where the row has another form. */
export function tableOfRow(key: string): string {
  const parts = key.split('/');
  if (parts.length >= 4) return parts.slice(0, 3).join('/');
  throw new PlacementError('bad_key', 'A row has the form account/table/type/key.');
}

/** Throws PlacementError where the question has no answer. */
export function askRow(question: TableQuestion): RowAnswer {
  const { key, replicas } = question;
  const table = tableOfRow(key);
  const tree = treeOf(question, { table, isGrown: question.isNewAccount });
  const places = locateIn(tree, key, replicas);
  const { steps } = explainIn(tree, key, replicas);
  const pool = poolUnder(tree);
  const { topology } = pool;
  return {
    table,
    levels: [...topology.levels, ...topology.slots.map(({ name }) => name)],
    places,
    steps,
    zones: zonesOf(pool, places),
    slotCount: pool.slots().length,
  };
}

/** The tree to look rows up in, as an account sees it that knows the next zone or does not. */
function treeOf(
  question: TableQuestion,
  { table, isGrown }: { readonly table: string; readonly isGrown: boolean },
): VirtualTree | Pool {
  const { partitions, replicas, zones, region, way } = question;
  const fanOuts = way === 'rounds' ? fanOutsOf(question.fanOuts) : undefined;
  const tree = tableOf(cluster(question, isGrown ? 1 : 0), table, {
    partitions,
    replicas,
    zones,
    pin: { region },
    ...(fanOuts === undefined ? {} : { fanOuts }),
  });
  return way === 'pool' ? tree.pool : tree;
}

function fanOutsOf(text: string): number[] {
  return text.split(',').map((part) => Number(part.trim()));
}

/** The zones that there are, and one more in each region that accounts come to see. */
function cluster(question: TableQuestion, rollout: number): Topology {
  const { regions, zones, machines, disks, namespaces, queues } = question;
  const next = Array.from({ length: regions }, (_, i) => [`r${i}/z${zones}`, { expansion }]);
  return buildTopology({
    tree: { region: regions, zone: zones + 1, node: machines, disk: disks },
    slots: [
      { name: 'namespace', count: namespaces },
      { name: 'queue', count: queues },
    ],
    expansions: [{ id: expansion, rollout }],
    vertices: Object.fromEntries(next),
  });
}

/** The slots of a pool, zone by zone and machine by machine, with the replicas of a row. */
function zonesOf(pool: Pool, places: readonly Located[]): ZoneShape[] {
  const roles = new Map(places.map(({ path }, i) => [path, i]));
  const zones = new Map<string, Map<string, SlotShape[]>>();
  for (const { owner, path } of pool.slots()) {
    const ids = (path ?? owner).split('/');
    const zone = ids.slice(0, -2).join('/');
    const machine = ids.at(-2) as string;
    const machines = zones.get(zone) ?? new Map<string, SlotShape[]>();
    const slots = machines.get(machine) ?? [];
    slots.push({ disk: ids.at(-1) as string, role: roles.get(path ?? '') ?? null });
    zones.set(zone, machines.set(machine, slots));
  }
  return [...zones].map(([zone, machines]) => ({
    zone,
    machines: [...machines].map(([machine, slots]) => ({ machine, slots })),
  }));
}

/**
 * The copies of a table that move when its account comes to see the next zone; and of all accounts, step by step. All
 * rows of a table have the same answer. Throws PlacementError as `askRow` does.
 */
export function askGrowth(question: TableQuestion): Growth {
  const { replicas, region, zones } = question;
  const table = tableOfRow(question.key);
  const account = table.split('/')[0] as string;
  const before = treeOf(question, { table, isGrown: false });
  const after = treeOf(question, { table, isGrown: true });
  return {
    ...changeIn(before, after, { keys: tableKeys, replicas }),
    zones: Array.from({ length: zones + 1 }, (_, i) => `${region}/z${i}`),
    account,
    accountFrom: rolloutPoint(account, expansion),
    rollouts: rolloutOf(question),
  };
}

/** Rows of sample accounts at each step of the rollout. */
function rolloutOf(question: TableQuestion): RolloutStep[] {
  const { partitions, replicas, zones, region } = question;
  const shape = { partitions, replicas, zones, pin: { region } };
  // All accounts have one of two views; each view is compiled once.
  const views = [0, 1].map((rollout) =>
    compilePools(cluster(question, rollout), { ...shape, account: { id: '' } }),
  );
  const accounts = Array.from({ length: sampleAccounts }, (_, i) => {
    const table = `account-${i}/orders/row`;
    const [old = [], grown = []] = views.map((view) => {
      const tree = new VirtualTree(view.select(table));
      return Array.from({ length: keysOfAnAccount }, (__, row) =>
        tree.place(`${table}/${row}`, replicas).map(({ path }) => path),
      );
    });
    return { from: rolloutPoint(`account-${i}`, expansion), old: old.flat(), grown: grown.flat() };
  });
  const copiesAt = (rollout: number) =>
    accounts.flatMap(({ from, old, grown }) => (from < rollout ? grown : old));
  const zoneNames = Array.from({ length: zones + 1 }, (_, i) => `${region}/z${i}/`);
  return rolloutSteps.map((rollout, i) => {
    const copies = copiesAt(rollout);
    const since = rolloutSteps[i - 1] ?? 0;
    const moving = accounts.filter(({ from }) => from >= since && from < rollout);
    const moved = moving.reduce((sum, one) => sum + movedIn(one.old, one.grown, replicas), 0);
    return {
      rollout,
      seeing: accounts.filter(({ from }) => from < rollout).length,
      moved: moved / copies.length,
      shares: zoneNames.map(
        (zone) => copies.filter((path) => path.startsWith(zone)).length / copies.length,
      ),
    };
  });
}

/** Copies that have a place after which had none of their row before. */
function movedIn(old: readonly string[], grown: readonly string[], replicas: number): number {
  return grown.filter((path, i) => {
    const row = Math.floor(i / replicas) * replicas;
    return !old.slice(row, row + replicas).includes(path);
  }).length;
}
