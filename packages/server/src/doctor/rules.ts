/**
 * Rules that find faults of a cluster, and give advice on each. Pure: facts in, findings out. A rule speaks of one
 * thing; where several members share it, each has a finding of its own.
 */
import { failingMs, failureCountMin, nearlyFullBytes } from '../metrics/thresholds.ts';
import type { MemberFacts } from './facts.ts';
import { awayFrom, backupsTold, isLate, isOwnLateness, lateMsOf } from './lateness.ts';

/** wrong: it is, or promises are at risk. look: it will be, or callbacks suffer. note: worth knowing. */
export type Weight = 'wrong' | 'look' | 'note';

export interface Finding {
  /** Stable, for programs. */
  readonly id: string;
  readonly weight: Weight;
  /** null: the whole cluster. */
  readonly member: string | null;
  readonly says: string;
  readonly do: string;
  /** Origin of the receiver that it is about. */
  readonly receiver?: string;
}

export interface ClusterFacts {
  readonly members: readonly MemberFacts[];
  /** Members of the view that told nothing. */
  readonly missing: readonly string[];
  /** A sentence for each member that holds more than its weight asks for. */
  readonly hot: readonly string[];
  /** A sentence for each label whose name looks misspelt. */
  readonly slips: readonly string[];
  /** Replicas of a timer whose client names no factor. */
  readonly factor: number;
}

export function examine(cluster: ClusterFacts): Finding[] {
  const found = [
    ...cluster.missing.map(silent),
    ...views(cluster),
    ...releases(cluster),
    ...copies(cluster),
    ...spread(cluster),
    ...cluster.members.flatMap((member) =>
      memberRules.flatMap((rule) => rule(without(member, cluster.missing))),
    ),
    ...backups(cluster),
    ...destinations(cluster),
    ...letters(cluster),
  ];
  return found.toSorted((a, b) => weights.indexOf(a.weight) - weights.indexOf(b.weight));
}

const weights: readonly Weight[] = ['wrong', 'look', 'note'];
const nearRatio = 0.8;
const clockWrongMs = 1000;
const clockLookMs = 200;
const fsyncWrongMs = 1000;
const fsyncLookMs = 100;
const lagLookMs = 200;
const queuedLook = 1000;
const heapRatio = 0.85;
const toldMax = 20;

/** A member that answers none is a finding already: that others do not hear it says no more. */
function without(member: MemberFacts, missing: readonly string[]): MemberFacts {
  const silentLately = awayFrom(member);
  const unheard = member.silent.filter((name) => !missing.includes(name));
  return { ...member, silent: unheard, silentLately };
}

type MemberRule = (member: MemberFacts) => Finding[];

function silent(name: string): Finding {
  return {
    id: 'member-silent',
    weight: 'wrong',
    member: name,
    says: `${name} is in the view and does not answer.`,
    do: 'See whether its process runs and whether its peer port can be reached. If it is gone for good, remove it from the view: its timers then get new replicas.',
  };
}

function views({ members }: ClusterFacts): Finding[] {
  const ids = [...new Set(members.map(({ viewId }) => viewId))];
  if (ids.length < 2) return [];
  const sides = ids.map((id) =>
    members
      .filter(({ viewId }) => viewId === id)
      .map(({ name }) => name)
      .join(', '),
  );
  return [
    {
      id: 'views-differ',
      weight: 'wrong',
      member: null,
      says: `Members go by ${ids.length} different views: ${sides.join(' | ')}.`,
      do: 'Give all members the same members file, or see whether each reaches etcd. It passes by itself while a change is under way.',
    },
  ];
}

function releases({ members }: ClusterFacts): Finding[] {
  const all = [...new Set(members.map(({ release }) => release))].filter(Boolean).toSorted();
  if (all.length < 2) return [];
  return [
    {
      id: 'releases-differ',
      weight: 'note',
      member: null,
      says: `Members are of ${all.length} releases: ${all.join(', ')}.`,
      do: 'Finish the upgrade: new features come into force when all members are of one release.',
    },
  ];
}

