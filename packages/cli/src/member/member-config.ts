/** The configuration of a member from a command line: every option as a flag, and short names for the common ones. */
import { readFileSync } from 'node:fs';
import { eachOption, flagOf, type LoadedConfig, loadConfig } from '@carillon/server';
import type { Io } from '../command.ts';
import { inPlainWords } from '../terminal/plain-words.ts';
import { type OptionKind, parseOptions } from '../options.ts';

/** Short flag → the flag derived from the option's name. */
const shortNames: Readonly<Record<string, string>> = {
  members: 'cluster-members-file',
  etcd: 'cluster-etcd-endpoints',
  'etcd-cert': 'etcd-certificate',
  cluster: 'cluster-name',
  labels: 'cluster-labels',
  weight: 'cluster-weight',
  'peer-listen': 'cluster-peer-listen',
  'peer-tls-certificate': 'cluster-tls-certificate',
  'peer-tls-key': 'cluster-tls-key',
  'peer-tls-ca': 'cluster-tls-ca',
  advertise: 'advertise-api',
  tokens: 'auth-tokens',
  'insecure-no-auth': 'auth-insecure-no-auth',
};

/** Flags that are no options of a member. */
const ownFlags = new Set(['json', 'memory']);

/** Variables of this binary's other commands; options of a member they are not. */
const clientVariables = new Set([
  'CARILLON_SERVER',
  'CARILLON_TOKEN',
  'CARILLON_NAMESPACE',
  'CARILLON_RING',
  'CARILLON_ETCD',
]);

export const memberUsage = `  --listen HOST:PORT     Where the HTTP API listens; default 127.0.0.1:7253
  --tls-certificate FILE, --tls-key FILE  Serve the API by HTTPS; read again on change and on SIGHUP
  --data DIR             Where timers are kept; default ./carillon-data
  --memory               Keep nothing on disk: timers live in the members only
  --config FILE          Options from a YAML or JSON file
  --log-level LEVEL      debug, info, warn, error or silent; default info
  --name NAME            The name of this member in its cluster
  --members FILE         The members of the cluster, JSON or YAML; read again on change and on SIGHUP
  --etcd URL             Members find each other through etcd instead
  --etcd-ca FILE, --etcd-cert FILE, --etcd-key FILE
                         TLS with etcd: the authority of etcd's certificate; a certificate for this member, and its key
  --etcd-user NAME, --etcd-password-file FILE
                         Name and password, where etcd asks for them. Without the file: $CARILLON_ETCD_PASSWORD
  --cluster NAME         With --etcd: the name of the cluster
  --peer-listen HOST:PORT  Where other members reach this one
  --cluster-secret-file FILE  The secret that all members share
  --peer-tls-certificate FILE, --peer-tls-key FILE, --peer-tls-ca FILE  TLS between members
  --advertise HOST:PORT  The address that clients are told instead of --listen
  --advertise-peer HOST:PORT  The address that members are told instead of --peer-listen
  --tokens FILE          The tokens that let clients in; default tokens.json in the data folder. See carillon token
  --insecure-no-auth     Start even if other machines can connect without a token or secret
  --labels zone=a        The place of this member; copies of a timer go to different places

Every other option of docs/configuration.md is a flag too: limits.bodyBytesMax is --limits-body-bytes-max.
A flag wins over the environment (CARILLON_LIMITS_BODY_BYTES_MAX), the environment over files.`;

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'];

/** Flags that take one of a few values. */
export const memberValues = { '--log-level': logLevels, '--durability': ['disk', 'memory'] };

export interface MemberArguments {
  readonly loaded: LoadedConfig;
  /** The same once more, as files and environment are by then. */
  readonly again: () => LoadedConfig;
  /** null: no configuration file. */
  readonly file: string | null;
  readonly operands: readonly string[];
  readonly json: boolean;
}

/** Options of a member from their flags, the environment and a file. */
export function loadMember(
  flags: Readonly<Record<string, string | readonly string[]>>,
  io: Io,
): LoadedConfig {
  const env = Object.fromEntries(
    Object.entries(io.env).filter(([name]) => !clientVariables.has(name)),
  );
  const loaded = loadConfig({ flags, env, readFile: (path) => readFileSync(path, 'utf8') });
  return loaded.ok ? loaded : { ok: false, problems: loaded.problems.map(inPlainWords) };
}

/** Throws UsageError for a flag that does not exist; problems with values are in `loaded`. */
export function memberConfig(args: readonly string[], io: Io): MemberArguments {
  const kinds: Record<string, OptionKind> = { json: 'flag', memory: 'flag', config: 'text' };
  for (const { key, spec } of eachOption()) {
    kinds[flagOf(key)] = typeof spec.value === 'boolean' ? 'flag' : 'list';
  }
  for (const [short, long] of Object.entries(shortNames)) kinds[short] = kinds[long] ?? 'list';
  const { flags: given, operands } = parseOptions(args, kinds);
  const flags: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(given)) {
    const isGiven = typeof value === 'string' || (Array.isArray(value) && value.length > 0);
    const long = shortNames[name] ?? name;
    if (isGiven) flags[long] = lastOf(value as string | readonly string[]);
    else if (value === true && !ownFlags.has(name)) flags[long] = 'true';
  }
  if (given['memory'] === true) flags['durability'] = 'memory';
  const again = (): LoadedConfig => loadMember(flags, io);
  const file = flags['config'] ?? io.env['CARILLON_CONFIG'];
  return {
    loaded: again(),
    again,
    file: typeof file === 'string' && file !== '' ? file : null,
    operands,
    json: given['json'] === true,
  };
}

/** Repeated flags are lists (`--etcd A --etcd B`); one alone is passed on as it is. */
function lastOf(value: string | readonly string[]): string | readonly string[] {
  return typeof value !== 'string' && value.length === 1 ? (value[0] ?? '') : value;
}
