/** Lines over a linear or logarithmic axis, with a legend. */
import { figure } from './figures.ts';
import type { Axis, Chart, Unit } from './section.ts';
import { colours, line, palette, picture, round, text } from './svg.ts';

type Lines = Extract<Chart, { kind: 'lines' }>;

const width = 720;
const left = 70;
const right = width - 40;
const plotHeight = 260;
const top = 46;
const bottom = top + plotHeight;
const legendHeight = 20;
const legendColumns = 2;

export function drawLines(chart: Lines): string {
  const { title, x, y, series } = chart;
  const points = series.flatMap((one) => one.points);
  const xScale = scaleOf(
    x,
    points.map(([value]) => value),
    [left, right],
  );
  const yScale = scaleOf(
    y,
    points.map(([, value]) => value),
    [bottom, top],
  );
  const rows = Math.ceil(series.length / legendColumns);
  const height = bottom + 56 + rows * legendHeight;
  const paths = series.map(({ points: own }, i) => {
    const steps = own.map(([a, b]) => `${round(xScale.at(a))},${round(yScale.at(b))}`);
    const stroke = palette[i % palette.length] ?? colours.text;
    const dots =
      own.length > 20 ? [] : own.map(([a, b]) => dot(xScale.at(a), yScale.at(b), stroke));
    return `<polyline points="${steps.join(' ')}" fill="none" stroke="${stroke}" stroke-width="2"/>${dots.join('')}`;
  });
  return picture(width, height, title, [
    text(16, 24, title, { size: 15, isBold: true }),
    ...xScale.ticks.flatMap((tick) => [
      line([xScale.at(tick), top], [xScale.at(tick), bottom], colours.grid),
      text(xScale.at(tick), bottom + 16, tickText(tick, x.unit), { anchor: 'middle', size: 11 }),
    ]),
    ...yScale.ticks.flatMap((tick) => [
      line([left, yScale.at(tick)], [right, yScale.at(tick)], colours.grid),
      text(left - 8, yScale.at(tick) + 4, tickText(tick, y.unit), { anchor: 'end', size: 11 }),
    ]),
    text((left + right) / 2, bottom + 34, x.title, { anchor: 'middle', fill: colours.faint }),
    text(left, top - 6, y.title, { size: 11, fill: colours.faint }),
    ...paths,
    ...legend(chart),
  ]);
}

/** Without zeros that say nothing. */
function tickText(tick: number, unit: Unit): string {
  return figure(tick, unit).replace(/\.0+(?=\D|$)/, '');
}

function dot(x: number, y: number, fill: string): string {
  return `<circle cx="${round(x)}" cy="${round(y)}" r="3" fill="${fill}"/>`;
}

function legend({ series }: Lines): string[] {
  return series.flatMap(({ label }, i) => {
    const x = left + (i % legendColumns) * ((right - left) / legendColumns);
    const y = bottom + 56 + Math.floor(i / legendColumns) * legendHeight;
    const fill = palette[i % palette.length] ?? colours.text;
    return [
      `<rect x="${round(x)}" y="${y - 9}" width="14" height="4" fill="${fill}"/>`,
      text(x + 20, y - 3, label),
    ];
  });
}

interface Scale {
  readonly ticks: readonly number[];
  at(value: number): number;
}

function scaleOf(
  { scale }: Axis,
  values: readonly number[],
  [from, to]: readonly [number, number],
): Scale {
  const most = Math.max(...values, 0);
  if (scale === 'linear') {
    const step = tickStep(most);
    const end = Math.max(step, Math.ceil(most / step) * step);
    const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, i) => i * step);
    return { ticks, at: (value) => from + (value / end) * (to - from) };
  }
  const positive = values.filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...positive)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(most)));
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  const at = (value: number): number =>
    from + ((Math.log10(Math.max(value, 10 ** low)) - low) / (high - low)) * (to - from);
  return { ticks, at };
}

/** About five of 1, 2 or 5 times a power of ten. */
export function tickStep(most: number): number {
  if (most <= 0) return 1;
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((times) => times * power >= rough) ?? 10) * power;
}