function copies({ members }: ClusterFacts): Finding[] {
  const lacking = members.filter(({ underReplicated }) => underReplicated > 0);
  if (lacking.length === 0) return [];
  const moving = members.some(({ resyncing }) => resyncing);
  const most = Math.max(...lacking.map(({ underReplicated }) => underReplicated));
  return [
    {
      id: 'copies-missing',
      weight: moving ? 'look' : 'wrong',
      member: null,
      says:
        most === 1
          ? 'A timer, which may have ended, is not known to be with all its members.'
          : `${most} timers or more, ended ones among them, are not known to be with all their members.`,
      do: moving
        ? 'A resync is under way; look again when it is over.'
        : 'Bring silent members back or remove them from the view, then carillon cluster resync. Lose no further member meanwhile.',
    },
  ];
}

function spread({ members, missing, hot, slips, factor }: ClusterFacts): Finding[] {
  const count = members.length + missing.length;
  const tooFew: Finding[] =
    count >= factor
      ? []
      : [
          {
            id: 'too-few-members',
            weight: 'note',
            member: null,
            says: `Timers want ${factor} copies, and there ${count === 1 ? 'is 1 member' : `are ${count} members`}.`,
            do: `Add members, or set defaultFactor to ${count}.${count === 1 ? ' With one copy, a lost disk is a lost timer.' : ''}`,
          },
        ];
  return [
    ...tooFew,
    ...hot.map(
      (says): Finding => ({
        id: 'hot-member',
        weight: 'note',
        member: null,
        says,
        do: 'Even out the domains or the weights: carillon plan shows the effect of a change.',
      }),
    ),
    ...slips.map(
      (says): Finding => ({
        id: 'label-slip',
        weight: 'note',
        member: null,
        says,
        do: 'Correct the name in the members file or in the labels of that member. carillon plan shows what would move.',
      }),
    ),
  ];
}

const readiness: MemberRule = ({ name, unready }) =>
  unready === null
    ? []
    : [
        {
          id: 'member-not-ready',
          weight: 'wrong',
          member: name,
          says: `${name} takes no requests: ${unready}`,
          do: 'A member that starts or leaves gets over it; a full disk needs room.',
        },
      ];

const hearing: MemberRule = ({ name, silent: unheard }) =>
  unheard.length === 0
    ? []
    : [
        {
          id: 'peer-not-heard',
          weight: 'wrong',
          member: name,
          says: `${name} does not hear ${unheard.join(', ')}.`,
          do: 'See whether the peer ports are open in both directions, and whether the members have the same cluster secret or certificates.',
        },
      ];

const clock: MemberRule = ({ name, clockOffsetMs }) => {
  const offMs = Math.abs(clockOffsetMs ?? 0);
  if (offMs < clockLookMs) return [];
  return [
    {
      id: 'clock-off',
      weight: offMs >= clockWrongMs ? 'wrong' : 'look',
      member: name,
      says: `The clock of ${name} is off by ${Math.round(offMs)} ms.`,
      do: 'Let NTP or chrony run there. Intervals do not depend on it; instants, cron and the order of changes in a net-split do.',
    },
  ];
};

const disk: MemberRule = (member) => {
  const { name, durable, diskRoom, diskFull, diskState, fsyncP99Ms } = member;
  const found: Finding[] = [];
  const add = (finding: Omit<Finding, 'member'>): void =>
    void found.push({ ...finding, member: name });
  if (!durable)
    add({
      id: 'memory-only',
      weight: 'note',
      says: `${name} keeps nothing on disk (durability: memory).`,
      do: 'Fine for tests; elsewhere set durability: disk, or a restart of all members loses every timer.',
    });
  if (diskFull)
    add({
      id: 'disk-full',
      weight: 'wrong',
      says: `The disk of ${name} is full: new timers are refused there.`,
      do: 'Make room on the disk that holds its data folder; it goes on by itself.',
    });
  else if (diskRoom !== null && diskRoom.freeBytes < nearlyFullBytes(diskRoom))
    add({
      id: 'disk-nearly-full',
      weight: 'look',
      says: `The disk of ${name} has ${sizeText(diskRoom.freeBytes)} of ${sizeText(diskRoom.totalBytes)} free.`,
      do: 'Make room, or move its data folder to a larger disk. A full disk refuses new timers; pops and cancels go on.',
    });
  if (diskState === 'mending' || diskState === 'lost')
    add({
      id: 'disk-damaged',
      weight: diskState === 'lost' ? 'wrong' : 'look',
      says:
        diskState === 'lost'
          ? `Damage on the disk of ${name} took records, and there was no other member to fetch them from.`
          : `Damage on the disk of ${name} is being mended from the other members.`,
      do: 'Replace the disk: drain the member, give it a new one, start it again.',
    });
  if (fsyncP99Ms !== null && fsyncP99Ms >= fsyncLookMs)
    add({
      id: 'disk-slow',
      weight: fsyncP99Ms >= fsyncWrongMs ? 'wrong' : 'look',
      says: `One sync in a hundred takes ${Math.round(fsyncP99Ms)} ms at ${name}.`,
      do: 'Every set waits for a sync. Give the data folder a faster disk, or one that it does not share.',
    });
  return found;
};

