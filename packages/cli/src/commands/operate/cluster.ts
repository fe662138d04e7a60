/** `carillon cluster`: lists the members with their state, starts a resync, and drains a member. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Carillon, Cluster, ClusterMember, DiskDamage } from '@carillon/client';
import { labelSlips } from '@carillon/core';
import { labelLevels } from '@carillon/placement';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import {
  type ConnectFlags,
  connect,
  connectOptions,
  connectTo,
  connectUsage,
  serversOf,
} from '../../member/connect.ts';
import {
  type CallbackTrouble,
  callbackTrouble,
  troubleText,
} from '../../member/callback-trouble.ts';
import { memberNamed, memberUrl, shownAddress } from '../../member/cluster-member.ts';
import { worriesOf } from '../../member/worries.ts';
import { resync as resyncMembers } from '../../member/cluster-resync.ts';
import { duration, type OptionKinds, parseOptions, unknownAction } from '../../options.ts';
import { facts, jsonLine, oneLine, paint, table } from '../../terminal/style.ts';
import { arrayOf, getJson } from '../../timers/api-timer.ts';

const kinds = {
  ...connectOptions,
  'no-wait': 'flag',
  limit: 'text',
} as const satisfies OptionKinds;
const pollMs = 500;

export const command: Command = {
  name: 'cluster',
  summary: 'The cluster: status, members, draining a member, and resync.',
  usage: `Usage: carillon cluster status
       carillon cluster members
       carillon cluster drain NAME
       carillon cluster resync [NAME]

status   One look: members, findings, callbacks that fail, records on the move. Exit 1 when something is wrong with the
         cluster, also where only carillon doctor sees it; failing receivers are shown, but do not change the exit
         code.
members  Every member with its phase, timers and clock.
drain    Makes a member hand its timers on and leave; waits until it holds none.
resync   Makes every member, or the named one, check all its timers and move the ones that belong to other members;
         waits until that is done.

  --no-wait        drain, resync: do not wait
  --limit DURATION drain, resync: wait at most this long; default 10m
${connectUsage}`,
  examples: [
    'carillon cluster status',
    'carillon cluster drain n2 --limit 2m',
    'carillon cluster resync',
  ],
  run: (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    const [action, name, extra] = operands;
    const client = connect(flags, io);
    if (action === 'status' && name === undefined) return status(client, flags, io);
    if (action === 'members' && name === undefined) return members(client, flags, io);
    const limitMs = flags['no-wait'] ? 0 : duration('--limit', flags.limit ?? '10m');
    if (action === 'drain' && name !== undefined && extra === undefined) {
      return drain(client, { name, limitMs, flags }, io);
    }
    if (action === 'resync' && extra === undefined) {
      return resyncMembers(client, { name: name ?? null, limitMs, flags }, io);
    }
    throw wrongOperands(operands);
  },
};

/** The error about operands that no action takes. */
function wrongOperands([action, name, extra]: readonly string[]): UsageError {
  if (action === 'drain' && name === undefined) {
    return new UsageError('The name of the member is missing, as in carillon cluster drain n2.');
  }
  const more = action === 'drain' || action === 'resync' ? extra : name;
  const isKnown = ['status', 'members', 'drain', 'resync'].includes(action ?? '');
  if (isKnown) return new UsageError(`"${more}" is too much here.`);
  return unknownAction(action, ['status', 'members', 'drain NAME', 'resync [NAME]']);
}

type Flags = ConnectFlags & { readonly json: boolean };

async function status(client: Carillon, flags: Flags, io: Io): Promise<number> {
  const cluster = await client.cluster({ signal: io.signal });
  const [worries, trouble] = await Promise.all([
    worriesOf(cluster, client, flags, io),
    callbackTrouble(client, flags, io),
  ]);
  if (flags.json)
    jsonLine(io, {
      ...(await getJson(client, { path: '/cluster', needs: 'members' }, io)),
      worries,
      callbacks: trouble,
    });
  else io.out(statusText(cluster, { worries, trouble }, io));
  return worries.length === 0 ? exit.done : exit.failed;
}

