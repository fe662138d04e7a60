/** Columns and series that all workloads with callbacks share. */
import type { Arrivals } from '../load/arrivals.ts';
import type { Column, Series } from '../page/section.ts';
import type { System } from '../systems/system.ts';

export const latenessColumns: readonly Column[] = [
  { key: 'p50Ms', title: 'late by, p50', unit: 'ms', better: 'less' },
  { key: 'p99Ms', title: 'p99', unit: 'ms', better: 'less' },
  { key: 'maxMs', title: 'most', unit: 'ms', better: 'less' },
];

export const countColumns: readonly Column[] = [
  { key: 'lost', title: 'lost', unit: 'count', better: 'less' },
  { key: 'duplicates', title: 'twice', unit: 'count', better: 'less' },
];

export function latenessValues({ latenessMs }: Arrivals): Record<string, number | null> {
  return { p50Ms: latenessMs.p50, p99Ms: latenessMs.p99, maxMs: latenessMs.max };
}

/** How many came with which lateness: share of pops over milliseconds. */
export function latenessSeries(
  { name, label, kind }: Pick<System, 'name' | 'label' | 'kind'>,
  { curve }: Arrivals,
): Series {
  const shown = (lateMs: number): number => Math.max(0.1, lateMs);
  return {
    name,
    label,
    kind,
    points: curve.map((lateMs, i) => [shown(lateMs), (i / (curve.length - 1)) * 100]),
  };
}
