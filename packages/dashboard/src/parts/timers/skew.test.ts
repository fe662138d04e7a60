import { expect, test } from 'vitest';
import type { TimerShape } from '../shapes.ts';
import { skewsOf } from './skew.ts';

const timer: TimerShape = {
  id: '0d1e1d1ab81140010000204080102040-3',
  state: 'pending',
  timing: { interval: 20, 'repeat-for': 100 },
  callback: { http: { uri: 'http://x/' } },
  reliability: { 'replication-factor': 3 },
  set: '2026-01-01T00:00:00.000Z',
  sequence: 0,
  attempt: 0,
  'next-due': '2026-01-01T00:00:20.000Z',
  'next-attempt': '2026-01-01T00:00:20.000Z',
  'last-outcome': null,
  version: '1.1',
  replicas: ['a', 'b', 'c'],
};

test('replicas pop one after the other: 20 s and three replicas give 0, 2 and 4 s', () => {
  expect(skewsOf(timer)).toEqual([
    { member: 'a', role: 'primary', skewMs: 0 },
    { member: 'b', role: 'backup 1', skewMs: 2000 },
    { member: 'c', role: 'backup 2', skewMs: 4000 },
  ]);
});

test('short timers have short skews, but none below 20 ms; later pops of cron timers do not tell', () => {
  const skews = (part: Partial<TimerShape>): (number | null)[] =>
    skewsOf({ ...timer, ...part }).map(({ skewMs }) => skewMs);
  expect(skews({ timing: { interval: 0.3 } })).toEqual([0, 100, 200]);
  expect(skews({ timing: { interval: 0.003 } })).toEqual([0, 20, 40]);
  expect(skews({ timing: { cron: '* * * * *', forever: true }, sequence: 4 })).toEqual([
    0,
    null,
    null,
  ]);
});
