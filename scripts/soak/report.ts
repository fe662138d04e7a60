/** What a soak leaves behind: its numbers as JSON, pictures of memory and lateness, and whether memory keeps growing. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawLines } from '../../bench/page/lines.ts';
import type { Axis, Series } from '../../bench/page/section.ts';
import type { Sample } from './sampler.ts';

export interface Soak {
  readonly minutes: number;
  readonly broken: readonly string[];
  readonly faults: Readonly<Record<string, number>>;
  readonly says: string;
  readonly samples: readonly Sample[];
}

export interface Growth {
  readonly isGrowing: boolean;
  readonly says: string;
}

const mib = 2 ** 20;
/** Restarts make it shrink and the collector lets it swing; what leaks for hours goes far beyond. */
const grownBytesMax = 64 * mib;
const secondsMin = 120;

/** Compares the median of the second quarter with that of the last one. */
export function growthOf(samples: readonly Sample[]): Growth {
  const most = samples.map(({ rssBytes }) => Math.max(0, ...Object.values(rssBytes)));
  const quarter = Math.floor(most.length / 4);
  const before = median(most.slice(quarter, 2 * quarter));
  const after = median(most.slice(3 * quarter));
  const peak = Math.max(0, ...most);
  const isGrowing = samples.length >= secondsMin && after - before > grownBytesMax;
  const says = `the largest member had ${inMib(before)} in the second quarter, ${inMib(after)} in the last, ${inMib(peak)} at most`;
  return { isGrowing, says };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function inMib(bytes: number): string {
  return `${Math.round(bytes / mib)} MiB`;
}

export async function report(soak: Soak, folder: string): Promise<void> {
  const { samples } = soak;
  const growth = growthOf(samples);
  await writeFile(join(folder, 'soak.json'), `${JSON.stringify({ ...soak, growth })}\n`);
  const names = [...new Set(samples.flatMap(({ rssBytes }) => Object.keys(rssBytes)))];
  const memory = names.map((name) => seriesOf(samples, name, ({ rssBytes }) => rssBytes[name]));
  const lateness = [
    seriesOf(samples, 'half of the callbacks', ({ p50Ms }) => p50Ms ?? undefined),
    seriesOf(samples, '99 % of the callbacks', ({ p99Ms }) => p99Ms ?? undefined),
  ];
  const bytes: Axis = { title: 'resident memory', scale: 'linear', unit: 'bytes' };
  const ms: Axis = { title: 'late by at most', scale: 'log', unit: 'ms' };
  await draw(join(folder, 'soak-memory.svg'), 'Soak · memory of each member', bytes, memory);
  await draw(join(folder, 'soak-lateness.svg'), 'Soak · lateness, faults included', ms, lateness);
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

async function draw(
  file: string,
  title: string,
  y: Axis,
  series: readonly Series[],
): Promise<void> {
  const x: Axis = { title: 'seconds', scale: 'linear', unit: 'count' };
  const svg = drawLines({ kind: 'lines', id: title, title, x, y, series });
  await writeFile(file, svg);
}
