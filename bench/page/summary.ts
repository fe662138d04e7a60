/** The one table people look at first: for each workload Carillon, the best peer, and the ratio between them. */
import { figure } from './figures.ts';
import { ratioOf, type Report, type Row, type Section } from './section.ts';
import type { Table } from './table.ts';

export function summaryOf({ sections }: Pick<Report, 'sections'>): Table {
  return {
    head: ['', 'measure', 'Carillon', 'best peer', '', 'Carillon is ahead by'],
    rows: sections.flatMap(summaryRow),
  };
}

function summaryRow(section: Section): string[][] {
  const { headline, columns, rows, title } = section;
  const column = columns.find(({ key }) => key === headline?.column);
  const ours = rows.find(({ name }) => name === headline?.reference);
  if (headline === null || column === undefined || ours === undefined) return [];
  const shown = (row: Row): string => figure(row.values[column.key], column.unit);
  const best = bestPeer(section);
  if (best === null) return [[title, column.title, shown(ours), '–', '–', '–']];
  const ratio = figure(ratioOf(section, best), 'ratio');
  return [[title, column.title, shown(ours), best.label, shown(best), ratio]];
}

/** The one that Carillon is least ahead of. */
function bestPeer(section: Section): Row | null {
  const peers = section.rows
    .filter(({ kind }) => kind === 'peer')
    .map((row) => ({ row, ratio: ratioOf(section, row) }))
    .filter(({ ratio }) => ratio !== null);
  const [best] = peers.toSorted((a, b) => (a.ratio ?? 0) - (b.ratio ?? 0));
  return best?.row ?? null;
}
