import { expect, test } from 'vitest';
import { skippedIn } from './skipped.ts';

test('skipped tests are named with their file, except the ones that need helm', () => {
  const assertionResults = [
    { fullName: 'passes', status: 'passed' },
    { fullName: 'partitions hold', status: 'skipped' },
    { fullName: 'later', status: 'todo' },
    { fullName: 'the chart helm renders it', status: 'skipped' },
  ];
  expect(skippedIn({ testResults: [{ name: 'a.test.ts', assertionResults }] })).toEqual([
    'a.test.ts partitions hold',
    'a.test.ts later',
  ]);
  expect(skippedIn({ testResults: [] })).toEqual([]);
});
