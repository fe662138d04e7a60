/**
 * The parts of docs/benchmarks.md, README.md and docs/cost.md that a whole run writes: everything between their two
 * marks.
 */
import { hasMarkedBlock, withMarkedBlock } from '../../scripts/markdown/marked-block.ts';
import { wrapMarkdown } from '../../scripts/markdown/wrap-markdown.ts';
import { picturesOf } from './charts.ts';
import { conditions } from './html.ts';
import { figure } from './figures.ts';
import type { Report, Row, Section, Unit } from './section.ts';
import { summaryOf } from './summary.ts';
import { markdownTable, tableOf } from './table.ts';

/** Sections of this run replace all figures of docs/benchmarks.md; text outside the marks stays. */
export function withFigures(page: string, report: Report): string {
  return between(withoutNewest(page), 'figures', figures(report));
}

/** Sections with a place of their own in docs/benchmarks.md, and the part of the benchmark that writes them. */
const placed = {
  ring: 'ring',
  trees: 'placement',
  requests: 'requests',
  limits: 'limits',
  'limits-wrk': 'limits',
  'restart-large': 'restart-large',
  'two-billion': 'two-billion',
  quota: 'quota',
  quarters: 'quarters',
} as const;

/** Whether the section has its own marks. */
export function isPlaced({ id, rows }: Pick<Section, 'id' | 'rows'>): boolean {
  return id in placed && !rows.some(hasFailed);
}

/**
 * Sections that have their own marks, from a run of any parts; others stay as they are, and so do sections that failed.
 */
export function withPlaced(page: string, report: Report): string {
  return Object.entries(placed).reduce((text, [id, part]) => {
    const section = report.sections.find((one) => one.id === id);
    if (section === undefined || !isPlaced(section)) return text;
    const marks = { name: id, by: `npm run bench -- --only ${part}` };
    return withMarkedBlock(text, marks, [
      [sectionText(section), wrapMarkdown(conditions(report))].join('\n\n'),
    ]);
  }, page);
}

function hasFailed({ note }: Row): boolean {
  return note?.startsWith('failed') === true;
}

/** The table that people look at first, and how its first row was measured: for README.md. */
export function withSummary(page: string, report: Report): string {
  const told =
    'Sets and updates go through the library of each system; plain HTTP, pipelined HTTP, and a connection for each call have rows of their own.';
  return between(
    withoutNewest(page),
    'summary',
    [markdownTable(summaryOf(report)), wrapMarkdown(told)].join('\n\n'),
  );
}

/** Parts that are measured again, alone, between two whole runs. */
const newestParts = ['sets', 'bulk', 'burst', 'updates'] as const;
const newestMarks = { name: 'newest', by: `npm run bench -- --only ${newestParts.join()}` };

/** The sections of these parts, where the report has all of them and none failed; otherwise none. */
function newestOf({ sections }: Pick<Report, 'sections'>): readonly Section[] {
  const found = newestParts.map((part) => sections.find(({ id }) => id === part));
  const whole = found.filter((section) => section !== undefined);
  return whole.length < newestParts.length || whole.some(({ rows }) => rows.some(hasFailed))
    ? []
    : whole;
}

/** Figures that are newer than the ones of the last whole run: for docs/benchmarks.md, with every row. */
export function withNewest(page: string, report: Report): string {
  const sections = newestOf(report);
  if (sections.length === 0) return page;
  return withMarkedBlock(page, newestMarks, [
    [
      wrapMarkdown(
        `These parts were measured again since the last whole run. ${conditions(report)}`,
      ),
      markdownTable(summaryOf({ sections })),
      ...sections.flatMap((section) => [
        wrapMarkdown(`**${section.title}.** ${section.what}`),
        markdownTable(tableOf(section)),
        ...section.notes.map(wrapMarkdown),
      ]),
    ].join('\n\n'),
  ]);
}

/** The same in short: for README.md. */
export function withNewestSummary(page: string, report: Report): string {
  const sections = newestOf(report);
  if (sections.length === 0) return page;
  const date = report.startedAt.slice(0, 10);
  const told = `These rows were measured on ${date}, alone, with a load average of ${report.loadBefore.toFixed(1)} before the run:`;
  return withMarkedBlock(page, newestMarks, [
    [wrapMarkdown(told), markdownTable(summaryOf({ sections }))].join('\n\n'),
  ]);
}

/** A whole run has measured everything again. */
function withoutNewest(page: string): string {
  return hasMarkedBlock(page, newestMarks) ? withMarkedBlock(page, newestMarks, []) : page;
}

/** The costs of one member, for docs/cost.md. Rows without a figure in this run are left out. */
export function withCosts(page: string, report: Report): string {
  const value = (id: string, key: string): number | null =>
    report.sections
      .find((section) => section.id === id)
      ?.rows.find(({ name }) => name === 'carillon')?.values[key] ?? null;
  const told = (known: number | null, unit: Unit): string | null =>
    known === null ? null : figure(known, unit);
  const bytes = told(value('memory', 'largeBytes'), 'bytes');
  const empty = told(value('memory', 'emptyMiB'), 'count');
  const rows = [
    costRow(
      'memory',
      bytes &&
        `${bytes} for a pending timer with 64 bytes of opaque, times the factor, beside ${empty} MiB for the process`,
      'footprint',
    ),
    costRow('CPU of a set, synced to disk', told(value('sets', 'serverMicros'), 'micros'), 'sets'),
    costRow('CPU of a set in bulk of 500', told(value('bulk', 'serverMicros'), 'micros'), 'bulk'),
    costRow('CPU of a pop', told(value('lateness', 'popMicros'), 'micros'), 'lateness'),
    costRow(
      'CPU while nothing is due',
      told(value('idle', 'idlePercent'), 'percent'),
      'footprint',
      ' of a core',
    ),
  ].flat();
  return between(page, 'costs', ['| of | costs | shown by |', '|---|---|---|', ...rows].join('\n'));
}

function costRow(of: string, costs: string | null, part: string, unit = ''): string[] {
  return costs === null
    ? []
    : [`| ${of} | ${costs}${unit} | \`npm run bench -- --only ${part}\` |`];
}

function between(page: string, name: string, text: string): string {
  return withMarkedBlock(page, { name, by: 'npm run bench' }, [text]);
}

function figures(report: Report): string {
  const missing = report.missing.map(({ label, reason }) => `**Missing: ${label}.** ${reason}`);
  return [
    wrapMarkdown(conditions(report)),
    ...missing.map(wrapMarkdown),
    markdownTable(summaryOf(report)),
    ...report.sections.filter(({ id }) => !(id in placed)).map(sectionText),
  ].join('\n\n');
}

function sectionText(section: Section): string {
  const pictures = picturesOf(section).map(({ file, title }) => `![${title}](images/${file})`);
  return [
    `### ${section.title}`,
    wrapMarkdown(section.what),
    markdownTable(tableOf(section)),
    ...section.notes.map(wrapMarkdown),
    ...pictures,
  ].join('\n\n');
}
