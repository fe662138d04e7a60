/** A section as a table of texts, for the terminal, the page and the docs alike. */
import { figure } from './figures.ts';
import { ratioOf, type Row, type Section } from './section.ts';

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function tableOf(section: Section): Table {
  const { columns, rows, headline } = section;
  const withRatio = headline !== null;
  const withNotes = rows.some(({ note }) => note !== undefined);
  return {
    head: [
      '',
      ...columns.map(({ title }) => title),
      ...(withRatio ? [`Carillon is ahead by`] : []),
      ...(withNotes ? ['remark'] : []),
    ],
    rows: rows.map((row) => [
      row.label,
      ...columns.map(({ key, unit }) => figure(row.values[key], unit)),
      ...(withRatio ? [ratioText(section, row)] : []),
      ...(withNotes ? [row.note ?? ''] : []),
    ]),
  };
}

function ratioText(section: Section, row: Row): string {
  const ratio = ratioOf(section, row);
  return ratio === null ? '' : figure(ratio, 'ratio');
}

export function terminalTable({ head, rows }: Table): string {
  const all = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...all.map((cells) => (cells[i] ?? '').length)));
  const shown = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return all.map(shown).join('\n');
}

export function markdownTable({ head, rows }: Table): string {
  const shown = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = `|---|${'---:|'.repeat(head.length - 1)}`;
  return [shown(head), rule, ...rows.map(shown)].join('\n');
}
