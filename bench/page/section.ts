/**
 * One part of the report as data: `results.json` holds a list of these, and table, page, pictures and docs are made
 * from them alone. A new part of the benchmark needs a new section and nothing else.
 */

export type Unit =
  | 'perSecond'
  | 'micros'
  | 'nanos'
  | 'ms'
  | 'seconds'
  | 'bytes'
  | 'percent'
  | 'count'
  | 'ratio';

export interface Column {
  readonly key: string;
  readonly title: string;
  readonly unit: Unit;
  readonly better: 'more' | 'less' | 'neither';
}

export interface Row {
  readonly name: string;
  readonly label: string;
  readonly kind: 'ours' | 'peer' | 'baseline';
  /** null: does not apply, or was not reached; the note says why. */
  readonly values: Readonly<Record<string, number | null>>;
  readonly note?: string;
}

export interface Series {
  readonly name: string;
  readonly label: string;
  readonly kind: Row['kind'];
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Axis {
  readonly title: string;
  readonly scale: 'linear' | 'log';
  readonly unit: Unit;
}

export type Chart =
  /** One bar a row; rows that are far from all others can be left to the table. */
  | {
      readonly kind: 'bars';
      readonly id: string;
      readonly title: string;
      readonly column: string;
      readonly without?: readonly string[];
    }
  | {
      readonly kind: 'lines';
      readonly id: string;
      readonly title: string;
      readonly x: Axis;
      readonly y: Axis;
      readonly series: readonly Series[];
    };

export interface Section {
  readonly id: string;
  readonly title: string;
  /** The measurement, in a sentence or two. */
  readonly what: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Ratios compare this column with that of the row `reference`. Null: there is nothing to compare. */
  readonly headline: { readonly column: string; readonly reference: string } | null;
  readonly charts: readonly Chart[];
  readonly notes: readonly string[];
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly os: string;
  readonly versions: Readonly<Record<string, string>>;
}

export interface Report {
  readonly machine: Machine;
  readonly startedAt: string;
  readonly tookSeconds: number;
  readonly isQuick: boolean;
  /** The one-minute load average before the first part: over 1, other work took part. */
  readonly loadBefore: number;
  /** Parts that could not run, with the reason. */
  readonly missing: readonly { readonly label: string; readonly reason: string }[];
  readonly sections: readonly Section[];
}

/** How many times better the reference is than the row; null where one of them has no figure. */
export function ratioOf(section: Section, row: Row): number | null {
  const { headline, columns, rows } = section;
  if (headline === null || row.name === headline.reference) return null;
  const column = columns.find(({ key }) => key === headline.column);
  const ours = rows.find(({ name }) => name === headline.reference)?.values[headline.column];
  const theirs = row.values[headline.column];
  if (column === undefined || typeof ours !== 'number' || typeof theirs !== 'number') return null;
  const ratio = column.better === 'more' ? ours / theirs : theirs / ours;
  return Number.isFinite(ratio) && ratio > 0 ? ratio : null;
}
