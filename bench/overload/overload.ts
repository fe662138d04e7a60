/**
 * One member is asked for five times its capacity, for a minute, while it pops: how it answers, how late the pops
 * are, and how much memory it takes, second by second, before, during and after. On two cores, clients and receiver
 * share one, and the clients have the lowest priority there: the member has the other for itself, and the first when
 * it needs it.
 */
import { execFileSync } from 'node:child_process';
import { availableParallelism, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Arrivals } from '../load/arrivals.ts';
import { payloadOf } from '../load/setter.ts';
import type { Chart, Column, Row, Section, Series } from '../page/section.ts';
import { rssBytes } from '../support/process-tree.ts';
import { Remote } from '../support/remote.ts';
import { withScratch } from '../support/scratch.ts';
import { ServerProcess } from '../support/server-process.ts';
import { type Context, rowOf } from '../workloads/workload.ts';
import type { Offer, Second } from './crowd.ts';
import { boundOf, ownLateness } from './own-lateness.ts';

const popsPerSecond = 200;
const times = 5;
const connections = 1000;
const lengths = {
  full: { capacitySeconds: 8, beforeMs: 15_000, duringMs: 60_000, afterMs: 20_000 },
  quick: { capacitySeconds: 2, beforeMs: 3000, duringMs: 10_000, afterMs: 5000 },
};

type Phase = 'before' | 'during' | 'after';

/** How late the callbacks of a phase began, by the clock of the member. */
type Own = Partial<
  Record<Phase, { readonly ownP50Ms: number | null; readonly ownP99Ms: number | null }>
>;

interface Measured {
  readonly moments: readonly Moment[];
  readonly own: Own;
}

interface Moment extends Second {
  readonly phase: Phase;
  readonly second: number;
  readonly latenessMs: Arrivals['latenessMs'];
  readonly rssBytes: number;
}

const columns: readonly Column[] = [
  { key: 'offered', title: 'offered', unit: 'perSecond', better: 'neither' },
  { key: 'taken', title: '200', unit: 'perSecond', better: 'more' },
  { key: 'refused', title: '429 and 503', unit: 'perSecond', better: 'neither' },
  { key: 'waitMs', title: 'answered within, p99', unit: 'ms', better: 'less' },
  { key: 'ownP50Ms', title: 'callbacks begun within, p50', unit: 'ms', better: 'less' },
  { key: 'ownP99Ms', title: 'p99', unit: 'ms', better: 'less' },
  { key: 'p50Ms', title: 'arrived late by, p50', unit: 'ms', better: 'less' },
  { key: 'p99Ms', title: 'p99', unit: 'ms', better: 'less' },
  { key: 'rssBytes', title: 'memory, most', unit: 'bytes', better: 'less' },
];

export async function overload(context: Context): Promise<readonly Section[]> {
  const { moments, own } = await withScratch((folder) => measure(context, folder));
  const phases = ['before', 'during', 'after'] as const;
  const rows = phases.map((phase) => rowFor(phase, moments, own));
  return [sectionOf(rows, moments)];
}

async function measure({ sizes, tell }: Context, folder: string): Promise<Measured> {
  const { capacitySeconds, beforeMs, duringMs, afterMs } = sizes.isQuick
    ? lengths.quick
    : lengths.full;
  const flags = ['--listen', '127.0.0.1:0', '--data', join(folder, 'data')];
  const member = await ServerProcess.member(flags);
  const receiver = new Remote(join(import.meta.dirname, '../load/receiver.ts'));
  const crowd = new Remote(join(import.meta.dirname, 'crowd.ts'));
  try {
    const uri = await receiver.call<string>('uri');
    pin([receiver.pid, crowd.pid]);
    await startPops(member.url, uri);
    const body = JSON.stringify(timer(3600, uri, popsPerSecond));
    const offer = { url: member.url.href, body, connections };
    const capacity = await capacityOf(crowd, { ...offer, connections: 256 }, capacitySeconds);
    tell(
      `${Math.round(capacity)} sets a second with 256 connections; now ${times} times as many …`,
    );
    // It shares its core with the receiver, which would seem late else.
    setPriority(crowd.pid, 19);
    const watch = new Watch(member, receiver, crowd);
    await watch.run('before', beforeMs);
    await crowd.call('start', {
      ...offer,
      perSecond: Math.round(capacity * times),
    } satisfies Offer);
    await watch.run('during', duringMs);
    await crowd.call('stop');
    await watch.run('after', afterMs);
    return watch;
  } finally {
    await Promise.all([receiver.end(), crowd.end()]);
    await member.end('SIGKILL');
  }
}

/** Pins all other processes to one core; in real use they would be on machines of their own. */
function pin(others: readonly number[]): void {
  if (process.platform !== 'linux' || availableParallelism() < 2) return;
  for (const pid of others) execFileSync('taskset', ['-a', '-c', '-p', '1', String(pid)]);
}

function timer(seconds: number, uri: string, index: number): object {
  return { timing: { interval: seconds }, callback: { http: { uri, opaque: payloadOf(index) } } };
}

/** Timers that pop each second, spread over it. */
async function startPops(url: URL, uri: string): Promise<void> {
  for (let i = 0; i < popsPerSecond; i++) {
    const { callback } = timer(1, uri, i) as { callback: object };
    const body = JSON.stringify({ timing: { interval: 1, forever: true }, callback });
    const answer = await fetch(new URL('/timers', url), { method: 'POST', body });
    if (!answer.ok) throw new Error(`A timer was answered with ${answer.status}.`);
    await sleep(1000 / popsPerSecond - 1);
  }
}

