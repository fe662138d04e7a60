/**
 * Whether the system lets this process have as many files and connections open as its limits allow, told at the start.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';

/** Descriptors for the journal, listeners, peers, name servers and Node itself. */
const othersCount = 200;

/** Null: this system does not say. */
export function openFilesMax(
  read = () => readFileSync('/proc/self/limits', 'utf8'),
): number | null {
  try {
    const line = read()
      .split('\n')
      .find((one) => one.startsWith('Max open files'));
    const [soft = ''] = (line ?? '').slice('Max open files'.length).trim().split(' ');
    return /^\d{1,15}$/.test(soft) ? Number(soft) : null;
  } catch {
    return null;
  }
}

/** Files and sockets that are open, of so many; null: this system does not say, or no descriptor is free to ask. */
export function openFilesShare(
  max: number | null,
  count = () => readdirSync('/proc/self/fd').length,
): { readonly now: number; readonly max: number } | null {
  try {
    return max === null ? null : { now: count(), max };
  } catch {
    return null;
  }
}

type Limited = Pick<Config, 'limits' | 'callbacks'>;

/**
 * How many client connections leave enough files for the journal, for callbacks and for peers: a crowd must not take
 * the last one. At least half of all files are for clients.
 */
export function connectionsWithin(filesMax: number | null, { limits, callbacks }: Limited): number {
  if (filesMax === null) return limits.connectionCountMax;
  const others = Math.min(callbacks.inFlightMax + othersCount, Math.floor(filesMax / 2));
  return Math.min(limits.connectionCountMax, filesMax - others);
}

/** A sentence when there are too few files for the limits; null when there are enough. */
export function tooFewFiles(filesMax: number | null, config: Limited): string | null {
  const { limits, callbacks } = config;
  const taken = connectionsWithin(filesMax, config);
  if (taken === limits.connectionCountMax) return null;
  const needed = limits.connectionCountMax + callbacks.inFlightMax + othersCount;
  return (
    `The system lets this process have ${filesMax} files open, but limits.connectionCountMax and callbacks.inFlightMax ` +
    `ask for ${needed}: ${taken} client connections are taken. Raise RLIMIT_NOFILE (ulimit -n, LimitNOFILE=), or lower these limits.`
  );
}
