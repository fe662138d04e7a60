/** The report as one page that needs nothing else: tables and pictures of every section. */
import { picturesOf } from './charts.ts';
import type { Report, Section } from './section.ts';
import { summaryOf } from './summary.ts';
import { type Table, tableOf } from './table.ts';

const style = `
body { font: 15px/1.5 system-ui, sans-serif; color: #30343b; background: #fff; max-width: 1000px; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; display: block; overflow-x: auto }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #dfe2e6; text-align: right }
th:first-child, td:first-child { text-align: left }
td { white-space: nowrap }
svg { max-width: 100%; height: auto; display: block; margin: 1rem 0; border: 1px solid #dfe2e6 }
.note { color: #6b7078 } nav a { margin-right: 1rem }`;

export function pageOf(report: Report): string {
  const { sections } = report;
  const links = sections.map(({ id, title }) => `<a href="#${id}">${escape(title)}</a>`);
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width"><title>Carillon: benchmarks</title>',
    `<style>${style}</style></head><body><h1>Carillon: benchmarks</h1>`,
    `<p>${escape(conditions(report))}</p>`,
    ...report.missing.map(
      (one) => `<p><b>Missing: ${escape(one.label)}.</b> ${escape(one.reason)}</p>`,
    ),
    `<nav>${links.join(' ')}</nav>`,
    `<h2>In short</h2>${htmlTable(summaryOf(report))}`,
    ...sections.map(sectionHtml),
    '</body></html>\n',
  ].join('\n');
}

/** Machine, versions, date, and whether the figures are worth anything. */
export function conditions(report: Report): string {
  const { machine, startedAt, tookSeconds, loadBefore, isQuick } = report;
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  const quick = isQuick
    ? ' A quick pass with small sizes: it shows that everything runs, and nothing else.'
    : '';
  const busy = loadBefore > 1 ? ' Other work took part of the machine: read ratios with care.' : '';
  return `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.os}. ${versions.join(', ')}. One run on ${startedAt.slice(0, 10)}, ${minutes(tookSeconds)}, load average before it ${loadBefore.toFixed(2)}.${quick}${busy}`;
}

function minutes(seconds: number): string {
  const count = Math.max(1, Math.round(seconds / 60));
  return count === 1 ? '1 minute' : `${count} minutes`;
}

function sectionHtml(section: Section): string {
  const { id, title, what, notes } = section;
  return [
    `<h2 id="${id}">${escape(title)}</h2><p>${escape(what)}</p>`,
    htmlTable(tableOf(section)),
    ...notes.map((note) => `<p class="note">${escape(note)}</p>`),
    ...picturesOf(section).map(({ svg }) => svg),
  ].join('\n');
}

function htmlTable({ head, rows }: Table): string {
  const cells = (tag: string, texts: readonly string[]): string =>
    `<tr>${texts.map((content) => `<${tag}>${escape(content)}</${tag}>`).join('')}</tr>`;
  return `<table>${cells('th', head)}${rows.map((row) => cells('td', row)).join('')}</table>`;
}

function escape(raw: string): string {
  return raw
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
