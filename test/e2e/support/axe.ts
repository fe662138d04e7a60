/** Faults of a page that axe-core finds: contrast, names of links and fields, landmarks, roles. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** In the page: a line for each element with a fault. */
const lines = `({ violations }) => violations.flatMap(({ id, help, nodes }) =>
  nodes.map(({ html, failureSummary }) => id + ': ' + help + ': ' + html.slice(0, 200) + ' ' + failureSummary))`;

/** `rules`: only these. */
export async function faultsOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(source);
  const options = rules === undefined ? {} : { runOnly: { type: 'rule', values: rules } };
  return page.evaluate<string[]>(`axe.run(${JSON.stringify(options)}).then(${lines})`);
}
