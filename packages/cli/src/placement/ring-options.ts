/** Flags of the commands that talk to a lock ring on etcd. */
import { sentenceOf } from '@carillon/core';
import { readFileSync } from 'node:fs';
import { EtcdClient, type EtcdClientOptions } from '@carillon/ring';
import { SystemClock } from '@carillon/core/system';
import { type Io, UsageError } from '../command.ts';
import type { OptionKinds, Parsed } from '../options.ts';

export const ringOptions = {
  ring: 'text',
  etcd: 'list',
  'etcd-ca': 'text',
  'etcd-cert': 'text',
  'etcd-key': 'text',
  'etcd-user': 'text',
  'etcd-password-file': 'text',
} as const satisfies OptionKinds;

export const ringUsage = `  --ring PREFIX    The ring's name. Default: $CARILLON_RING, else locks
  --etcd URL       An etcd endpoint, or several (repeat it, or separate by commas).
                   Default: $CARILLON_ETCD, else http://127.0.0.1:2379
  --etcd-ca FILE   Authorities of etcd's certificate, in PEM. Default: the ones that the system trusts
  --etcd-cert FILE, --etcd-key FILE
                   A certificate and its key, in PEM, where etcd asks for one
  --etcd-user NAME, --etcd-password-file FILE
                   Name and password, where etcd asks for them. Without the file: $CARILLON_ETCD_PASSWORD`;

type RingFlags = Parsed<typeof ringOptions>['flags'];

export interface RingPlace {
  readonly prefix: string;
  readonly endpoints: readonly string[];
  readonly tls: NonNullable<EtcdClientOptions['tls']>;
  readonly auth: NonNullable<EtcdClientOptions['auth']> | null;
}

/** Throws UsageError for an endpoint or a name that cannot be, or a file that cannot be read. */
export function ringPlace(flags: RingFlags, io: Io): RingPlace {
  const given = flags.etcd.length > 0 ? flags.etcd : [io.env['CARILLON_ETCD'] ?? ''];
  const named = given.flatMap((one) => one.split(',')).map((one) => one.trim());
  const endpoints = named.filter((one) => one !== '');
  const prefix = flags.ring ?? io.env['CARILLON_RING'] ?? 'locks';
  if (prefix === '' || prefix.endsWith('/')) {
    throw new UsageError(
      `--ring must be a name such as billing or /apps/billing, not "${prefix}".`,
    );
  }
  return {
    prefix,
    endpoints: endpoints.length > 0 ? endpoints : ['http://127.0.0.1:2379'],
    tls: tlsOf(flags),
    auth: authOf(flags, io),
  };
}

function tlsOf(flags: RingFlags): RingPlace['tls'] {
  const { 'etcd-ca': ca, 'etcd-cert': cert, 'etcd-key': key } = flags;
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('--etcd-cert and --etcd-key go together: a certificate and its key.');
  }
  return {
    ...(ca !== undefined && { ca: fileText('--etcd-ca', ca) }),
    ...(cert !== undefined && { cert: fileText('--etcd-cert', cert) }),
    ...(key !== undefined && { key: fileText('--etcd-key', key) }),
  };
}

/** No flag takes the password itself: every user of the machine can read command lines. */
function authOf(flags: RingFlags, io: Io): RingPlace['auth'] {
  const { 'etcd-user': user, 'etcd-password-file': file } = flags;
  if (user === undefined) {
    if (file === undefined) return null;
    throw new UsageError('--etcd-password-file goes with --etcd-user NAME.');
  }
  const password =
    file === undefined
      ? io.env['CARILLON_ETCD_PASSWORD']
      : fileText('--etcd-password-file', file).trimEnd();
  if (password !== undefined && password !== '') return { user, password };
  throw new UsageError(
    '--etcd-user needs a password: in the file --etcd-password-file names, or in $CARILLON_ETCD_PASSWORD.',
  );
}

function fileText(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = sentenceOf(error);
    throw new UsageError(`${flag} must be a file that can be read: ${reason}`, { cause: error });
  }
}

export function etcdOf(place: RingPlace): EtcdClient {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  try {
    const { endpoints, tls, auth } = place;
    const clock = new SystemClock();
    return new EtcdClient({ endpoints, clock, log, tls, ...(auth !== null && { auth }) });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
