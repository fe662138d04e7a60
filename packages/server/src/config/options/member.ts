/** Options of the member itself: its listener, folder, name, log and how long it remembers. */
import { address, choice, ms, optional, path, text, whole } from './kinds.ts';
import { second, minute, hour, day, option } from './option.ts';

const nameKind = text(/^[A-Za-z0-9._:[\]-]{1,128}$/, '1 to 128 letters, digits and . _ - : [ ]');

export const memberOptions = {
  listen: option(
    '127.0.0.1:7253',
    address,
    'Address and port of the public HTTP API. The default is reachable from this machine only; 0.0.0.0:7253 from everywhere.',
  ),
  tls: {
    certificate: option(
      null,
      optional(path),
      'Certificate (PEM, with intermediate certificates) of the public API; with it the API is served by TLS only, 1.2 or later. Read again when it changes and on SIGHUP. Needs key; all members or none. Not set: plain HTTP.',
    ),
    key: option(null, optional(path), 'Private key (PEM) of the certificate of the public API.'),
  },
  data: option(
    './carillon-data',
    path,
    'Folder of journal and snapshots; belongs to one member alone. Created when missing.',
  ),
  durability: option(
    'disk',
    choice('disk', 'memory'),
    'disk: confirmed means synced to disk. memory: faster sets, but timers live only as long as one of their replicas runs.',
  ),
  name: option(
    null,
    optional(nameKind),
    'Name of this member in views, placement and records; stays the same over restarts. Not set: the peer address, or the listen address without a cluster. A new name means a new member: its timers move.',
  ),
  logLevel: option(
    'info',
    choice('debug', 'info', 'warn', 'error', 'silent'),
    'debug also tells of every connection to peers and etcd; warn and error hide the events before a problem. Requests and pops have no lines at any level: their numbers are metrics.',
  ),
  defaultFactor: option(
    2,
    whole(1, 16),
    'Replicas of a timer whose client names no factor; with fewer members than that, as many as there are. Lower: a lost member can lose timers. Higher: each set costs that many writes.',
  ),
  tombstoneRetentionMs: option(
    hour,
    ms(minute, 30 * day),
    'How long an ended timer is remembered. Lower: a member that was away longer can bring a cancelled timer back. Higher: memory and disk for ended timers.',
  ),
  idempotencyRetentionMs: option(
    day,
    ms(minute, 30 * day),
    'How long an idempotency key is remembered. Lower: a late repeat makes a second timer. Higher: memory and disk.',
  ),
  search: {
    indexes: option(
      'on',
      choice('on', 'off'),
      'on: timers are found by due time, tag, receiver and failure in indexes in memory: 20 bytes a timer, 38 with a tag. off: no such memory; lists with a filter look at all timers, and a list by due time is refused where there are many.',
    ),
  },
  scrubIntervalMs: option(
    day,
    ms(10 * second, 365 * day),
    'How often journal and snapshots are read again, at most about 12 MiB a second, to find damage while other members have copies. Lower: more reading. Higher: damage is found later, at the latest by the next start.',
  ),
} as const;