/** Of the member that was asked. */
function damageText(damage: DiskDamage | null): string {
  if (damage === null) return 'no damage found';
  const { state, entriesLost, moreLost, timersLost, recordsFetched, stretches, foundAt } = damage;
  const lost = `${moreLost ? 'at least ' : ''}${entriesLost} entries lost`;
  const gone = timersLost === 0 ? '' : `, ${lostTimers(timersLost)}`;
  const since = foundAt === null ? '' : ` at ${foundAt.toISOString()}`;
  return `damaged in ${stretches} places, found${since}: ${lost}, ${recordsFetched} records fetched${gone}, ${state}`;
}

function lostTimers(count: number | null): string {
  return count === null ? 'timers without another copy are gone' : `up to ${count} timers are gone`;
}

interface Found {
  readonly worries: readonly string[];
  readonly trouble: CallbackTrouble;
}

function statusText(cluster: Cluster, { worries, trouble }: Found, io: Io): string {
  const { resync, members: all } = cluster;
  const failing = troubleText(trouble);
  const well =
    failing === null ? 'All is well.' : `The members are well; callbacks fail: ${failing}.`;
  const moved = `${resync.checked} of ${resync.total} checked, ${resync.moved} moved`;
  return [
    ...(worries.length === 0
      ? [paint(io, failing === null ? 'green' : 'yellow', well)]
      : worries.map((worry) => paint(io, 'red', oneLine(worry)))),
    ...[...cluster.hot, ...labelSlips(all, labelLevels)].map((says) => paint(io, 'yellow', says)),
    facts(io, [
      ['members', membersText(all) || '-'],
      ...all.filter(({ phase }) => phase === 'joining').map((member) => joining(member, cluster)),
      ['view', `${cluster.viewId} (revision ${cluster.revision}, from ${cluster.source})`],
      ['timers', timersText(all)],
      [
        'callbacks',
        failing ?? (Object.values(trouble).includes(null) ? 'not known' : 'none fails'),
      ],
      ['resync', resync.running ? `running: ${moved}` : 'idle'],
      ['to repair', repairText(cluster)],
      ['disk', damageText(cluster.damage)],
    ]),
  ].join('\n');
}

/** Members by phase; a member that does not answer has none that is known, unless it never was there. */
function membersText(all: readonly ClusterMember[]): string {
  const isSilent = (member: ClusterMember): boolean =>
    member.phase !== 'joining' && !isHeard(member);
  const namesOf = (some: readonly ClusterMember[]): string =>
    some.map(({ name }) => name).join(', ');
  const silent = all.filter(isSilent);
  const phases = Object.groupBy(
    all.filter((member) => !isSilent(member)),
    ({ phase }) => phase,
  );
  const known = Object.entries(phases).map(
    ([phase, some = []]) => `${some.length} ${phase}: ${namesOf(some)}`,
  );
  return [...known, ...(silent.length > 0 ? [`silent: ${namesOf(silent)}`] : [])].join('; ');
}

function isHeard({ reachable, self }: ClusterMember): boolean {
  return reachable || self;
}

/** Each timer counts once, at its first replica that answers: timers that only silent members hold are not known. */
function timersText(all: readonly ClusterMember[]): string {
  const known = all.reduce((sum, { primaries }) => sum + (primaries ?? 0), 0);
  const silent = silentNames(all);
  return silent === '' ? String(known) : `at least ${known}; no word from ${silent}`;
}

/** Every member knows of its own records alone. */
function repairText({ repair, members: all }: Cluster): string {
  const asked = all.find(({ self }) => self)?.name ?? 'the member that was asked';
  const own = `${repair.unconfirmedRecords} unconfirmed, ${repair.underReplicated} with too few copies`;
  if (all.length < 2) return own;
  const silent = silentNames(all);
  const others = silent === '' ? '' : `; not known of other members, and no word from ${silent}`;
  return `${own}, of records at ${asked}${others}`;
}

