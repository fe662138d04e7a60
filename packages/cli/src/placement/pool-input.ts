/** A pool in the topology of a file, and the questions that commands have for it: places, steps, slots, movement. */
import {
  buildTopology,
  changeIn,
  type Diff,
  explainIn,
  type Located,
  locateIn,
  type Pool,
  selectPool,
  type Step,
  VirtualTree,
} from '@carillon/placement';
import { checked, topologyIn } from './placement-input.ts';
import type { PoolQuestion } from './pool-flags.ts';

/** A pool made ready for lookups, in its virtual tree or in its own. */
export interface PoolReady {
  readonly question: PoolQuestion;
  readonly tree: VirtualTree | Pool;
}

export async function poolIn(path: string, question: PoolQuestion): Promise<PoolReady> {
  const spec = await topologyIn(path);
  const { name, shape, tree, fanOuts } = question;
  return checked(path, () => {
    const pool = selectPool(buildTopology(spec), name, shape);
    const options = fanOuts === null ? {} : { fanOuts };
    return { question, tree: tree === 'virtual' ? new VirtualTree(pool, options) : pool };
  });
}

export function placesIn({ tree, question }: PoolReady, key: string): Located[] {
  return locateIn(tree, key, question.replicas);
}

export function stepsIn({ tree, question }: PoolReady, key: string): readonly Step[] {
  return explainIn(tree, key, question.replicas).steps;
}

/** The copies that move when a pool becomes another, and the least between exact shares. */
export function changeOfPools(
  before: PoolReady,
  after: PoolReady,
  keys: number,
): Diff & { readonly evenMinimum: number } {
  return changeIn(before.tree, after.tree, { keys, replicas: after.question.replicas });
}
