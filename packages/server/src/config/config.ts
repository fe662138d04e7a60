/**
 * Every option of a member, declared once: its default, its kind, and the cost of a lower or a higher value. `Config`
 * is derived from this table, and so are the names: `limits.bodyBytesMax` in a file is
 * `CARILLON_LIMITS_BODY_BYTES_MAX` in the environment and `--limits-body-bytes-max` as a flag. Units are in the
 * names; times and sizes may also be written with a unit (`10s`, `8MiB`). `load.ts` reads the sources.
 */
import {
  address,
  bytes,
  choice,
  type Kind,
  labels,
  list,
  ms,
  optional,
  path,
  text,
  Wrong,
  whole,
  yesNo,
} from './kinds.ts';
import { parseAllow } from '../callback/guard.ts';
import { type Quotas, quotasKind } from './quota.ts';

export interface Option<T> {
  readonly value: T;
  readonly kind: Kind<T>;
  /** The meaning of the option, and the cost of a lower or a higher value. */
  readonly help: string;
  /** Never printed or logged. */
  readonly secret: boolean;
}

function option<T>(value: NoInfer<T>, kind: Kind<T>, help: string): Option<T> {
  return { value, kind, help, secret: false };
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const KiB = 1024;
const MiB = 1024 * KiB;

/** Checks the form of a rule and keeps its text; the guard of callbacks parses the list again. */
const allowRule: Kind<string> = (raw) => {
  try {
    parseAllow(String(raw));
    return String(raw);
  } catch {
    return new Wrong(
      'loopback, private, link-local, or an address range such as 10.0.0.0/8, 10.1.2.3:8080 or [fd00::/8]:8080',
    );
  }
};

const nameKind = text(/^[A-Za-z0-9._:[\]-]{1,128}$/, '1 to 128 letters, digits and . _ - : [ ]');

const options = {
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
  scrubIntervalMs: option(
    day,
    ms(10 * second, 365 * day),
    'How often journal and snapshots are read again, at most about 12 MiB a second, to find damage while other members have copies. Lower: more reading. Higher: damage is found later, at the latest by the next start.',
  ),
  limits: {
    bodyBytesMax: option(
      256 * KiB,
      bytes(1 * KiB, 64 * MiB),
      'Largest request body outside batches; beyond it 413. Higher: one client can hold more memory.',
    ),
    batchBodyBytesMax: option(
      8 * MiB,
      bytes(1 * KiB, 256 * MiB),
      'Largest batch body; beyond it 413. Higher: parsing one batch holds up pops longer (about 10 ms a MiB).',
    ),
    batchItemCountMax: option(
      10_000,
      whole(1, 1_000_000),
      'Timers in one batch; beyond it 413. Higher: one batch holds up pops longer.',
    ),
    jsonDepthMax: option(
      32,
      whole(4, 1_000),
      'Nesting of a JSON body; beyond it 400. The API itself needs 4.',
    ),
    uriBytesMax: option(
      2 * KiB,
      bytes(16, 64 * KiB),
      'Longest callback URI; beyond it 400. Counts in memory for every pending timer.',
    ),
    opaqueBytesMax: option(
      64 * KiB,
      bytes(0, 16 * MiB),
      'Longest opaque text in UTF-8; beyond it 400. Counts in memory for every pending timer.',
    ),
    callbackHeaderCountMax: option(
      32,
      whole(0, 1_000),
      'Callback headers a timer may carry; beyond it 400.',
    ),
    callbackHeaderBytesMax: option(
      4 * KiB,
      bytes(0, 64 * KiB),
      'Names and values of the callback headers of one timer together; beyond it 400. Many receivers refuse more than 8 KiB.',
    ),
    tagCountMax: option(16, whole(0, 1_000), 'Tags of one timer; beyond it 400.'),
    tagBytesMax: option(128, bytes(1, 4 * KiB), 'Longest tag in UTF-8; beyond it 400.'),
    pageItemCountMax: option(
      1_000,
      whole(1, 100_000),
      'Items a client may ask for in one page. Higher: one page holds up pops longer.',
    ),
    pendingTimerCountMax: option(
      10_000_000,
      whole(1, 1_000_000_000),
      'Records held by this member; beyond it sets get 429. Plan about 220 bytes each plus their opaque.',
    ),
    deadLetterCountMax: option(
      100_000,
      whole(1, 100_000_000),
      'Dead letters held by this member; beyond it namespaces with more than their equal part make no more (their failing pops stay due), and their sets of recurring timers get 429 until some are read and removed. No pop is dropped for it.',
    ),
    connectionCountMax: option(
      10_000,
      whole(1, 1_000_000),
      'Open client connections; more are closed at once. Lower: clients are turned away. Higher: sockets and memory (the limit of open files must allow it).',
    ),
    requestsInFlightMax: option(
      4_096,
      whole(1, 1_000_000),
      'Requests being worked on; beyond it 503 with Retry-After. Higher: longer waits before clients learn that the member is busy.',
    ),
    bufferedBytesMax: option(
      256 * MiB,
      bytes(1 * MiB, 64 * 1024 * MiB),
      'Bytes of request bodies being read, over all connections; beyond it 503 with Retry-After. One address gets three quarters of it, requests that have not shown a token half. Lower: many large batches at once are turned away. Higher: memory.',
    ),
    answerBytesMax: option(
      128 * MiB,
      bytes(4 * MiB, 64 * 1024 * MiB),
      'Bytes of answers that clients have not read yet, over all connections. Beyond it clients that do not read are cut, and more lists are 503 with Retry-After. Lower: fewer lists at once (2 MiB each). Higher: memory.',
    ),
    requestHeaderBytesMax: option(
      16 * KiB,
      bytes(1 * KiB, 1 * MiB),
      'Request line and headers; beyond it 431.',
    ),
    requestHeaderCountMax: option(100, whole(10, 2_000), 'Headers of a request; beyond it 431.'),
    headersTimeoutMs: option(
      10 * second,
      ms(50, hour),
      'Time for a client to send its headers before it is cut. Lower: slow networks suffer. Higher: slow attackers hold sockets longer.',
    ),
    requestTimeoutMs: option(
      30 * second,
      ms(50, hour),
      'Time for a client to send a whole request before it is cut. Must not be below headersTimeoutMs.',
    ),
    idleTimeoutMs: option(
      75 * second,
      ms(50, day),
      'How long an idle connection is kept open. Should exceed the idle time of a load balancer in front, else it meets closed connections.',
    ),
    ratePerSecond: option<number | null>(
      null,
      optional(whole(1, 10_000_000)),
      'Requests a second of one token, each timer of a batch counted as one; beyond it 429 with Retry-After. Without authentication: of one address (IPv6: of one /64 network). Each member counts for itself. Lower: busy clients are slowed down. Not set: no limit for a single client.',
    ),
    rateBurst: option<number | null>(
      null,
      optional(whole(1, 100_000_000)),
      'Requests that may come at once after a quiet time, with limits.ratePerSecond. A batch may be larger; then as much longer nothing else is let in. Not set: as many as in one second.',
    ),
    popQueueLengthMax: option(
      50_000,
      whole(1, 10_000_000),
      'Due pops that wait in memory for a callback slot; the rest wait in the wheel. Lower: bursts drain less smoothly. Higher: memory.',
    ),
    peerQueueLengthMax: option(
      100_000,
      whole(1, 10_000_000),
      'Messages that wait for one peer; beyond it they are left to repair. Lower: more repair after a short outage. Higher: memory.',
    ),
  },
  namespaces: option<Quotas>(
    {},
    quotasKind,
    'Quotas by the name of a namespace, and under "*" for all that are not named: timerCountMax, bytesMax, letterCountMax, ratePerSecond, callbackShare. Each member counts for itself; over its quota a namespace is refused with 429, and no other is. With strict: true a timer with members that no timer has is refused with 400, instead of the header Carillon-Warning. With keepAnswers: false no bytes of the answers of failing receivers are kept. As JSON in flags and environment. Read again on SIGHUP and when the configuration file changes. Not set: 80 % of limits.pendingTimerCountMax, 2 GiB of bytes of clients, half of limits.deadLetterCountMax, no rate, share 1, not strict, answers are kept.',
  ),
  history: {
    attemptCountMax: option(
      16,
      whole(0, 1_000),
      'Newest callback attempts this member remembers of one timer, for GET /timers/ID/attempts and the dashboard; in memory, gone with a restart. 0: none. Higher: memory.',
    ),
    timerCountMax: option(
      10_000,
      whole(1, 10_000_000),
      'Timers whose attempts this member remembers: the most recently tried ones. Higher: memory, about 100 bytes an attempt.',
    ),
  },
  callbacks: {
    timeoutMs: option(
      10 * second,
      ms(10, hour),
      'Time limit of a callback attempt unless the timer says otherwise. Lower: slow receivers get retries. Higher: dead receivers hold slots longer.',
    ),
    timeoutMsMax: option(
      2 * minute,
      ms(10, hour),
      'The longest time limit a timer may ask for; beyond it 400.',
    ),
    inFlightMax: option(
      512,
      whole(1, 100_000),
      'Callbacks under way at once. Lower: bursts pop later. Higher: sockets and memory.',
    ),
    inFlightPerDestinationMax: option(
      128,
      whole(1, 100_000),
      'Callbacks under way to one origin. Lower: bursts to one receiver pop later. Higher: one slow receiver can take most slots.',
    ),
    batchCountMax: option(
      500,
      whole(1, 10_000),
      'Pops in one request, of timers that allow it (callback.http.batch). Lower: more requests. Higher: more pops come again when the receiver fails once.',
    ),
    allow: option<readonly string[]>(
      [],
      list(allowRule),
      'Address ranges, with a port if only that one is meant, that callbacks may reach although they are not public. Loopback is allowed by itself while the member listens on loopback. Wider: clients can make the member call into your network.',
    ),
    signingSecrets: {
      ...option<readonly string[]>(
        [],
        list(
          text(
            /^(?:[a-z0-9][a-z0-9._-]{0,63}=)?whsec_[A-Za-z0-9+/]{32,88}={0,2}$/,
            'whsec_ and 24 to 64 bytes in base64, or NAMESPACE= and that',
          ),
        ),
        'Secrets that sign callbacks (Standard Webhooks); with two, both sign, so that receivers can change over. With a namespace and = in front, for its callbacks alone, instead of the others. Not set: unsigned.',
      ),
      secret: true,
    },
  },
  retry: {
    limitMs: option(
      day,
      ms(0, 30 * day),
      'How long after its first attempt a failed pop is retried before it becomes a dead letter. Lower: outages of receivers leave more dead letters. Higher: receivers get older pops.',
    ),
    baseMs: option(
      second,
      ms(1, day),
      'Longest wait before the first retry; doubles with each. Lower: failing receivers are called more often.',
    ),
    waitMsMax: option(
      5 * minute,
      ms(1, day),
      'Longest wait between two attempts. Lower: more calls to dead receivers. Higher: later delivery once they are back.',
    ),
    attemptCountMax: option<number | null>(
      null,
      optional(whole(1, 1_000_000)),
      'Attempts in all. Not set: as many as fit the limit.',
    ),
  },
  shutdown: {
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
  },
  cluster: {
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
      'Where this member stands, such as region=eu,zone=a. Replicas spread over distinct values.',
    ),
    weight: option(1, whole(0, 1_000), 'Share of timers relative to other members; 0 holds none.'),
  },
  etcd: {
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
  },
  locks: {
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
  },
  auth: {
    tokens: option(
      null,
      optional(path),
      'File with the tokens that let clients in, as carillon token create writes it, and the key that the numbers of timers follow from; the same for all members. Read again when it changes and on SIGHUP. Not set: tokens.json in the data folder; without it and on loopback no client needs a token.',
    ),
    openMetrics: option(
      false,
      yesNo,
      'Whether GET /metrics is open without a token although other routes need one. It tells how much happens, but names no timer and no receiver. Otherwise Prometheus needs a token with the scope read.',
    ),
    insecureNoAuth: option(
      false,
      yesNo,
      'Start although listeners beyond loopback have no authentication: the API without tokens, the peer port without a secret or TLS. For networks that keep strangers out.',
    ),
  },
  access: {
    origins: option<readonly string[]>(
      [],
      list(text(/^https?:\/\/[a-z0-9.:[\]-]+$/, 'an origin such as https://app.example')),
      'Origins of web pages that may use the API from a browser, with CORS answers. Pages of all other origins are refused, with tokens or without. Wider: scripts of these pages have the permissions of their token, and without authentication all permissions.',
    ),
    hosts: option<readonly string[]>(
      [],
      list(text(/^[A-Za-z0-9.-]{1,253}$/, 'a host name')),
      'Names under which clients reach this member where no tokens are asked for, beside its addresses and names without a dot; under others it is 403. Any name would let a web page whose name points here (DNS rebinding) read all timers.',
    ),
  },
  advertise: {
    api: option(
      null,
      optional(address),
      'Address of the API that others are told, in etcd and in GET /cluster, where it differs from listen (0.0.0.0, containers, a proxy in front). Not set: listen, or the first outer address of this machine when listen is every address. A members file says it by itself.',
    ),
    peer: option(
      null,
      optional(address),
      'Address under which other members reach this one, where it differs from cluster.peerListen. Not set: cluster.peerListen, or the first outer address of this machine when that is every address. A members file says it by itself.',
    ),
  },
} as const;

