/**
 * The report of a soak: all its numbers as JSON, and pictures of memory, lateness, waits for a processor, and faults
 * over time.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawLines } from '../../bench/page/charts.ts';
import type { Axis, Series } from '../../bench/page/section.ts';
import type { Sample } from './sampler.ts';
import type { Summary } from './summary.ts';
import { drawTimeline } from './timeline.ts';
import type { Windows } from './windows.ts';

export interface Told {
  readonly summary: Summary;
  readonly windows: Windows;
  readonly samples: readonly Sample[];
}

const bytes: Axis = { title: 'resident memory', scale: 'linear', unit: 'bytes' };
const late: Axis = { title: 'late by at most', scale: 'log', unit: 'ms' };
const waited: Axis = { title: 'waited within a second', scale: 'linear', unit: 'ms' };

export async function report({ summary, windows, samples }: Told, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const all = { ...summary, windows: windows.all, samples };
  await writeFile(join(folder, 'soak.json'), `${JSON.stringify(all)}\n`);
  const names = summary.memory.map(({ member }) => member);
  const memory = names.map((name) =>
    seriesOf(samples, name, ({ members }) => members[name]?.rssBytes ?? 0),
  );
  const waits = names.map((name) =>
    seriesOf(samples, name, ({ members }) => members[name]?.waitedMs ?? 0),
  );
  const lateness = [
    seriesOf(samples, 'half of the callbacks', ({ p50Ms }) => p50Ms ?? undefined),
    seriesOf(samples, '99 % of the callbacks', ({ p99Ms }) => p99Ms ?? undefined),
  ];
  const draw = async (name: string, title: string, y: Axis, series: Series[]): Promise<void> => {
    if (series.every(({ points }) => points.length === 0)) return;
    const x: Axis = { title: 'seconds', scale: 'linear', unit: 'count' };
    const svg = drawLines({ kind: 'lines', id: name, title, x, y, series });
    await writeFile(join(folder, `${name}.svg`), svg);
  };
  await draw('soak-memory', 'Soak · memory of each member', bytes, memory);
  await draw('soak-lateness', 'Soak · lateness, faults included', late, lateness);
  await draw('soak-waits', 'Soak · waiting for a processor', waited, waits);
  const seconds = samples.at(-1)?.second ?? 0;
  await writeFile(join(folder, 'soak-faults.svg'), drawTimeline(windows.all, names, seconds));
}

function seriesOf(
  samples: readonly Sample[],
  label: string,
  value: (sample: Sample) => number | undefined,
): Series {
  const points = samples.flatMap((sample): [number, number][] => {
    const y = value(sample);
    return y === undefined ? [] : [[sample.second, y]];
  });
  return { name: label, label, kind: 'ours', points };
}
