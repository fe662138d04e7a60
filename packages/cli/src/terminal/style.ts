/** How results look to people: colour on a terminal, tables, times in words. Programs get JSON lines instead. */
import { formatDuration } from '@carillon/core';
import type { Io } from '../command.ts';

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;

export function paint(io: Io, colour: keyof typeof codes, text: string): string {
  return io.color ? coloured(colour, text) : text;
}

/** Paints text that is written to `err`. */
export function paintErr(io: Io, colour: keyof typeof codes, text: string): string {
  return io.errColor ? coloured(colour, text) : text;
}

function coloured(colour: keyof typeof codes, text: string): string {
  return `\u001b[${codes[colour]}m${text}\u001b[0m`;
}

/** One JSON value on a line of its own. */
export function jsonLine(io: Io, value: unknown): void {
  io.out(JSON.stringify(value));
}

/** A line of facts under names of this program, written as the API writes names: `evenMinimum` as `even-minimum`. */
export function jsonFacts(io: Io, named: object): void {
  jsonLine(io, withApiNames(named));
}

export function withApiNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withApiNames);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      withApiNames(part),
    ]),
  );
}

/**
 * Columns under their titles, as wide as they need to be. Cells are plain text: control characters from outside are
 * replaced.
 */
export function table(
  io: Io,
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const cells = rows.map((row) => row.map(oneLine));
  const widths = titles.map((title, i) =>
    Math.max(title.length, ...cells.map((row) => row[i]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  return [paint(io, 'dim', line(titles)), ...cells.map(line)].join('\n');
}

/** A label and a value a line, values aligned. */
export function facts(io: Io, pairs: readonly (readonly [label: string, value: string])[]): string {
  const width = Math.max(...pairs.map(([label]) => label.length));
  return pairs
    .map(([label, value]) => `${paint(io, 'dim', label.padEnd(width))}  ${oneLine(value)}`)
    .join('\n');
}

// Characters that could move the cursor or break a line of a terminal.
// oxlint-disable-next-line no-control-regex -- this expression looks for control characters
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** Text from outside (opaques, tags, reasons), safe to show on one line. */
export function oneLine(text: string): string {
  return text.replaceAll(control, '·');
}

export function shorten(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`;
}

/** Lines cut to the width of the terminal; whole where `out` does not end at one. */
export function fitting({ columns }: Io, text: string): string {
  if (columns === undefined) return text;
  return text
    .split('\n')
    .map((line) => shorten(line, Math.max(columns, 40)))
    .join('\n');
}

/** `in 9.4s`, `2m ago`. */
export function fromNow(date: Date | null, nowMs: number): string {
  if (date === null) return '-';
  const ms = date.getTime() - nowMs;
  return ms >= 0 ? `in ${formatDuration(ms)}` : `${formatDuration(-ms)} ago`;
}

/** Of an attempt that is still to come: `in 9.4s`, `24s late`. */
export function untilDue(date: Date | null, nowMs: number): string {
  return fromNow(date, nowMs).replace(/ ago$/, ' late');
}
