/** Durations as people write them: `250ms`, `10s`, `1.5m`, `2h`, `1d`, and several in a row, `1h30m`. */

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;
const unitMs: ReadonlyMap<string, number> = new Map(units);

/** One amount with its unit, matched where the last one ended. */
const part = /(\d+(?:\.\d+)?|\.\d+)(ms?|[shd])/y;
/** Longer ones are not looked at. */
const lengthMax = 64;

/** Milliseconds, rounded to whole ones; null when the text is not a duration (a number without a unit is none). */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > lengthMax) return null;
  let totalMs = 0;
  part.lastIndex = 0;
  while (part.lastIndex < trimmed.length) {
    const found = part.exec(trimmed);
    if (found === null) return null;
    totalMs += Number(found[1]) * (unitMs.get(found[2] ?? '') ?? Number.NaN);
  }
  return Number.isFinite(totalMs) ? Math.round(totalMs) : null;
}

/** A short text for tables and logs: the largest unit that fits, at most one digit after the point. */
export function formatDuration(ms: number): string {
  const sign = ms < 0 ? '-' : '';
  const sizeMs = Math.abs(ms);
  for (const [unit, each] of units) {
    // 59.96 s would read "60s": such a value is better told in the next larger unit.
    if (sizeMs >= each * 0.9995 || unit === 'ms') {
      return `${sign}${Number((sizeMs / each).toFixed(1))}${unit}`;
    }
  }
  return `${ms}ms`;
}
