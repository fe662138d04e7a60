/**
 * The flags of `where` and `plan` that speak of a pool: its name, its shape, and the tree in which a key is looked up.
 */
import type { Account, PoolShape } from '@carillon/placement';
import { UsageError } from '../command.ts';
import { type OptionKinds, wholeNumber } from '../options.ts';
import { accountOf, type PolicyFlags, policyOf } from './policy-flags.ts';

export const poolOptions = {
  partitions: 'text',
  zones: 'text',
  tree: 'text',
  'fan-outs': 'text',
} as const satisfies OptionKinds;

export const poolUsage = `  --partitions N         With a topology: the pool of a table, to which each zone contributes N machines. The table
                         account/table/type names the account. Instead: --width LEVEL=N for each level, and --pool or
                         --table
  --zones N              With --partitions: the zones that the pool was made for; default: all, where none is planned
  --tree TREE            With a pool: virtual (default) looks a key up in its virtual tree, pool in its own tree
  --fan-outs N,N,…       With a virtual tree: its rounds, the last one the machines of a zone;
                         default: the stripe from the bits of one hash, then the machines`;

export interface PoolFlags {
  readonly partitions: string | undefined;
  readonly zones: string | undefined;
  readonly tree: string | undefined;
  readonly 'fan-outs': string | undefined;
}

/** A pool by its name, and how keys are looked up in it. */
export interface PoolQuestion {
  readonly name: string;
  readonly shape: PoolShape;
  readonly replicas: number;
  readonly tree: 'virtual' | 'pool';
  /** Of the virtual tree; null: the stripe from the bits of one hash. */
  readonly fanOuts: readonly number[] | null;
}

/** Throws UsageError for flags that do not go with a pool. */
export function poolOf(flags: PoolFlags & PolicyFlags, name: string): PoolQuestion {
  if (flags.roles !== undefined) throw new UsageError('With a pool there are no --roles.');
  const { replicas, pin } = policyOf(flags, 'rank');
  const account = ownerOf(flags, name);
  const { tree = 'virtual', 'fan-outs': fanOuts } = flags;
  if (tree !== 'virtual' && tree !== 'pool') {
    throw new UsageError(`--tree must be virtual or pool, not "${tree}".`);
  }
  if (tree === 'pool' && fanOuts !== undefined) {
    throw new UsageError('--fan-outs are those of a virtual tree; leave --tree pool out.');
  }
  return {
    name,
    shape: {
      ...widthsOf(flags, replicas),
      ...(pin === undefined ? {} : { pin }),
      ...(account === null ? {} : { account }),
    },
    replicas,
    tree,
    fanOuts: fanOuts?.split(',').map((text) => whole('--fan-outs', text)) ?? null,
  };
}

function whole(flag: string, text: string): number {
  return wholeNumber(flag, text, { min: 1, max: 65_535 });
}

function widthsOf(flags: PoolFlags & PolicyFlags, replicas: number): PoolShape {
  const { partitions, zones } = flags;
  const { width } = policyOf(flags, 'rank');
  if ((partitions === undefined) === (width === undefined)) {
    throw new UsageError(
      'The shape of a pool is either --partitions N, from which widths are worked out, or --width LEVEL=N for each level.',
    );
  }
  if (partitions === undefined) {
    if (zones !== undefined) throw new UsageError('--zones goes with --partitions N.');
    return width === undefined ? {} : { width };
  }
  return {
    partitions: whole('--partitions', partitions),
    replicas,
    ...(zones === undefined ? {} : { zones: whole('--zones', zones) }),
  };
}

/** The account of a pool: a table account/table/type names it, another pool has that of --account or none. */
function ownerOf(flags: PolicyFlags, name: string): Account | null {
  const [first = '', ...rest] = name.split('/');
  if (rest.length !== 2 || first === '') return accountOf(flags);
  if (flags.account !== undefined) {
    throw new UsageError(
      `The table ${name} names its account, ${first}; with --partitions or --table leave --account out.`,
    );
  }
  return accountOf({ ...flags, account: first });
}
