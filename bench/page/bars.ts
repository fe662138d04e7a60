/** One bar a row, the figure at its end; on a logarithmic scale when the rows are too far apart for a linear one. */
import { figure } from './figures.ts';
import type { Column, Row } from './section.ts';
import { colours, line, picture, round, text } from './svg.ts';

const width = 720;
const labelWidth = 250;
const figureWidth = 90;
const rowHeight = 26;
const top = 46;
/** From here on, small bars could not be seen beside the largest. */
const linearSpanMax = 60;

export function drawBars(title: string, column: Column, rows: readonly Row[]): string {
  const values = rows.map((row) => row.values[column.key] ?? null);
  const known = values.filter((value): value is number => value !== null && value > 0);
  const isLog = Math.max(...known) / Math.min(...known) > linearSpanMax;
  const lengthOf = scale(known, isLog);
  const height = top + rows.length * rowHeight + 16;
  const bars = rows.flatMap((row, i) => drawBar(row, column, { y: top + i * rowHeight, lengthOf }));
  const hint = [betterText(column), isLog ? 'logarithmic' : ''].filter((part) => part !== '');
  return picture(width, height, title, [
    text(16, 24, title, { size: 15, isBold: true }),
    text(width - 16, 24, hint.join(', '), { anchor: 'end', fill: colours.faint }),
    ...bars,
    line([labelWidth, top - 6], [labelWidth, height - 14], colours.faint),
  ]);
}

interface Place {
  readonly y: number;
  readonly lengthOf: (value: number) => number;
}

function drawBar(row: Row, column: Column, { y, lengthOf }: Place): string[] {
  const value = row.values[column.key] ?? null;
  const length = value === null ? 0 : lengthOf(value);
  const fill = colours[row.kind];
  const shown = value === null ? 'no figure' : figure(value, column.unit);
  const isOurs = row.kind === 'ours';
  return [
    text(labelWidth - 10, y + 15, row.label, { anchor: 'end', isBold: isOurs }),
    `<rect x="${labelWidth}" y="${y + 2}" width="${round(length)}" height="${rowHeight - 8}" fill="${fill}" rx="2"/>`,
    text(labelWidth + length + 8, y + 15, shown, { isBold: isOurs }),
  ];
}

function scale(known: readonly number[], isLog: boolean): (value: number) => number {
  const room = width - labelWidth - figureWidth - 16;
  const most = Math.max(...known, 0);
  if (most === 0) return () => 0;
  if (!isLog) return (value) => Math.max(1, (value / most) * room);
  const low = Math.log10(Math.min(...known)) - 0.5;
  const span = Math.log10(most) - low;
  return (value) => (value <= 0 ? 1 : Math.max(1, ((Math.log10(value) - low) / span) * room));
}

function betterText({ better }: Column): string {
  if (better === 'neither') return '';
  return better === 'more' ? 'longer is better' : 'shorter is better';
}
