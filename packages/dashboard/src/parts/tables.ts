/** Tables in a regular tree of zones, machines and disks, without the looks: where a row lives, and the copies that a further zone takes. */
import {
  buildTopology,
  type Diff,
  diffTables,
  evenMovement,
  explainTable,
  type Located,
  locateIn,
  type Step,
  tableOf,
  tableShares,
  type Topology,
  toSpec,
  tree,
} from '@carillon/placement';

export interface TableQuestion {
  /** account/table/type/key. */
  readonly key: string;
  readonly zones: number;
  readonly machines: number;
  readonly disks: number;
  readonly partitions: number;
  readonly replicas: number;
}

export interface TableAnswer {
  readonly places: readonly Located[];
  readonly steps: readonly Step[];
  /** The copies that move when a zone comes. */
  readonly growth: Diff;
  /** The least that moves between exact shares, in copies. */
  readonly evenMinimum: number;
  /** The part of all copies in each zone, before and after. */
  readonly shares: readonly {
    readonly zone: string;
    readonly before: number;
    readonly after: number;
  }[];
}

/** Keys that are tried for the growth: few enough to answer while the user types. */
export const tableKeys = 2000;

/** Throws PlacementError where the question has no answer. */
export function askTable(question: TableQuestion): TableAnswer {
  const { key, partitions, replicas, zones } = question;
  const table = key.split('/').slice(0, 3).join('/');
  const shape = { partitions, replicas, zones };
  const now = tableOf(cluster(question, 0), table, shape);
  const then = tableOf(cluster(question, 1), table, shape);
  const growth = diffTables(now, then, { keys: tableKeys, replicas });
  const names = Array.from({ length: zones + 1 }, (_, i) => `z${i}`);
  const domains = new Map(growth.domains.map((domain) => [domain.path, domain]));
  return {
    places: locateIn(now, key, replicas),
    steps: explainTable(now, key, replicas).steps,
    growth,
    evenMinimum: Math.round(
      evenMovement(tableShares(now, replicas), tableShares(then, replicas)) * growth.keys,
    ),
    shares: names.map((zone) => {
      const { before = 0, after = 0 } = domains.get(zone) ?? {};
      return { zone, before: before / growth.copies, after: after / growth.copies };
    }),
  };
}

/** The zones that there are, and one more that accounts see at rollout 1. */
function cluster({ zones, machines, disks }: TableQuestion, rollout: number): Topology {
  const spec = toSpec(tree({ zone: zones + 1, node: machines, disk: disks }));
  return buildTopology({
    ...spec,
    expansions: [{ id: 'next', rollout }],
    children: spec.children.map((zone, i) => (i === zones ? { ...zone, expansion: 'next' } : zone)),
  });
}
