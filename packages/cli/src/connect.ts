/** From flags and environment to a client of the cluster; the same for every command that talks to one. */
import { Carillon } from '@carillon/client';
import { type Io, UsageError } from './command.ts';
import { commonOptions, type OptionKinds } from './options.ts';

export const defaultServer = 'http://127.0.0.1:7253';

export const connectOptions = {
  ...commonOptions,
  server: 'list',
  token: 'text',
} as const satisfies OptionKinds;

export const connectUsage = `  --server URL     A member, or several (repeat it, or separate by commas); any member will do.
                   Default: $CARILLON_SERVER, else ${defaultServer}
  --token TOKEN    Default: $CARILLON_TOKEN
  --json           One JSON value a line instead of text`;

export interface ConnectFlags {
  readonly server: readonly string[];
  readonly token: string | undefined;
}

export function serversOf(flags: ConnectFlags, io: Io): string[] {
  const given = flags.server.length > 0 ? flags.server : [io.env['CARILLON_SERVER'] ?? ''];
  const urls = given.flatMap((entry) => entry.split(',')).map((entry) => entry.trim());
  const named = urls.filter((url) => url !== '');
  return named.length > 0 ? named : [defaultServer];
}

/** Throws UsageError for a server that is no URL. */
export function connect(flags: ConnectFlags, io: Io): Carillon {
  return connectTo(serversOf(flags, io), flags, io);
}

/** A client of exactly these members. */
export function connectTo(members: readonly string[], flags: ConnectFlags, io: Io): Carillon {
  const token = flags.token ?? io.env['CARILLON_TOKEN'];
  try {
    // A command is over before a list of members could grow old.
    const common = { members, refresh: null };
    return new Carillon(token === undefined || token === '' ? common : { ...common, token });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
