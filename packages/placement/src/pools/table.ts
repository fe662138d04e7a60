/**
 * The virtual tree of a table seen from outside: keys on targets, exact shares, and the copies that move when the pool
 * changes.
 */
import { type Diff, type DiffInput, diff } from '../diff.ts';
import { evenLoads, type Part } from '../even-loads.ts';
import type { Placer } from '../flat/rendezvous.ts';
import { checkCount, wholeNumber } from '../input.ts';
import { replicasMax } from '../policy.ts';
import { checkPool, type Pool, type PoolVertex } from './pool.ts';
import { refuseReshaping } from './pool-width.ts';
import { checkTree, type VirtualTree } from './virtual-tree.ts';

/** Places the keys of a table on targets, as its virtual tree does on leaves. */
export function tablePlacer(tree: VirtualTree): Placer {
  checkTree(tree);
  const toTargets = (size: number, out: Parameters<Placer['pick']>[3], leaves: Int32Array) => {
    for (let i = 0; i < size; i++) out[i] = tree.target(leaves[i] as number);
    return size;
  };
  return {
    names: tree.names,
    pick(hi, lo, count, out) {
      checkCount(count);
      const leaves = new Int32Array(count);
      return toTargets(tree.pick(hi, lo, count, leaves), out, leaves);
    },
    pickText(key, count, out) {
      checkCount(count);
      const leaves = new Int32Array(count);
      return toTargets(tree.pickText(key, count, leaves), out, leaves);
    },
  };
}

/** The share of all keys that each target would hold if shares were exact: zones alike, in a zone all its slots. */
export function tableShares(tree: VirtualTree, replicas: number): ReadonlyMap<string, number> {
  checkTree(tree);
  wholeNumber(replicas, 'The number of replicas', { min: 0, max: replicasMax });
  const shares = new Map<string, number>();
  for (const { machines } of tree.zones) {
    const serving = machines.flatMap(({ children }) => children.map((disk) => disk.serving));
    for (const position of serving.filter((one) => one >= 0)) {
      const { path } = tree.pool.target(position);
      const share = replicas / tree.zones.length / serving.length;
      shares.set(path, (shares.get(path) ?? 0) + share);
    }
  }
  return shares;
}

/** The same in the tree of a pool: zones alike, in a zone its machines, in a machine its disks. */
export function poolShares(pool: Pool, replicas: number): ReadonlyMap<string, number> {
  checkPool(pool);
  const part = (vertex: PoolVertex, depth: number): Part => {
    const isDisk = depth === pool.topology.levels.length - 1;
    const name = isDisk && vertex.serving >= 0 ? pool.target(vertex.serving).path : '';
    return { name, weight: 1, parts: serving(vertex.children, depth + 1) };
  };
  const serving = (vertices: readonly PoolVertex[], depth: number): Part[] =>
    vertices
      .map((vertex) => part(vertex, depth))
      .filter(({ name, parts }) => name !== '' || parts.length > 0);
  return evenLoads({ name: '', weight: 1, parts: serving(pool.vertices, 0) }, replicas);
}

/** The copies of a table that move when its pool becomes another. Throws PlacementError where the width changes. */
export function diffTables(before: VirtualTree, after: VirtualTree, input: DiffInput): Diff {
  checkTree(before);
  checkTree(after);
  refuseReshaping(after.pool.topology.levels, before.pool.width, after.pool.width);
  return diff(tablePlacer(before), tablePlacer(after), input);
}