const speed: MemberRule = (member) => {
  const { name, callbacksQueued } = member;
  const lagMs = member.lagP99Ms ?? 0;
  const found: Finding[] = [];
  const late: string[] = [];
  if (lagMs >= lagLookMs) late.push(`its event loop by ${msText(lagMs)}`);
  if (isLate(member) && isOwnLateness(member))
    late.push(`callbacks by ${msText(lateMsOf(member))}`);
  if (late.length > 0)
    found.push({
      id: 'member-slow',
      weight: 'look',
      member: name,
      says: `${name} is late: ${late.join(', ')} (99th percentile).`,
      do: 'Give it more CPU, or add members: a resync spreads the timers.',
    });
  if (callbacksQueued >= queuedLook)
    found.push({
      id: 'callbacks-queue',
      weight: 'look',
      member: name,
      says: `${callbacksQueued} callbacks wait for a place at ${name}.`,
      do: 'Where receivers are well, raise callbacks.inFlightMax and callbacks.inFlightPerDestinationMax, or let receivers take batches.',
    });
  return found;
};

/** One finding for all members that make late callbacks in place of others. */
function backups({ members }: ClusterFacts): Finding[] {
  const told = backupsTold(members);
  return told === null ? [] : [{ id: 'backups-pop', weight: 'note', member: null, ...told }];
}

/** Limits of a member: how much of each is used, and the option to raise. */
const limits: MemberRule = (member) => {
  const { name, openFiles, heapBytes, connections, timers, letters: dead, boxes } = member;
  const near = (share: { now: number; max: number } | null, ratio = nearRatio): boolean =>
    share !== null && share.max > 0 && share.now >= share.max * ratio;
  const found: Finding[] = [];
  const add = (id: string, says: string, advice: string): void =>
    void found.push({ id, weight: 'look', member: name, says, do: advice });
  if (near(openFiles))
    add(
      'files-near-limit',
      `${name} has ${openFiles?.now} of ${openFiles?.max} files and sockets open.`,
      'Raise RLIMIT_NOFILE (ulimit -n, LimitNOFILE=), or lower limits.connectionCountMax.',
    );
  if (near(connections))
    add(
      'connections-near-limit',
      `${name} has ${connections.now} of ${connections.max} client connections.`,
      'Let clients keep connections and share them; else raise limits.connectionCountMax.',
    );
  if (near(heapBytes, heapRatio))
    add(
      'heap-near-limit',
      `${name} uses ${sizeText(heapBytes?.now ?? 0)} of ${sizeText(heapBytes?.max ?? 0)} of JavaScript heap.`,
      'Raise --max-old-space-size, or lower the limits on requests and callbacks in flight.',
    );
  if (near(timers))
    add(
      'timers-near-limit',
      `${name} holds ${timers.now} of ${timers.max} records.`,
      'Add members, or raise limits.pendingTimerCountMax where memory allows it. Recurring timers without an end are the usual reason.',
    );
  if (near(dead))
    add(
      'letters-near-limit',
      `${name} holds ${dead.now} of ${dead.max} dead letters.`,
      'Redeliver or discard them: carillon dead-letters list.',
    );
  for (const { namespace, now, max } of boxes.filter((box) => near(box)).slice(0, toldMax))
    add(
      'letter-box-nearly-full',
      `The namespace ${namespace} has ${now} of ${max} dead letters at ${name}.`,
      'Redeliver or discard letters. When the box is full, failing pops stay due and new recurring timers are refused.',
    );
  return found;
};