type ValuesOf<T> = {
  readonly [K in keyof T]: T[K] extends Option<infer V> ? V : ValuesOf<T[K]>;
};

export type Config = ValuesOf<typeof options>;
export type Limits = Config['limits'];

export interface OptionEntry {
  readonly key: string;
  readonly spec: Option<unknown>;
}

/** Every option with its dotted name, in the order of the table. */
export function eachOption(): OptionEntry[] {
  const found: OptionEntry[] = [];
  const walk = (group: object, prefix: string): void => {
    for (const [name, entry] of Object.entries(group)) {
      if ('kind' in entry) found.push({ key: prefix + name, spec: entry as Option<unknown> });
      else walk(entry as object, `${prefix}${name}.`);
    }
  };
  walk(options, '');
  return found;
}

/** A configuration from dotted names; options that are not named have their default. */
export function configOf(values: ReadonlyMap<string, unknown> = new Map()): Config {
  const config: Record<string, unknown> = {};
  for (const { key, spec } of eachOption()) {
    const groups = key.split('.');
    const name = groups.pop() as string;
    let into = config;
    for (const group of groups) into = (into[group] ??= {}) as Record<string, unknown>;
    into[name] = values.has(key) ? values.get(key) : spec.value;
  }
  return config as unknown as Config;
}

export const defaultConfig: Config = configOf();
