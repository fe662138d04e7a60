/** Options of a member among others: the source of the view, etcd, lock rings, addresses, and how it leaves. */
import { address, labels, list, ms, optional, path, text, whole } from './kinds.ts';
import { second, minute, hour, day, option } from './option.ts';

export const shutdown = {
  limitMs: option(
    10 * second,
    ms(0, hour),
    'How long a stopping member waits for requests and callbacks under way. Lower: some callbacks are repeated by a replica or after the restart. Keep it below the stop timeout of the service manager.',
  ),
  drainLimitMs: option(
    10 * minute,
    ms(0, 7 * day),
    'How long a draining member tries to hand off everything before it gives up and stays.',
  ),
} as const;

export const cluster = {
  name: option(
    'carillon',
    text(/^[A-Za-z0-9._-]{1,64}$/, '1 to 64 letters, digits and . _ -'),
    'Name shared by the members of one cluster; members of another name are refused, and etcd keys lie below it.',
  ),
  membersFile: option(
    null,
    optional(path),
    'File (JSON or YAML) that lists the members; read again when it changes. Not set: no static view.',
  ),
  etcdEndpoints: option<readonly string[]>(
    [],
    list(text(/^https?:\/\/[^\s/@]+$/, 'a URL such as http://127.0.0.1:2379')),
    'etcd that holds the view. Not set: no etcd.',
  ),
  peerListen: option(
    null,
    optional(address),
    'Address and port for other members. Not set: as the members file says, or 100 above the port of listen. Never expose it to clients.',
  ),
  secretFile: option(
    null,
    optional(path),
    'File with the secret that all members share, in one line of at least 32 characters; a second line is accepted too, while members change over from one to the other. Read again when it changes and on SIGHUP. Not set: every process that reaches the peer port is taken for a member, unless there is TLS.',
  ),
  tls: {
    certificate: option(
      null,
      optional(path),
      'Certificate (PEM, with intermediate certificates) that this member shows to others; one of its DNS names, or its common name, is the name of this member. Read again when it changes and on SIGHUP. Needs key and ca. Not set: no TLS between members.',
    ),
    key: option(null, optional(path), 'Private key (PEM) of the certificate for other members.'),
    ca: option(
      null,
      optional(path),
      'Authorities (PEM) that sign the certificates of members. A certificate that they signed, with the name of a member of the view, is let in: use an authority for members only.',
    ),
  },
  labels: option<Readonly<Record<string, string>>>(
    {},
    labels,
    'Place of this member, such as region=eu,zone=a. The replicas of a timer go to distinct places.',
  ),
  weight: option(1, whole(0, 1_000), 'Share of timers relative to other members; 0 holds none.'),
} as const;

export const etcd = {
  ca: option(
    null,
    optional(path),
    'Authorities (PEM) that may have signed the certificate of etcd. Not set: the authorities that the system trusts.',
  ),
  certificate: option(
    null,
    optional(path),
    'Certificate (PEM) to show where etcd asks for one. Needs key. Not set: none.',
  ),
  key: option(null, optional(path), 'Private key (PEM) of the certificate for etcd.'),
  user: option(
    null,
    optional(text(/^\S{1,256}$/, 'a name without spaces')),
    'User at an etcd that asks for a password. Not set: none is asked for.',
  ),
  passwordFile: option(
    null,
    optional(path),
    'File with the password of that user, in one line. Not set: etcd.password.',
  ),
  password: {
    ...option<string | null>(
      null,
      optional(text(/^.{1,1024}$/, 'one line')),
      'Password of that user. Better from the environment or a file: every user of the machine can read command lines.',
    ),
    secret: true,
  },
} as const;

export const locks = {
  rings: option<readonly string[]>(
    ['locks'],
    list(text(/^[^/\s]+(?:\/+[^/\s]+)*$/, 'the name of a ring, such as locks')),
    'Lock rings that GET /locks and the dashboard show, by their prefix in etcd. Nothing is shown without etcd.',
  ),
  etcdEndpoints: option<readonly string[]>(
    [],
    list(text(/^https?:\/\/[^\s/@]+$/, 'a URL such as http://127.0.0.1:2379')),
    'etcd that holds these rings. Not set: cluster.etcdEndpoints.',
  ),
} as const;

export const advertise = {
  api: option(
    null,
    optional(address),
    'Address of the API that others are told, in etcd and in GET /cluster, where it differs from listen (0.0.0.0, containers, a proxy in front). Not set: listen, or the first outer address of this machine when listen is every address. A members file names this address itself.',
  ),
  peer: option(
    null,
    optional(address),
    'Address under which other members reach this one, where it differs from cluster.peerListen. Not set: cluster.peerListen, or the first outer address of this machine when that is every address. A members file names this address itself.',
  ),
} as const;
