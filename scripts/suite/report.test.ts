import { expect, test } from 'vitest';
import { failedIn, skippedIn } from './report.ts';

test('skipped tests are named with their file, except the ones that need helm', () => {
  const assertionResults = [
    { fullName: 'passes', status: 'passed' },
    { fullName: 'partitions hold', status: 'skipped' },
    { fullName: 'later', status: 'todo' },
    { fullName: 'the chart helm renders it', status: 'skipped' },
  ];
  const file = { name: 'a.test.ts', status: 'passed', message: '', assertionResults };
  expect(skippedIn({ testResults: [file] })).toEqual([
    'a.test.ts partitions hold',
    'a.test.ts later',
  ]);
  expect(skippedIn({ testResults: [] })).toEqual([]);
});

test('a failed file is told with the message of the last attempt of each failed test', () => {
  const assertionResults = [
    { fullName: 'passes', status: 'passed', failureMessages: ['first attempt'] },
    { fullName: 'one callback', status: 'failed', failureMessages: ['first', 'expected 1\ngot 2'] },
  ];
  const failed = { name: 'a.test.ts', status: 'failed', message: '', assertionResults };
  const passed = { ...failed, name: 'b.test.ts', status: 'passed' };
  expect(failedIn({ testResults: [failed, passed] })).toEqual([
    { path: 'a.test.ts', reasons: ['one callback\nexpected 1\ngot 2'] },
  ]);
});

test('a file that could not be loaded is told with the reason', () => {
  const file = { name: 'a.test.ts', status: 'failed', message: 'no etcd', assertionResults: [] };
  expect(failedIn({ testResults: [file] })).toEqual([{ path: 'a.test.ts', reasons: ['no etcd'] }]);
});
