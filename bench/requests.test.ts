/** The part `requests` measures every shape that the tests of the router count. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longRequests } from '../packages/server/src/api/long-requests.contract.ts';
import { largest } from './requests.ts';
import { storedShapes } from './support/stored.ts';

const page = readFileSync(join(import.meta.dirname, '../docs/benchmarks.md'), 'utf8');
const nothing = async (): Promise<void> => {};
const names = [
  ...longRequests({ batchBytes: 1024, itemCount: 1 }).map(({ name }) => name),
  ...storedShapes(nothing, nothing).map(({ name }) => name),
];

test('every shape of the tests is measured', () => {
  const measured = largest().map(({ name }) => name);
  expect([...measured, ...names.slice(measured.length)]).toEqual(names);
});

test('the page has a row for each shape once a run has written it', () => {
  const [, block = ''] = /<!-- requests: .*? -->(.*?)<!-- end of requests -->/s.exec(page) ?? [];
  const rows = block.split('\n').filter((line) => line.startsWith('| '));
  if (rows.length === 0) return expect(block).toContain('No run has been written');
  expect(rows.slice(1).map((row) => row.split(' | ', 1)[0]?.slice(2))).toEqual(names);
});
