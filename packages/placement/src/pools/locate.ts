/** One call from a key to its places: account/table/type/key in, region, zone, node, disk, namespace and queue out. */
import { PlacementError } from '../errors.ts';
import { type PoolShape, selectPool } from './pool.ts';
import type { Topology } from '../topology.ts';
import { VirtualTree } from './virtual-tree.ts';

export interface LocateOptions extends Omit<PoolShape, 'account'> {
  readonly replicas: number;
  /** The newest expansion when the account was created; absent: older than all of them. */
  readonly createdUnder?: string;
}

/** Where one replica is: the id per level and the index per slot level, by name. */
export interface Located {
  readonly path: string;
  readonly at: Readonly<Record<string, string | number>>;
}

/**
 * The replicas of a key whose first part is its account and whose first three parts are its collection. For more than a few
 * keys select the pool of the collection once, and ask its virtual tree.
 */
export function locate(topology: Topology, key: string, options: LocateOptions): Located[] {
  const { createdUnder, width, ...shape } = options;
  const [account = '', ...parts] = key.split('/');
  if (account === '' || parts.length < 3) {
    throw new PlacementError('bad_key', 'A key to locate has the form account/table/type/key.');
  }
  const pool = selectPool(topology, [account, ...parts.slice(0, 2)].join('/'), {
    ...(width === undefined
      ? shape
      : { width, ...(shape.pin === undefined ? {} : { pin: shape.pin }) }),
    account: { id: account, ...(createdUnder === undefined ? {} : { createdUnder }) },
  });
  return new VirtualTree(pool).place(key, options.replicas).map(({ path, slot }) => {
    const ids = path.split('/').map((id, i) => [topology.levels[i] as string, id] as const);
    const slots = slot.map((index, i) => [topology.slots[i]?.name as string, index] as const);
    return { path, at: Object.fromEntries<string | number>([...ids, ...slots]) };
  });
}
