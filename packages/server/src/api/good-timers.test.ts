import type { Definition } from '@carillon/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { headerIn, type TestApi, testApi } from './stand-in.contract.ts';

const uri = 'http://receiver.example/pop';
const http = { uri, opaque: 'text' };
const callback = { http };
const once = { repeatForMs: null, untilMs: null, count: null, forever: false };

async function definitionOf(body: unknown, api: TestApi = testApi()): Promise<Definition> {
  const response = await api.ask('POST', '/timers', { body });
  expect([response.status, response.body]).toEqual([200, '']);
  return api.service.sets[0]?.definition as Definition;
}

test('the plain form of the origin works unchanged', async () => {
  const api = testApi();
  const body = {
    timing: { interval: 30, 'repeat-for': 300 },
    callback: { http: { uri, opaque: 'a text ü' } },
    reliability: { 'replication-factor': 3 },
    statistics: { 'tag-info': [{ type: 'CALL', count: 1 }] },
  };
  const response = await api.ask('POST', '/timers', { body });
  expect(response.status).toBe(200);
  expect(response.body).toBe('');
  expect(headerIn(response, 'location')).toBe('/timers/00000019000000010000000100000002-3');
  expect(headerIn(response, 'carillon-copies')).toBe('1/2');
  expect(api.service.sets).toEqual([
    {
      namespace: 'default',
      id: null,
      factor: 3,
      idempotencyKey: null,
      actor: '',
      definition: {
        timing: {
          kind: 'interval',
          intervalMs: 30_000,
          ending: { ...once, repeatForMs: 300_000 },
        },
        uri,
        opaque: 'a text ü',
        method: 'POST',
        headers: {},
        timeoutMs: null,
        retry: null,
        tags: [],
        tagInfo: [{ type: 'CALL', count: 1 }],
        batch: false,
        idempotent: false,
        origin: null,
        onFailure: null,
        event: null,
        form: 'plain',
        trace: null,
      },
    },
  ]);
});

test('a request as curl sends it is understood: form content type, trailing slash', async () => {
  const api = testApi();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: '*/*' };
  const response = await api.ask('POST', '/timers/', {
    headers,
    body: { timing: { interval: 1 }, callback },
  });
  expect([response.status, response.body]).toEqual([200, '']);
});

