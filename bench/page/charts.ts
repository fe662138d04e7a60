/** All pictures of a report, each with the name of its file. */
import * as Plot from '@observablehq/plot';
import { colours, drawn, palette, type PicturePlot } from '../../scripts/charts.ts';
import { figure } from './figures.ts';
import type { Axis, Chart, Column, Row, Section, Unit } from './section.ts';

export interface Picture {
  readonly file: string;
  readonly title: string;
  readonly svg: string;
}

type Lines = Extract<Chart, { kind: 'lines' }>;

const rowHeight = 26;
/** From here on, small bars could not be seen beside the largest. */
const linearSpanMax = 60;
/** Lines with fewer points than this have a dot at each. */
const dotsMax = 20;

export function picturesOf(section: Section): Picture[] {
  return section.charts.flatMap((chart) => {
    const svg = draw(section, chart);
    return svg === null ? [] : [{ file: `bench-${chart.id}.svg`, title: chart.title, svg }];
  });
}

/** Null: there is nothing to draw. */
function draw(section: Section, chart: Chart): string | null {
  if (chart.kind === 'lines') {
    return chart.series.some(({ points }) => points.length > 0) ? drawLines(chart) : null;
  }
  const column = section.columns.find(({ key }) => key === chart.column);
  if (column === undefined) return null;
  const rows = section.rows.filter(({ name }) => !chart.without?.includes(name));
  const hasFigures = rows.some((row) => typeof row.values[column.key] === 'number');
  return hasFigures ? drawBars(chart.title, column, rows) : null;
}

/** One bar a row, the figure at its end; on a logarithmic scale when the rows are too far apart for a linear one. */
function drawBars(title: string, column: Column, rows: readonly Row[]): string {
  const known = rows.flatMap((row) => row.values[column.key] ?? []).filter((value) => value > 0);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const isLog = most / least > linearSpanMax;
  const start = isLog ? least / 3 : 0;
  const bars = rows.map(({ label, kind, values }) => {
    const value = values[column.key] ?? null;
    const shown = value === null ? 'no figure' : figure(value, column.unit);
    return { label, end: Math.max(value ?? start, start), shown, fill: colours[kind] };
  });
  const better = { more: 'longer is better', less: 'shorter is better', neither: '' };
  const hint = [better[column.better], isLog ? 'logarithmic' : ''].filter((part) => part !== '');
  const plot: PicturePlot = {
    height: rows.length * rowHeight + 16,
    margin: 0,
    marginLeft: labelWidth(bars),
    marginRight: 100,
    marginBottom: 16,
    x: {
      type: isLog ? 'log' : 'linear',
      domain: [start, Number.isFinite(most) ? most : 1],
      axis: null,
    },
    y: { domain: bars.map(({ label }) => label), label: null, tickSize: 0, padding: 0.25 },
    marks: [
      Plot.barX(bars, { y: 'label', x1: start, x2: 'end', fill: 'fill', rx: 2 }),
      Plot.text(bars, { y: 'label', x: 'end', text: 'shown', textAnchor: 'start', dx: 8 }),
      Plot.ruleX([start], { stroke: colours.faint }),
    ],
  };
  return drawn({ title, hint: hint.join(', '), plots: [plot] });
}

/** Room for the longest label, in pixels; at least as much as in most pictures. */
function labelWidth(bars: readonly { readonly label: string }[]): number {
  const letters = Math.max(...bars.map(({ label }) => label.length));
  return Math.max(250, 12 + letters * 6.4);
}

/** Lines over linear or logarithmic axes. */
export function drawLines({ title, x, y, series }: Lines): string {
  const points = series.flatMap(({ label, points: own }) =>
    own.map(([across, up]) => ({ label, across, up, isDot: own.length <= dotsMax })),
  );
  const range = series.map((_, i) => palette[i % palette.length] ?? colours.text);
  const across = scaleOf(
    x,
    points.map((point) => point.across),
  );
  const up = scaleOf(
    y,
    points.map((point) => point.up),
  );
  const at = {
    x: (point: { across: number }) => across.inside(point.across),
    y: (point: { up: number }) => up.inside(point.up),
  };
  const plot: PicturePlot = {
    height: 310,
    marginLeft: 84,
    marginRight: 40,
    marginTop: 26,
    marginBottom: 44,
    x: { ...across.options, label: x.title, labelAnchor: 'center', labelArrow: 'none' },
    y: { ...up.options, label: y.title, labelArrow: 'none' },
    color: { domain: series.map(({ label }) => label), range },
    marks: [
      Plot.line(points, { ...at, z: 'label', stroke: 'label', strokeWidth: 2 }),
      Plot.dot(points, { ...at, filter: 'isDot', fill: 'label', r: 3 }),
    ],
  };
  const legend = series.map(({ label }, i) => [label, range[i] ?? colours.text] as const);
  return drawn({ title, plots: [plot], legend });
}

/** A linear axis begins at 0; a logarithmic one at the least value above 0, where values of 0 are shown too. */
function scaleOf({ scale, unit }: Axis, values: readonly number[]) {
  const isLog = scale === 'log';
  const positive = values.filter((value) => value > 0);
  const least = isLog ? Math.min(...positive, 1e9) : 0;
  const domain = [least, Math.max(...values, isLog ? 2 * least : 1e-9)];
  const tickFormat = (tick: number): string => tickText(tick, unit);
  const options = { type: scale, domain, nice: true, grid: true, ticks: isLog ? 5 : 6, tickFormat };
  return { options, inside: (value: number) => Math.max(value, least) };
}

/** Without zeros that say nothing. */
function tickText(tick: number, unit: Unit): string {
  return figure(tick, unit).replace(/\.0+(?=\D|$)/, '');
}
