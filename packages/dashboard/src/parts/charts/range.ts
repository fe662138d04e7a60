/** Ranges of time that charts show; the address has the chosen one. */
import type { Sample } from '../shapes.ts';

export const ranges = [
  ['5m', '5 minutes'],
  ['1h', '1 hour'],
  ['1d', '1 day'],
] as const;

export type Range = (typeof ranges)[number][0];

export function rangeOf(query: URLSearchParams): Range {
  const asked = query.get('range');
  return ranges.find(([range]) => range === asked)?.[0] ?? '5m';
}

/** How often longer ranges are read anew. */
export const everyMs: Readonly<Record<Exclude<Range, '5m'>, number>> = {
  '1h': 10_000,
  '1d': 60_000,
};

const smoothCount = 10;

/**
 * Counts of one member, a second each, as means of the ten seconds before: like the figures of all members, which members
 * tell each other over ten seconds. Samples of longer ranges are means already.
 */
export function smooth(samples: readonly Sample[], read: (sample: Sample) => number): number[] {
  let sum = 0;
  return samples.map((sample, i) => {
    sum += read(sample);
    const left = samples[i - smoothCount];
    if (left !== undefined) sum -= read(left);
    return sum / Math.min(i + 1, smoothCount);
  });
}
