/** One call from a key to its places: account/table/type/key in, region, zone, node, disk, namespace and queue out. */
import { PlacementError } from '../errors.ts';
import { record, refuseUnknownFields, show } from '../input.ts';
import { Pool, type PoolShape, selectPool } from './pool.ts';
import type { Topology } from '../topology.ts';
import { checkTree, VirtualTree, type VirtualTreeOptions } from './virtual-tree.ts';

export interface LocateOptions extends Omit<PoolShape, 'account'>, VirtualTreeOptions {
  readonly replicas: number;
  /** The newest expansion when the account was created; absent: older than all of them. */
  readonly createdUnder?: string;
}

const optionFields = [
  'width',
  'partitions',
  'replicas',
  'zones',
  'pin',
  'fanOuts',
  'createdUnder',
] as const satisfies (keyof LocateOptions)[];

/** Where one replica is: the id per level and the index per slot level, by name. */
export interface Located {
  readonly path: string;
  readonly at: Readonly<Record<string, string | number>>;
}

/**
 * The replicas of a key whose first part is its account and whose first three parts are its collection. For more than a
 * few keys make the table's virtual tree once, and ask it.
 */
export function locate(topology: Topology, key: string, options: LocateOptions): Located[] {
  if (typeof key !== 'string') throw badKey(`A key to locate must be a text, not ${show(key)}.`);
  const parts = key.split('/');
  if (parts.length < 4) throw badKey('A key to locate has the form account/table/type/key.');
  const table = tableOf(topology, parts.slice(0, 3).join('/'), options);
  return locateIn(table, key, options.replicas);
}

/** The replicas of a key of a table, in its virtual tree or in the tree of its pool. */
export function locateIn(table: VirtualTree | Pool, key: string, replicas: number): Located[] {
  const isPool = table instanceof Pool;
  if (!isPool) checkTree(table);
  const { levels, slots } = isPool ? table.topology : table.pool.topology;
  const places = isPool ? table.place(key, replicas).replicas : table.place(key, replicas);
  return places.map(({ path, slot }) => {
    const ids = path.split('/').map((id, i) => [levels[i] as string, id] as const);
    const indexes = slot.map((index, i) => [slots[i]?.name as string, index] as const);
    return { path, at: Object.fromEntries<string | number>([...ids, ...indexes]) };
  });
}

/** The virtual tree of a table, account/table/type: the pool that the table has in the eyes of its account. */
export function tableOf(topology: Topology, table: string, options: LocateOptions): VirtualTree {
  if (typeof table !== 'string') {
    throw badKey(`The name of a table must be a text, not ${show(table)}.`);
  }
  refuseUnknownFields(record(options, 'The options of locate'), optionFields, {
    what: 'The form of the options',
  });
  const { createdUnder, width, fanOuts, ...shape } = options;
  const [account = '', ...parts] = table.split('/');
  if (account === '' || parts.length !== 2) {
    throw badKey('The name of a table has the form account/table/type.');
  }
  const pool = selectPool(topology, table, {
    ...(width === undefined
      ? shape
      : { width, ...(shape.pin === undefined ? {} : { pin: shape.pin }) }),
    account: { id: account, ...(createdUnder === undefined ? {} : { createdUnder }) },
  });
  return new VirtualTree(pool, fanOuts === undefined ? {} : { fanOuts });
}

function badKey(says: string): PlacementError {
  return new PlacementError('bad_key', says);
}
