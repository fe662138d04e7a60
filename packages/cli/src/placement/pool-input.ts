/** A pool in the topology of a file, and the questions that commands have for it: places, steps, slots, movement. */
import {
  buildTopology,
  type Diff,
  diffPools,
  diffTables,
  evenMovement,
  explainPool,
  explainTable,
  type Located,
  locateIn,
  type Pool,
  poolShares,
  selectPool,
  type Step,
  tableShares,
  VirtualTree,
} from '@carillon/placement';
import { checked, topologyIn } from './placement-input.ts';
import type { PoolQuestion } from './pool-flags.ts';

/** A pool made ready for lookups in one of its two trees. */
export interface PoolReady {
  readonly question: PoolQuestion;
  readonly pool: Pool;
  /** null: keys are looked up in the tree of the pool. */
  readonly virtual: VirtualTree | null;
}

export async function poolIn(path: string, question: PoolQuestion): Promise<PoolReady> {
  const spec = await topologyIn(path);
  const { name, shape, tree, fanOuts } = question;
  return checked(path, () => {
    const pool = selectPool(buildTopology(spec), name, shape);
    const virtual =
      tree === 'virtual' ? new VirtualTree(pool, fanOuts === null ? {} : { fanOuts }) : null;
    return { question, pool, virtual };
  });
}

export function placesIn({ pool, virtual, question }: PoolReady, key: string): Located[] {
  return locateIn(virtual ?? pool, key, question.replicas);
}

export function stepsIn({ pool, virtual, question }: PoolReady, key: string): readonly Step[] {
  const { steps } =
    virtual === null
      ? explainPool(pool, key, question.replicas)
      : explainTable(virtual, key, question.replicas);
  return steps;
}

/** The copies that move when a pool becomes another, and the least between exact shares. */
export function changeOfPools(
  before: PoolReady,
  after: PoolReady,
  keys: number,
): Diff & { readonly evenMinimum: number } {
  const { replicas } = after.question;
  const input = { keys, replicas };
  const change =
    before.virtual === null || after.virtual === null
      ? diffPools(before.pool, after.pool, input)
      : diffTables(before.virtual, after.virtual, input);
  const even = evenMovement(sharesOf(before, replicas), sharesOf(after, replicas));
  return { ...change, evenMinimum: Math.round(even * change.keys) };
}

function sharesOf({ pool, virtual }: PoolReady, replicas: number): ReadonlyMap<string, number> {
  return virtual === null ? poolShares(pool, replicas) : tableShares(virtual, replicas);
}
