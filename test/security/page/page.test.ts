/** docs/security.md tells the true defaults and names tests that exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultRows } from './defaults.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const page = read('docs/security.md');
const named = [
  ...page.matchAll(/`((?:packages|test|scripts)\/[^`]+\.test\.ts)`: ([^;|]+?) ?(?=[;|])/g),
].map(([, file = '', name = '']) => ({ file, name }));

test('the page has a row for each option that protects a member, with its default', () => {
  expect(page.split('\n').filter((line) => /^\| `[a-z]+\./.test(line))).toEqual(defaultRows());
});

test('every threat has a test', () => {
  const [, table = ''] = /## Threats, and what holds against them\n(.*?)\n## /s.exec(page) ?? [];
  const rows = table.split('\n').filter((line) => line.startsWith('| '));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.slice(1).filter((row) => !row.includes('.test.ts`: '))).toEqual([]);
});

test.each(named)('$file has the test: $name', ({ file, name }) => {
  expect(read(file)).toContain(name);
});
