import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { TimerShape } from '../../parts/shapes.ts';
import { durationText, localText, secondsOf } from './text.ts';
import { timerBody, typedTimer } from './timer-body.ts';
import { blank, type TypedTimer } from './typed-timer.ts';

const typed: TypedTimer = {
  ...blank,
  uri: ' http://127.0.0.1:8080/done ',
  opaque: ' as it is ',
};
const http = { uri: 'http://127.0.0.1:8080/done', opaque: ' as it is ' };

test.each<[Partial<TypedTimer>, object]>([
  [{}, { interval: 10 }],
  [{ interval: '90' }, { interval: 90 }],
  [
    { interval: '1h30m', ending: 'forever' },
    { interval: 5400, forever: true },
  ],
  [{ ending: 'count' }, { interval: 10, count: 5 }],
  [{ ending: 'for' }, { interval: 10, 'repeat-for': 3600 }],
  [
    { ending: 'until', until: '2026-12-24T18:00:00Z' },
    { interval: 10, until: '2026-12-24T18:00:00.000Z' },
  ],
  [
    { kind: 'cron', cron: '0 9 * * *', timezone: 'UTC' },
    { cron: '0 9 * * *', timezone: 'UTC', count: 1 },
  ],
  [{ kind: 'at', at: '2026-12-24T18:00:00Z' }, { at: '2026-12-24T18:00:00.000Z' }],
])('%j becomes the timing %j', (part, timing) => {
  expect(timerBody({ ...typed, ...part })).toEqual({ body: { timing, callback: { http } } });
});

test('tags and a factor are sent only when there are some', () => {
  const result = timerBody({ ...typed, tags: ['a b'], tag: ' orders, eu  x', factor: '3' });
  expect(result).toMatchObject({
    body: { tags: ['a b', 'orders', 'eu', 'x'], reliability: { 'replication-factor': 3 } },
  });
});

test('method, headers, time limit and retries are sent as typed', () => {
  const result = timerBody({
    ...typed,
    method: 'PUT',
    headers: [
      { name: ' X-Shop ', value: ' 7 ' },
      { name: '', value: '' },
    ],
    timeout: '500ms',
    batch: true,
    retryLimit: '2h',
    retryMaxAttempts: '3',
  });
  expect(result).toMatchObject({
    body: {
      callback: {
        http: { method: 'PUT', headers: { 'X-Shop': ' 7 ' }, timeout: 0.5, batch: true },
        retry: { limit: 7200, 'max-attempts': 3 },
      },
    },
  });
});

test.each<[Partial<TypedTimer>, string]>([
  [{ interval: 'soon' }, '10s'],
  [{ uri: '' }, 'http'],
  [{ uri: 'javascript:alert(1)' }, 'http'],
  [{ ending: 'count', count: '0' }, 'how many'],
  [{ ending: 'for', repeatFor: '' }, 'how long'],
  [{ ending: 'until' }, 'end'],
  [{ kind: 'at' }, 'date'],
  [{ kind: 'cron' }, 'cron'],
  [{ headers: [{ name: '', value: 'x' }] }, 'needs a name'],
  [{ headers: ['A', 'a'].map((name) => ({ name, value: '' })) }, 'twice'],
  [{ timeout: 'long' }, 'time limit'],
  [{ retryBase: 'x' }, 'retries'],
  [{ retryMaxAttempts: '0' }, 'attempts'],
])('%j is refused, and the sentence says the right form', (part, words) => {
  const result = timerBody({ ...typed, ...part });
  expect('wrong' in result && result.wrong).toContain(words);
});

const seconds = fc.integer({ min: 0, max: 10_000_000_000 }).map((ms) => ms / 1000);
const instant = fc
  .integer({ min: 0, max: Date.UTC(2100, 0, 1) })
  .map((ms) => new Date(ms).toISOString());
const ending = fc.oneof(
  fc.record({ 'repeat-for': seconds }),
  fc.record({ until: instant }),
  fc.record({ count: fc.integer({ min: 1, max: 2 ** 32 - 1 }) }),
  fc.constant({ forever: true }),
);
const cron = fc.record(
  { cron: fc.constantFrom('0 9 * * 1-5', '@daily'), timezone: fc.constant('Europe/Berlin') },
  { requiredKeys: ['cron'] },
);
const timing = fc.oneof(
  fc.record({ interval: seconds }),
  fc.tuple(fc.record({ interval: seconds }), ending).map(([a, b]) => ({ ...a, ...b })),
  fc.tuple(cron, ending).map(([a, b]) => ({ ...a, ...b })),
  fc.record({ at: instant }),
);
const text = fc.string({ unit: 'binary' });
const retry = fc.record(
  { limit: seconds, base: seconds, 'max-wait': seconds, 'max-attempts': fc.integer({ min: 1 }) },
  { requiredKeys: ['limit'] },
);
const callback = fc.record(
  {
    http: fc.record(
      {
        uri: fc.webUrl(),
        opaque: text,
        method: fc.constantFrom('PUT', 'PATCH', 'PURGE'),
        headers: fc.constant({ 'x-a': ' 1', 'x-b': '' }),
        timeout: seconds,
        batch: fc.constant(true),
        'later-member': fc.integer(),
      },
      { requiredKeys: ['uri', 'opaque'] },
    ),
    retry,
    'later-member': fc.record({ uri: fc.webUrl() }),
  },
  { requiredKeys: ['http'] },
);
const body = fc.record(
  {
    timing,
    callback,
    reliability: fc.record({ 'replication-factor': fc.integer({ min: 1, max: 16 }) }),
    tags: fc.uniqueArray(
      text.filter((tag) => tag !== ''),
      { minLength: 1, maxLength: 4 },
    ),
    statistics: fc.constant({ 'tag-info': [{ type: 'CALL', count: 2 }] }),
  },
  { requiredKeys: ['timing', 'callback', 'reliability'] },
);

test('a timer that goes through the form unchanged keeps its whole definition', () => {
  fc.assert(
    fc.property(body, (given) => {
      const timer = { ...given, id: 'a-1', state: 'pending' } as unknown as TimerShape;
      expect(timerBody(typedTimer(timer))).toEqual({ body: given });
    }),
  );
});

test('an hour that comes twice in autumn keeps its instant', () => {
  const zone = process.env['TZ'];
  onTestFinished(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });
  process.env['TZ'] = 'Europe/Berlin';
  const twice = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'];
  expect(new Set(twice.map(localText)).size).toBe(1);
  for (const at of twice) {
    const timer = {
      timing: { at },
      callback: { http: { uri: 'http://x/' } },
      reliability: { 'replication-factor': 2 },
    } as unknown as TimerShape;
    expect(timerBody(typedTimer(timer))).toMatchObject({ body: { timing: { at } } });
  }
});

test.each([
  [0, '0s'],
  [0.25, '250ms'],
  [1.5, '1.5s'],
  [90, '1m30s'],
  [5400, '1h30m'],
  [86_400, '1d'],
  [90_061.001, '1d1h1m1.001s'],
])('%d seconds read %s', (value, shown) => {
  expect(durationText(value)).toBe(shown);
  expect(secondsOf(shown)).toBe(value);
});

test('a text that is no instant has no local time', () => {
  expect(localText('soon')).toBe('');
});
