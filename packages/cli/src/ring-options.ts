/** Flags of the commands that talk to a lock ring on etcd. */
import { EtcdClient } from '@carillon/ring';
import { SystemClock } from '@carillon/core/system';
import { type Io, UsageError } from './command.ts';
import type { OptionKinds } from './options.ts';

export const ringOptions = { ring: 'text', etcd: 'list' } as const satisfies OptionKinds;

export const ringUsage = `  --ring PREFIX    The ring's name. Default: $CARILLON_RING, else locks
  --etcd URL       An etcd endpoint, or several (repeat it, or separate by commas).
                   Default: $CARILLON_ETCD, else http://127.0.0.1:2379`;

export interface RingFlags {
  readonly ring: string | undefined;
  readonly etcd: readonly string[];
}

export interface RingPlace {
  readonly prefix: string;
  readonly endpoints: readonly string[];
}

/** Throws UsageError for an endpoint or a name that cannot be. */
export function ringPlace(flags: RingFlags, io: Io): RingPlace {
  const given = flags.etcd.length > 0 ? flags.etcd : [io.env['CARILLON_ETCD'] ?? ''];
  const named = given.flatMap((one) => one.split(',')).map((one) => one.trim());
  const endpoints = named.filter((one) => one !== '');
  const prefix = flags.ring ?? io.env['CARILLON_RING'] ?? 'locks';
  if (prefix === '' || prefix.startsWith('/') || prefix.endsWith('/')) {
    throw new UsageError(`--ring must be a name such as billing, not "${prefix}".`);
  }
  return { prefix, endpoints: endpoints.length > 0 ? endpoints : ['http://127.0.0.1:2379'] };
}

export function etcdOf(place: RingPlace): EtcdClient {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  try {
    return new EtcdClient({ endpoints: place.endpoints, clock: new SystemClock(), log });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