const strangers: MemberRule = ({ name, peersRefused, eventsGivenUp }) => {
  const found: Finding[] = [];
  if (peersRefused > 0)
    found.push({
      id: 'peers-refused',
      weight: 'look',
      member: name,
      says: `${name} has refused ${peersRefused} connections of members, or was refused, since it started.`,
      do: 'carillon_peers_refused_total names the reason: a wrong secret, certificate, name or protocol.',
    });
  if (eventsGivenUp > 0)
    found.push({
      id: 'events-given-up',
      weight: 'look',
      member: name,
      says: `${eventsGivenUp} events of ${name} reached no receiver within their time.`,
      do: 'See whether the receivers in namespaces.*.events and in on-failure answer with 2xx.',
    });
  return found;
};

const memberRules: readonly MemberRule[] = [
  readiness,
  hearing,
  clock,
  disk,
  speed,
  limits,
  strangers,
];

/** One finding for a receiver, however many members it fails. */
function destinations({ members }: ClusterFacts): Finding[] {
  const all = members.flatMap(({ name, failing }) => failing.map((one) => ({ ...one, name })));
  const groups = Object.values(
    Object.groupBy(all, ({ namespace, receiver }) => `${namespace} ${receiver}`),
  );
  const found = groups.flatMap((group = []): Finding[] => {
    const count = group.reduce((sum, one) => sum + one.count, 0);
    const forMs = Math.max(...group.map((one) => one.forMs));
    const [first] = group;
    if (first === undefined || count < failureCountMin || forMs < failingMs) return [];
    return [
      {
        id: 'destination-failing',
        weight: 'look',
        member: null,
        says: `Callbacks to ${first.receiver} (namespace ${first.namespace}) fail for ${durationText(forMs)}: ${first.failure}, ${count} in a row.`,
        do: adviceFor(first.failure),
        receiver: first.receiver,
      },
    ];
  });
  const more = found.length - toldMax;
  if (more <= 0) return found;
  const rest: Finding = {
    id: 'destination-failing',
    weight: 'look',
    member: null,
    says: `Callbacks to ${more} further receivers fail.`,
    do: 'The log of each member names them, one line a minute.',
  };
  return [...found.slice(0, toldMax), rest];
}

function adviceFor(failure: string): string {
  if (failure === 'forbidden')
    return 'The guard refuses this address: add its range to callbacks.allow if the receiver is yours.';
  if (failure === 'unresolvable') return 'Its name has no address here: see DNS, or the URL.';
  if (failure === 'tls') return 'Its certificate is not trusted here: see its chain and its date.';
  if (failure === 'refused') return 'Nothing listens there, or a firewall refuses: start it.';
  if (failure === 'timeout')
    return 'It does not answer in time: let it answer first and work later, or raise callback.http.timeout.';
  if (failure === '4xx' || failure === '3xx')
    return 'It does not want these requests: compare the URL, the method and the signature with its expectations.';
  return 'See the log of the receiver; carillon get ID shows its answers.';
}

/** Each letter is counted by the first of its replicas that answers. */
function letters({ members, missing }: ClusterFacts): Finding[] {
  const count = members.reduce((sum, { primaryLetters }) => sum + primaryLetters, 0);
  if (count === 0) return [];
  const isAll = missing.length === 0;
  return [
    {
      id: 'dead-letters',
      weight: 'look',
      member: null,
      says:
        count === 1 && isAll
          ? 'A pop was given up and waits as a dead letter.'
          : `${count} pops${isAll ? '' : ' or more'} were given up and wait as dead letters.`,
      do: 'carillon dead-letters list shows them; redeliver them when their receivers are well, or discard them.',
    },
  ];
}

function msText(ms: number): string {
  return `${Math.round(ms)} ms`;
}

function sizeText(bytes: number): string {
  const GiB = bytes / 1024 ** 3;
  return GiB >= 1 ? `${GiB.toFixed(1)} GiB` : `${Math.round(bytes / 1024 ** 2)} MiB`;
}

function durationText(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
