/** The part of docs/benchmarks.md that a run writes: everything between its two marks. */
import { wrapMarkdown } from '../../scripts/wrap-markdown.ts';
import { picturesOf } from './charts.ts';
import { conditions } from './html.ts';
import type { Report, Section } from './section.ts';
import { summaryOf } from './summary.ts';
import { markdownTable, tableOf } from './table.ts';

const begin = '<!-- figures: written by npm run bench -->';
const end = '<!-- end of figures -->';

/** Sections of this run replace sections of the same name; text outside the marks stays. */
export function withFigures(page: string, report: Report): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error(`The page has no ${begin} … ${end}.`);
  return `${page.slice(0, from + begin.length)}\n\n${figures(report)}\n\n${page.slice(to)}`;
}

function figures(report: Report): string {
  const missing = report.missing.map(({ label, reason }) => `**Missing: ${label}.** ${reason}`);
  return [
    wrapMarkdown(conditions(report)),
    ...missing.map(wrapMarkdown),
    markdownTable(summaryOf(report)),
    ...report.sections.map(sectionText),
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
