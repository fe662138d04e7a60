import { expect, test } from 'vitest';
import { parseRoute } from './route.ts';
import type { TimerShape } from './parts/shapes.ts';
import { turns } from './parts/skew.ts';
import { timerBody, type TypedTimer } from './timer-body.ts';

const typed: TypedTimer = {
  kind: 'interval',
  interval: '10s',
  at: '',
  cron: '',
  timezone: '',
  ending: 'once',
  count: '5',
  repeatFor: '1h',
  uri: ' http://127.0.0.1:8080/done ',
  opaque: ' as it is ',
  tags: '',
  factor: '',
};
const http = { uri: 'http://127.0.0.1:8080/done', opaque: ' as it is ' };

test.each([
  [{}, { interval: 10 }],
  [{ interval: '90' }, { interval: 90 }],
  [
    { interval: '1h30m', ending: 'forever' },
    { interval: 5400, forever: true },
  ],
  [{ ending: 'count' }, { interval: 10, count: 5 }],
  [{ ending: 'for' }, { interval: 10, 'repeat-for': 3600 }],
  [
    { kind: 'cron' as const, cron: '0 9 * * *', timezone: 'UTC' },
    { cron: '0 9 * * *', timezone: 'UTC', count: 1 },
  ],
  [{ kind: 'at' as const, at: '2026-12-24T18:00:00Z' }, { at: '2026-12-24T18:00:00.000Z' }],
])('%j becomes the timing %j', (part, timing) => {
  expect(timerBody({ ...typed, ...part })).toEqual({ body: { timing, callback: { http } } });
});

test('tags and a factor are sent only when there are some', () => {
  const result = timerBody({ ...typed, tags: ' orders, eu  x', factor: '3' });
  expect(result).toMatchObject({
    body: { tags: ['orders', 'eu', 'x'], reliability: { 'replication-factor': 3 } },
  });
});

test.each([
  [{ interval: 'soon' }, '10s'],
  [{ uri: '' }, 'http'],
  [{ uri: 'javascript:alert(1)' }, 'http'],
  [{ ending: 'count', count: '0' }, 'how many'],
  [{ ending: 'for', repeatFor: '' }, 'how long'],
  [{ kind: 'at' as const }, 'date'],
  [{ kind: 'cron' as const }, 'cron'],
])('%j is refused, saying what would be right', (part, words) => {
  const result = timerBody({ ...typed, ...part });
  expect('wrong' in result && result.wrong).toContain(words);
});

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
  expect(turns(timer)).toEqual([
    { member: 'a', role: 'primary', skewMs: 0 },
    { member: 'b', role: 'backup 1', skewMs: 2000 },
    { member: 'c', role: 'backup 2', skewMs: 4000 },
  ]);
});

test('short timers have short skews, but none below 20 ms; later pops of cron timers do not tell', () => {
  const skews = (part: Partial<TimerShape>): (number | null)[] =>
    turns({ ...timer, ...part }).map(({ skewMs }) => skewMs);
  expect(skews({ timing: { interval: 0.3 } })).toEqual([0, 100, 200]);
  expect(skews({ timing: { interval: 0.003 } })).toEqual([0, 20, 40]);
  expect(skews({ timing: { cron: '* * * * *', forever: true }, sequence: 4 })).toEqual([
    0,
    null,
    null,
  ]);
});

test('addresses name a view, a part of it and a query; broken ones do not throw', () => {
  expect(parseRoute('')).toMatchObject({ view: 'overview', part: '' });
  expect(parseRoute('#/topology/n%200')).toMatchObject({ view: 'topology', part: 'n 0' });
  expect(parseRoute('#/timers?tag=a%26b').query.get('tag')).toBe('a&b');
  expect(parseRoute('#/timers/%E0%A4%A')).toMatchObject({ part: '%E0%A4%A' });
});
