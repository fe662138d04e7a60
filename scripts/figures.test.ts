import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

test('the figures of the README are those that npm run bench wrote into docs/benchmarks.md, row by row', () => {
  const measurements = read('README.md').split('\n## Measurements\n')[1]?.split('\n## ')[0] ?? '';
  const rows = measurements.split('\n').filter((line) => line.startsWith('|'));
  const written = read('docs/benchmarks.md').split('\n');
  expect(rows.length).toBeGreaterThan(5);
  for (const row of rows) expect(written).toContain(row);
});
