/** The lock ring as a section: its figures beside their targets. */
import type { Row, Section } from '../page/section.ts';
import type { Context } from '../workloads/workload.ts';
import { run } from './ring.ts';

type Target = readonly [
  path: string,
  label: string,
  target: number | null,
  better: 'more' | 'less',
];

/** The figures by their path in the results, with their targets. */
const targets: readonly Target[] = [
  ['locks perCpuSecond', 'lock and unlock in owned slots, pairs a second of CPU', 200_000, 'more'],
  ['locks perSecond', 'the same a second of the clock', null, 'more'],
  ['start p50Ms', '1,000 locks from nothing, ms', 300, 'less'],
  ['nextHolder p50Ms', 'next holder in the same process, ms, p50', 1, 'less'],
  ['handOver durable p50Ms', 'durable hand-over to another process, ms, p50', 5, 'less'],
  ['handOver plain p50Ms', 'hand-over without a record of the key, ms, p50', 5, 'less'],
  ['handOver transaction p50Ms', 'one transaction of etcd, ms, p50', null, 'less'],
  ['handOver inTransactions', 'durable hand-over ÷ one transaction', null, 'less'],
  ['leave p99Ms', 'clean leave of one of three, ms, p99', 250, 'less'],
  ['crash tookMs', 'take-over after kill -9 with a lease of 5 s, ms, p50 of three', 6000, 'less'],
  ['crash afterLeaseMs', 'the same after etcd ended the lease, ms, at most', 250, 'less'],
  ['idle cpuPercent', 'idle with 1,000 waiting keys, % of a core', 1, 'less'],
  [
    'plainEtcd oneByOne perSecond',
    'a plain lock in etcd, one by one, pairs a second',
    null,
    'more',
  ],
  ['plainEtcd inFlight64 perSecond', 'the same, 64 in flight', null, 'more'],
];

export async function ring({ tell }: Context): Promise<readonly Section[]> {
  return [ringSection(await run(tell))];
}

export function ringSection(results: Readonly<Record<string, unknown>>): Section {
  return {
    id: 'ring',
    title: 'The lock ring',
    what: 'Locks in owned slots, hand-over and take-over on a real etcd, beside plain locks in etcd through the same client.',
    columns: [
      { key: 'value', title: 'measured', unit: 'count', better: 'neither' },
      { key: 'target', title: 'target', unit: 'count', better: 'neither' },
    ],
    rows: targets.flatMap((target) => rowOf(target, results)),
    headline: null,
    charts: [],
    notes: [
      'A hand-over is one transaction, which etcd syncs to its disk, and the watch that tells of it. A take-over waits for etcd to end the lease; on a machine where etcd gets little processor time that alone takes longer than the target.',
    ],
  };
}

function rowOf([path, label, target, better]: Target, results: unknown): Row[] {
  const value = path
    .split(' ')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], results);
  if (typeof value !== 'number') return [];
  const rounded = value >= 100 ? Math.round(value) : Math.round(value * 1000) / 1000;
  const met = target === null || (better === 'more' ? value >= target : value <= target);
  const note = target === null ? '' : met ? 'met' : 'not met';
  return [{ name: path, label, kind: 'ours', values: { value: rounded, target }, note }];
}
