/** Ranges of time that charts show; the address has the chosen one. */

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
