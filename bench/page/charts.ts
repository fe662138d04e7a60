/** All pictures of a report, each with the name of its file. */
import { drawBars } from './bars.ts';
import { drawLines } from './lines.ts';
import type { Chart, Section } from './section.ts';

export interface Picture {
  readonly file: string;
  readonly title: string;
  readonly svg: string;
}

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
