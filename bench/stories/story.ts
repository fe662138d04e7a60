/**
 * The parts that all stories share: a member with room for many timers, used through `@carillon/client`, whose
 * callbacks go to `receiver` behind `node:http`; the figures; and lateness over time as a picture.
 */
import type { Arrivals } from '../load/arrivals.ts';
import type { Chart, Column, Series } from '../page/section.ts';
import { largeMember } from '../systems/carillon.ts';
import { withSetter } from '../systems/with-setter.ts';
import { countColumns, latenessColumns, latenessValues } from '../workloads/pops.ts';
import { type Session, withSession } from '../workloads/session.ts';

export const storyColumns: readonly Column[] = [
  { key: 'setsPerSecond', title: 'sets', unit: 'perSecond', better: 'more' },
  { key: 'popsPerSecond', title: 'pops', unit: 'perSecond', better: 'more' },
  ...latenessColumns,
  ...countColumns,
  { key: 'refused', title: 'sets refused', unit: 'count', better: 'less' },
  { key: 'cpuPercent', title: 'CPU of the member, of one core', unit: 'percent', better: 'less' },
  { key: 'memoryMiB', title: 'memory at most, MiB', unit: 'count', better: 'less' },
];

/** How long after its due time a pop counts as lost. */
export const graceMs = 60_000;
const lookMs = 500;

/** `batchCountMax`: the most pops in a request that the receiver says it takes; 1: each comes by itself. */
export function onLargeMember<T>(
  batchCountMax: number,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const system = withSetter(largeMember, { kind: 'carillon-client' });
  return withSession(system, use, { batchCountMax });
}

export interface Cost {
  readonly cpuPercent: number;
  readonly memoryMiB: number;
}

/** Runs the work, and watches the member meanwhile. */
export async function watched<T>(
  session: Session,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly cost: Cost }> {
  let mostBytes = session.rssBytes();
  const watching = setInterval(() => {
    mostBytes = Math.max(mostBytes, session.rssBytes());
  }, lookMs);
  const cpuMs = session.cpuMs();
  const startMs = performance.now();
  try {
    const result = await work();
    const cpuPercent = ((session.cpuMs() - cpuMs) / (performance.now() - startMs)) * 100;
    return { result, cost: { cpuPercent, memoryMiB: Math.round(mostBytes / 2 ** 20) } };
  } finally {
    clearInterval(watching);
  }
}

export function popValues(
  arrivals: Arrivals,
  expectedCount: number,
): Record<string, number | null> {
  return {
    ...latenessValues(arrivals),
    // A set that was refused for want of an answer may have been made all the same.
    lost: Math.max(0, expectedCount - arrivals.arrived),
    duplicates: arrivals.duplicates,
  };
}

/** Lateness in each second of a story. */
export function overTime(id: string, title: string, arrivals: Arrivals): Chart {
  return { ...timeAxes, kind: 'lines', id, title, series: secondsSeries(arrivals) };
}

export const timeAxes = {
  x: { title: 'seconds', scale: 'linear', unit: 'seconds' },
  y: { title: 'late by', scale: 'log', unit: 'ms' },
} as const;

function secondsSeries({ seconds }: Arrivals): Series[] {
  return (
    [
      ['p50Ms', 'p50'],
      ['p99Ms', 'p99'],
      ['maxMs', 'most'],
    ] as const
  ).map(([key, label]) => ({
    name: key,
    label: `${label} of each second`,
    kind: 'ours',
    points: seconds.map((one) => [one.second, one[key]] as const),
  }));
}
