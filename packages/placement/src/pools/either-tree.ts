/** A table in one of its two trees: the virtual one, or that of its pool. The same questions for both. */
import type { Diff, DiffInput } from '../diff.ts';
import { evenMovement } from '../even-loads.ts';
import type { Explanation } from '../explain.ts';
import type { Key } from '../flat/key.ts';
import { explainPool } from './explain-pool.ts';
import { explainTable } from './explain-table.ts';
import { diffPools, Pool } from './pool.ts';
import { diffTables, poolShares, tableShares } from './table.ts';
import { checkTree, type VirtualTree } from './virtual-tree.ts';

/** Each round for a key, in the tree that is asked. */
export function explainIn(table: VirtualTree | Pool, key: Key, replicas: number): Explanation {
  return table instanceof Pool
    ? explainPool(table, key, replicas)
    : explainTable(table, key, replicas);
}

/**
 * The copies that move when a table becomes another, and the least between exact shares. Looked up in the trees of the
 * pools unless both are virtual. Throws PlacementError where the width changes.
 */
export function changeIn(
  before: VirtualTree | Pool,
  after: VirtualTree | Pool,
  input: DiffInput,
): Diff & { readonly evenMinimum: number } {
  const { replicas } = input;
  const change =
    before instanceof Pool || after instanceof Pool
      ? diffPools(poolUnder(before), poolUnder(after), input)
      : diffTables(before, after, input);
  const even = evenMovement(sharesIn(before, replicas), sharesIn(after, replicas));
  return { ...change, evenMinimum: Math.round(even * change.keys) };
}

/** The pool itself, also of a virtual tree. */
export function poolUnder(table: VirtualTree | Pool): Pool {
  if (table instanceof Pool) return table;
  checkTree(table);
  return table.pool;
}

function sharesIn(table: VirtualTree | Pool, replicas: number): ReadonlyMap<string, number> {
  return table instanceof Pool ? poolShares(table, replicas) : tableShares(table, replicas);
}
