import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { architecturePage, houseFigures } from './architecture.ts';

const page = readFileSync(join(import.meta.dirname, '../../ARCHITECTURE.md'), 'utf8');

test('ARCHITECTURE.md has the files and arrows of every room; if not, run npm run reference', () => {
  expect(page).toBe(architecturePage(page, {}));
});

test('a room in ARCHITECTURE.md has a job', () => {
  expect(page).not.toMatch(/^\| `\S+\/` \| +\|/m);
});

/** Rows that change with every other commit: the page may be behind by a tenth. */
const rough = ['lines of the popper', 'lines of source'];
/** Rows whose limit `npm run tidy` holds. */
const limited = ['one-line comments with who, those, nobody or what'];

test('ARCHITECTURE.md tells the figures of the house; if not, run npm run reference', () => {
  for (const [figure, now] of Object.entries(houseFigures())) {
    if (limited.includes(figure)) continue;
    const told = page.split(`| ${figure} | `)[1]?.split(' | ')[1] ?? '';
    if (!rough.includes(figure)) expect(told, figure).toBe(now);
    else expect(Math.abs(numberIn(told) / numberIn(now) - 1), figure).toBeLessThan(0.1);
  }
});

test('a room without a row gets one, and a row of a room that is gone is left out', () => {
  const row = (room: string): string =>
    page.split('\n').find((line) => line.includes(`\`${room}/\``)) ?? '';
  const changed = page.replace(row('timer'), '| `clocks/` | keeps time | 3 | – |');
  const mended = architecturePage(changed, {});
  expect(mended).toMatch(/^\| `timer\/` \| {2}\| \d+ \| – \|$/m);
  expect(mended).not.toContain('`clocks/`');
});

function numberIn(cell: string): number {
  return Number(cell.replaceAll(',', ''));
}