test.each([
  [{ interval: 0 }, { intervalMs: 0, ending: once }],
  [
    { interval: 0, 'repeat-for': 0 },
    { intervalMs: 0, ending: { ...once, repeatForMs: 0 } },
  ],
  [{ interval: 0.25 }, { intervalMs: 250, ending: once }],
  [{ interval: 1.1 }, { intervalMs: 1100, ending: once }],
  [{ interval: 0.0001 }, { intervalMs: 1, ending: once }],
  [{ interval: 0.0011 }, { intervalMs: 2, ending: once }],
  [{ interval: 3_155_760_000 }, { intervalMs: 3_155_760_000_000, ending: once }],
  [
    { interval: 1, count: 5 },
    { intervalMs: 1000, ending: { ...once, count: 5 } },
  ],
  [
    { interval: 1, forever: true },
    { intervalMs: 1000, ending: { ...once, forever: true } },
  ],
  [
    { interval: 1, forever: false },
    { intervalMs: 1000, ending: once },
  ],
  [
    { interval: 5, until: '2026-01-01T00:00:10Z' },
    { intervalMs: 5000, ending: { ...once, untilMs: Date.UTC(2026, 0, 1, 0, 0, 10) } },
  ],
  [{ at: '2026-01-01T00:00:00.5+00:00' }, { kind: 'at', atMs: Date.UTC(2026, 0, 1) + 500 }],
  [{ at: '2026-01-01t02:00:00+02:00' }, { kind: 'at', atMs: Date.UTC(2026, 0, 1) }],
  [{ at: '2026-01-01T00:00:00.0001Z' }, { kind: 'at', atMs: Date.UTC(2026, 0, 1) + 1 }],
  [{ at: '1999-12-31T00:00:00Z' }, { kind: 'at', atMs: Date.UTC(1999, 11, 31) }],
  [
    { cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin', forever: true },
    {
      kind: 'cron',
      cron: '0 9 * * MON-FRI',
      timezone: 'Europe/Berlin',
      ending: { ...once, forever: true },
    },
  ],
  [
    { cron: '*/5 * * * * *', 'repeat-for': 60 },
    { kind: 'cron', timezone: null, ending: { ...once, repeatForMs: 60_000 } },
  ],
])('timing %j', async (timing, expected) => {
  expect((await definitionOf({ timing, callback })).timing).toMatchObject(expected);
});

test('the additions to the callback are kept', async () => {
  const definition = await definitionOf({
    timing: { interval: 1 },
    callback: {
      http: {
        uri,
        method: 'PUT',
        headers: { 'X-Own': 'a', __proto__: null, e: '' },
        timeout: 2.5,
        form: 'cloudevents',
      },
      retry: { limit: 60, base: 0.5, 'max-wait': 10, 'max-attempts': 4 },
      'on-failure': { uri: 'http://told.example/' },
    },
    tags: ['a', 'b', 'a'],
  });
  expect(definition).toMatchObject({
    method: 'PUT',
    opaque: '',
    headers: { 'x-own': 'a', e: '' },
    timeoutMs: 2500,
    retry: { limitMs: 60_000, baseMs: 500, waitMsMax: 10_000, attemptCountMax: 4 },
    tags: ['a', 'b'],
    form: 'cloudevents',
    onFailure: 'http://told.example/',
    event: null,
  });
});

test('a header named __proto__ is a header', async () => {
  const text = `{"timing":{"interval":1},"callback":{"http":{"uri":"${uri}","headers":{"__proto__":"x"}}}}`;
  const { headers } = await definitionOf(text);
  expect(Object.entries(headers)).toEqual([['__proto__', 'x']]);
});

test('a retry policy that says little takes the rest from the configuration', async () => {
  const api = testApi({ 'retry.baseMs': 7, 'retry.waitMsMax': 70, 'retry.attemptCountMax': 9 });
  const retry = { limit: 0 };
  const definition = await definitionOf(
    { timing: { interval: 1 }, callback: { http, retry } },
    api,
  );
  expect(definition.retry).toEqual({ limitMs: 0, baseMs: 7, waitMsMax: 70, attemptCountMax: 9 });
});

test.each([
  'http://receiver',
  'https://receiver:8443/a/b?c=d&e=%20',
  'http://127.0.0.1:41234/x',
  'http://[::1]:80/x',
  'HTTP://Receiver.EXAMPLE/x#fragment',
  'http://xn--bcher-kva.example/',
  'http://a_b.example/',
  'http://receiver?mail=a@b',
  'http://receiver/a@b',
])('the uri %s is taken as it is', async (given) => {
  const body = { timing: { interval: 1 }, callback: { http: { uri: given } } };
  expect((await definitionOf(body)).uri).toBe(given);
});

test('no uri is taken that the full parser refuses or reads credentials in', async () => {
  const api = testApi();
  const part = fc.stringMatching(/^[a-z0-9.:@\-_%[\]x]{0,12}$/);
  const given = fc.tuple(fc.constantFrom('http://', 'https://'), part, part).map((p) => p.join(''));
  await fc.assert(
    fc.asyncProperty(given, async (text) => {
      const body = { timing: { interval: 1 }, callback: { http: { uri: text } } };
      const { status } = await api.ask('POST', '/timers', { body });
      const url = URL.parse(text);
      const right = url !== null && url.port !== '0' && !text.includes('@');
      expect([text, status]).toEqual([text, right ? 200 : 400]);
    }),
    { numRuns: 1000 },
  );
});

test.each(['"'.padEnd(60, '['), '\\'.padEnd(60, '{'), `${'['.repeat(50)}"]`])(
  'brackets inside a text are not nesting: %s',
  async (opaque) => {
    const body = { timing: { interval: 1 }, callback: { http: { uri, opaque } } };
    expect((await definitionOf(body)).opaque).toBe(opaque);
  },
);

test('members that only records have, and unknown ones, have no effect', async () => {
  const plain = await definitionOf({ timing: { interval: 1 }, callback });
  const extra = {
    id: 'x',
    idempotent: true,
    origin: { id: 'y' },
    state: 2,
    sequence: 9,
    version: 'z',
  };
  const dressed = await definitionOf({
    ...extra,
    replicas: ['evil:1'],
    timing: { ...extra, interval: 1, intervalMs: 5, ending: {} },
    callback: { ...extra, http: { ...extra, ...http, timeoutMs: 1 } },
  });
  expect(dressed).toEqual(plain);
});

test('of a member given twice the last one counts, as JSON has it', async () => {
  const text = `{"timing":{"interval":1},"timing":{"interval":2},"callback":{"http":{"uri":"${uri}"}}}`;
  expect((await definitionOf(text)).timing).toMatchObject({ intervalMs: 2000 });
});

test('the body that is read back sets the same timer again', async () => {
  const bodies = [
    { timing: { interval: 0.25, 'repeat-for': 5 }, callback, tags: ['a'] },
    {
      timing: { cron: '0 9 * * *', timezone: 'UTC', count: 3 },
      callback: { http: { ...http, headers: { a: 'b' }, timeout: 3 }, retry: { limit: 9 } },
      statistics: { 'tag-info': [{ type: 'A', count: 2 }] },
    },
    { timing: { at: '2026-01-01T00:00:05Z' }, callback, reliability: { 'replication-factor': 1 } },
    { timing: { interval: 1, until: '2026-02-01T00:00:00Z' }, callback },
    { timing: { interval: 1, forever: true }, callback },
  ];
  for (const body of bodies) {
    const api = testApi();
    const headers = { accept: 'application/json' };
    const first = await api.ask('POST', '/timers', { body, headers });
    const second = await api.ask('POST', '/timers', { body: first.body });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(api.service.sets[1]?.definition).toEqual(api.service.sets[0]?.definition);
  }
});
