/** From flags and environment to a client of the cluster; the same for every command that talks to one. */
import { readFileSync } from 'node:fs';
import { ApiError, Carillon, type CarillonOptions } from '@carillon/client';
import { isJson, type Json } from '../timers/api-timer.ts';
import { type Io, UsageError } from '../command.ts';
import { commonOptions, type OptionKinds } from '../options.ts';

const defaultServer = 'http://127.0.0.1:7253';

export const connectOptions = {
  ...commonOptions,
  server: 'list',
  token: 'text',
  'token-file': 'text',
  namespace: 'text',
} as const satisfies OptionKinds;

export const connectUsage = `  --server URL     A member, or several (repeat it, or separate by commas); any member will do. HOST:PORT is http;
                   members with a certificate need https://.
                   Default: $CARILLON_SERVER, else ${defaultServer}
  --token-file FILE, --token TOKEN
                   The token to send, where members ask for one. Default: $CARILLON_TOKEN, which other users of the
                   machine cannot read, unlike a flag
  --namespace NAME Namespace of the timers. Default: $CARILLON_NAMESPACE, else the token's namespace, else default
  --json           One JSON value a line instead of text`;

export interface ConnectFlags {
  readonly server: readonly string[];
  readonly token: string | undefined;
  readonly 'token-file': string | undefined;
  readonly namespace: string | undefined;
}

export function serversOf(flags: ConnectFlags, io: Io): string[] {
  const given = flags.server.length > 0 ? flags.server : [io.env['CARILLON_SERVER'] ?? ''];
  const urls = given.flatMap((entry) => entry.split(',')).map((entry) => entry.trim());
  const named = urls.filter((url) => url !== '').map(withScheme);
  return named.length > 0 ? named : [defaultServer];
}

/** `cluster members` prints addresses, `HOST:PORT`: they are taken as they are. */
function withScheme(server: string): string {
  return /^(\[[\da-fA-F:]+\]|[\w.-]+):\d{1,5}$/.test(server) ? `http://${server}` : server;
}

type MoreOptions = Pick<CarillonOptions, 'timeout'>;

/** Throws UsageError for a server that is no URL. */
export function connect(flags: ConnectFlags, io: Io, more: MoreOptions = {}): Carillon {
  return connectTo(serversOf(flags, io), flags, io, more);
}

/** A client of exactly these members. */
export function connectTo(
  members: readonly string[],
  flags: ConnectFlags,
  io: Io,
  more: MoreOptions = {},
): Carillon {
  const token = tokenOf(flags, io);
  const namespace = namedNamespace(flags, io);
  try {
    return new Carillon({
      members,
      // A command is over before a list of members could grow old.
      refresh: null,
      ...more,
      ...(token !== null && { token }),
      ...(namespace !== null && { namespace }),
    });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** null: none was named, so that the token decides. */
export function namedNamespace(flags: Pick<ConnectFlags, 'namespace'>, io: Io): string | null {
  return flags.namespace ?? (io.env['CARILLON_NAMESPACE'] || null);
}

/** The namespace whose timers a client works with. */
export async function namespaceOf(client: Carillon, flags: ConnectFlags, io: Io): Promise<string> {
  const named = namedNamespace(flags, io);
  if (named !== null) return named;
  try {
    const request = { method: 'GET', path: '/whoami', signal: io.signal } as const;
    const { body } = await client.request({ ...request, fits: (answer) => isJson(answer.body) });
    const bound = (body as Json)['namespace'];
    return typeof bound === 'string' && bound !== '*' ? bound : 'default';
  } catch (error) {
    // A member of an earlier release knows only one.
    if (error instanceof ApiError && error.status === 404) return 'default';
    throw error;
  }
}

/** Headers that show the token, for requests beside the client. */
export function authorization(flags: ConnectFlags, io: Io): Record<string, string> {
  const token = tokenOf(flags, io);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

/** null: no token. Throws UsageError for a file that cannot be read; its content is never told. */
function tokenOf(flags: ConnectFlags, io: Io): string | null {
  const file = flags['token-file'];
  if (flags.token !== undefined) return flags.token;
  if (file === undefined) return io.env['CARILLON_TOKEN'] || null;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new UsageError(`The token file ${file} cannot be read (${code}).`, { cause: error });
  }
}