/** Members without figures; empty: there is none. */
function silentNames(all: readonly ClusterMember[]): string {
  const silent = all.filter(({ primaries }) => primaries === null);
  return silent.map(({ name }) => name).join(', ');
}

/** How far a member is that is not simply there. */
function joining({ name, reachable }: ClusterMember, { source }: Cluster): [string, string] {
  if (!reachable) return ['joining', `${name}: no answer yet`];
  const resyncs = source === 'static';
  return ['joining', `${name}: ${resyncs ? 'resync towards it is under way' : 'not ready yet'}`];
}

async function members(client: Carillon, flags: Flags, io: Io): Promise<number> {
  if (flags.json)
    for (const member of arrayOf(
      await getJson(client, { path: '/cluster', needs: 'members' }, io),
      'members',
    ))
      jsonLine(io, member);
  else {
    const { members: all } = await client.cluster({ signal: io.signal });
    io.out(memberTable(all, serversOf(flags, io), io));
  }
  return exit.done;
}

function memberTable(all: readonly ClusterMember[], servers: readonly string[], io: Io): string {
  const rows = all.map((member) => [
    member.self ? `${member.name} *` : member.name,
    shownAddress(member, servers),
    member.phase,
    member.reachable ? 'yes' : 'no',
    member.timers === null ? '-' : String(member.timers),
    member.primaries === null ? '-' : String(member.primaries),
    member.clockOffsetMs === null || !isHeard(member)
      ? '-'
      : `${Math.round(member.clockOffsetMs)}ms`,
    (isHeard(member) ? member.disk : null) ?? '-',
    String(member.weight),
    Object.entries(member.labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(',') || '-',
  ]);
  const titles = [
    'NAME',
    'ADDRESS',
    'PHASE',
    'ANSWERS',
    'TIMERS',
    'PRIMARY',
    'CLOCK',
    'DISK',
    'WEIGHT',
    'LABELS',
  ];
  return `${table(io, titles, rows)}\n${paint(io, 'dim', '* the member that was asked')}`;
}

interface DrainRequest {
  readonly name: string;
  /** 0: do not wait. */
  readonly limitMs: number;
  readonly flags: Flags;
}

async function drain(client: Carillon, request: DrainRequest, io: Io): Promise<number> {
  const { name, limitMs, flags } = request;
  const { members: all, source } = await client.cluster({ signal: io.signal });
  const member = memberNamed(all, name);
  const leaving = connectTo([memberUrl(member, serversOf(flags, io))], flags, io);
  await leaving.drain({ signal: io.signal });
  if (limitMs === 0) {
    if (flags.json) jsonLine(io, { name, drained: false });
    else io.out(`${name} is leaving.`);
    return exit.done;
  }
  const drained = await waitUntilEmpty(leaving, request, io);
  if (flags.json) jsonLine(io, { name, drained });
  else if (drained) io.out(`${name} holds no timers any more.`);
  else io.err(`${name} still holds timers after the time to wait; it goes on leaving.`);
  if (drained && source === 'static' && !flags.json) {
    io.err(`Now take ${name} out of the members file: until then the others wait for it.`);
  }
  return drained ? exit.done : exit.failed;
}

async function waitUntilEmpty(leaving: Carillon, request: DrainRequest, io: Io): Promise<boolean> {
  const endMs = Date.now() + request.limitMs;
  let shown: number | null = null;
  while (Date.now() < endMs) {
    io.signal.throwIfAborted();
    const left = await timersLeft(leaving, io.signal);
    if (left === 0) return true;
    if (left !== shown && !request.flags.json)
      io.err(left === 1 ? '1 timer left.' : `${left} timers left.`);
    shown = left;
    await sleep(pollMs);
  }
  return false;
}

/** A member that is gone holds none. */
async function timersLeft(leaving: Carillon, signal: AbortSignal): Promise<number> {
  try {
    const { members: all } = await leaving.cluster({ signal });
    return all.find(({ self }) => self)?.timers ?? 0;
  } catch (error) {
    if (error instanceof Error && error.name === 'UnreachableError') return 0;
    throw error;
  }
}