/** The best of some seconds: one in which the machine did something else would make five times too little. */
async function capacityOf(
  crowd: Remote,
  offer: Omit<Offer, 'perSecond'>,
  seconds: number,
): Promise<number> {
  await crowd.call('start', { ...offer, perSecond: 0 });
  const rates: number[] = [];
  for (let i = 0; i <= seconds; i++) {
    const startMs = performance.now();
    await sleep(1000);
    const { byStatus } = await crowd.call<Second>('take');
    rates.push(((byStatus['200'] ?? 0) * 1000) / (performance.now() - startMs));
  }
  await crowd.call('stop');
  await sleep(1000);
  return Math.max(...rates);
}

const nothing: Second = { offered: 0, sent: 0, byStatus: {}, waitP50Ms: null, waitP99Ms: null };

class Watch implements Measured {
  readonly moments: Moment[] = [];
  readonly own: Own = {};
  private readonly member: ServerProcess;
  private readonly receiver: Remote;
  private readonly crowd: Remote;

  constructor(member: ServerProcess, receiver: Remote, crowd: Remote) {
    this.member = member;
    this.receiver = receiver;
    this.crowd = crowd;
  }

  async run(phase: Phase, ms: number): Promise<void> {
    const { receiver, crowd, member } = this;
    const before = await ownLateness(member.url);
    const endMs = performance.now() + ms;
    await receiver.call('expect', { timerCount: popsPerSecond + 1 });
    await crowd.call('take');
    for (let atMs = performance.now() + 1000; atMs <= endMs + 1; atMs += 1000) {
      await sleep(atMs - performance.now());
      const { latenessMs } = await receiver.call<Arrivals>('arrivals');
      await receiver.call('expect', { timerCount: popsPerSecond + 1 });
      const second = (await crowd.call<Second | undefined>('take')) ?? nothing;
      const about = { phase, second: this.moments.length + 1, rssBytes: rssBytes([member.pid]) };
      this.moments.push({ ...second, ...about, latenessMs });
    }
    const after = await ownLateness(member.url);
    const bound = (share: number): number | null => boundOf(before, after, share);
    this.own[phase] = { ownP50Ms: bound(0.5), ownP99Ms: bound(0.99) };
  }
}

function count({ byStatus }: Second, ...statuses: readonly string[]): number {
  return statuses.reduce((sum, status) => sum + (byStatus[status] ?? 0), 0);
}

/** Of the seconds of a phase: rates as a mean, the rest as the middle one. */
function rowFor(phase: Phase, moments: readonly Moment[], ownOf: Own): Row {
  const own = moments.filter((moment) => moment.phase === phase);
  const mean = (of: (moment: Moment) => number): number =>
    own.reduce((sum, moment) => sum + of(moment), 0) / own.length;
  const middle = (of: (moment: Moment) => number | null): number | null => {
    const sorted = own.flatMap((one) => of(one) ?? []).toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? null;
  };
  const values = {
    offered: mean(({ offered }) => offered),
    taken: mean((moment) => count(moment, '200')),
    refused: mean((moment) => count(moment, '429', '503')),
    waitMs: middle(({ waitP99Ms }) => waitP99Ms),
    ...ownOf[phase],
    p50Ms: middle(({ latenessMs }) => latenessMs.p50),
    p99Ms: middle(({ latenessMs }) => latenessMs.p99),
    rssBytes: Math.max(...own.map((moment) => moment.rssBytes)),
  };
  const label = { before: 'before', during: `${times} × capacity`, after: 'after' }[phase];
  return rowOf({ name: phase, label, kind: 'ours' }, columns, values, undefined);
}

function sectionOf(rows: readonly Row[], moments: readonly Moment[]): Section {
  return {
    id: 'overload',
    title: 'Overload · five times what a member can do',
    what: `One member that pops ${popsPerSecond} timers a second gets ${times} times as many sets as it can take, over ${connections} connections, whether they are answered or not. Figures of lateness and waiting are of the middle second.`,
    columns,
    rows,
    headline: null,
    charts: chartsOf(moments),
    notes: [
      'With two cores the member has one for itself; the clients, with the lowest priority, and the receiver share the other. Up to 8 sets are in flight on each connection: a request that is offered and not answered was never sent, as all connections were full.',
    ],
  };
}

function chartsOf(moments: readonly Moment[]): Chart[] {
  const series = (label: string, of: (moment: Moment) => number | null): Series => ({
    name: label,
    label,
    kind: 'ours',
    points: moments.flatMap((moment): [number, number][] => {
      const y = of(moment);
      return y === null ? [] : [[moment.second, y]];
    }),
  });
  const x = { title: 'seconds', scale: 'linear', unit: 'count' } as const;
  const lines = { kind: 'lines', x } as const;
  return [
    {
      ...lines,
      id: 'overload',
      title: 'Overload · offered and answered',
      y: { title: 'a second', scale: 'linear', unit: 'perSecond' },
      series: [
        series('offered', ({ offered }) => offered),
        series('200', (moment) => count(moment, '200')),
        series('503', (moment) => count(moment, '503')),
        series('429', (moment) => count(moment, '429')),
      ],
    },
    {
      ...lines,
      id: 'overload-lateness',
      title: 'Overload · lateness of pops',
      y: { title: 'late by at most', scale: 'log', unit: 'ms' },
      series: [
        series('half of the pops', ({ latenessMs }) => latenessMs.p50),
        series('99 % of the pops', ({ latenessMs }) => latenessMs.p99),
      ],
    },
    {
      ...lines,
      id: 'overload-memory',
      title: 'Overload · memory of the member',
      y: { title: 'resident memory', scale: 'linear', unit: 'bytes' },
      series: [series('resident memory', (moment) => moment.rssBytes)],
    },
  ];
}
