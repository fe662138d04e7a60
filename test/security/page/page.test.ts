/** docs/security.md tells the true defaults and names tests that exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { table } from '../../../scripts/markdown/marked-block.ts';
import { findings } from '../findings/findings.ts';
import { withBlock } from './blocks.ts';
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
  const [, threats = ''] = /## Threats, and what holds against them\n(.*?)\n## /s.exec(page) ?? [];
  const rows = threats.split('\n').filter((line) => line.startsWith('| '));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.slice(1).filter((row) => !row.includes('.test.ts`: '))).toEqual([]);
});

test.each(named)('$file has the test: $name', ({ file, name }) => {
  expect(read(file)).toContain(name);
});

test('the page has a row for each attack of the security run, numbers 1 to 11, and each holds', () => {
  const [, block = ''] = /<!-- findings: .*? -->(.*?)<!-- end of findings -->/s.exec(page) ?? [];
  const rows = block.split('\n').filter((line) => /^\| \d/.test(line));
  expect(rows.filter((row) => !row.endsWith('| yes |'))).toEqual([]);
  expect(findings.map(({ attack }) => rows.some((row) => row.includes(attack)))).toEqual(
    findings.map(() => true),
  );
  const numbers = new Set(findings.map(({ number }) => number));
  expect([...numbers]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test('the page has the figures of a million inputs, with no crash and no stop', () => {
  const [, block = ''] = /<!-- fuzz: .*? -->(.*?)<!-- end of fuzz -->/s.exec(page) ?? [];
  const [, inputs = ''] = /\| inputs \| ([\d,]+) /.exec(block) ?? [];
  expect(Number(inputs.replaceAll(',', ''))).toBeGreaterThanOrEqual(1_000_000);
  for (const row of ['crashes', 'stops over 20 ms of CPU', 'forbidden connections']) {
    expect(block).toContain(`| ${row} | 0 | 0 |`);
  }
});

test('a block is replaced between its comments, and a page without it is an error', () => {
  const empty =
    'a\n<!-- fuzz: written by npm run security -- --write -->\n<!-- end of fuzz -->\nb\n';
  const rows = table(['x'], [['1']]);
  const filled = withBlock(empty, 'fuzz', rows);
  expect(filled).toContain('\n\n| x |\n|---|\n| 1 |\n\n<!-- end of fuzz -->\nb');
  expect(withBlock(filled, 'fuzz', rows)).toBe(filled);
  expect(() => withBlock(empty, 'findings', rows)).toThrow('no block findings');
});
