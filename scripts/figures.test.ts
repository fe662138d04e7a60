import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

test.each([
  ['README.md', 'Measurements', 5],
  ['docs/security.md', 'Overload', 4],
])(
  'the figures of %s are the ones that npm run bench wrote into docs/benchmarks.md, row by row',
  (page, title, least) => {
    const part = read(page).split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
    const rows = part.split('\n').filter((line) => line.startsWith('|'));
    const written = read('docs/benchmarks.md').split('\n');
    expect(rows.length).toBeGreaterThan(least);
    for (const row of rows) expect(written).toContain(row);
  },
);
