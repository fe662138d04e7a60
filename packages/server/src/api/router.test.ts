import { CarillonError } from '@carillon/core';
import { describe, expect, test } from 'vitest';
import { definitionOf } from '../testing/records.ts';
import { headerIn, type StandIn, testApi, viewOf } from './stand-in.contract.ts';

const id = '00000019000000010000000100000002-2';
const own = '00000019000000aa-2';
const body = {
  timing: { interval: 30 },
  callback: { http: { uri: 'http://receiver/', opaque: 'x' } },
};

function know(service: StandIn): void {
  const definition = definitionOf({
    timing: { kind: 'at', atMs: 0 },
    uri: 'http://receiver/',
    opaque: 'x',
    origin: {
      id: own,
      versionMs: 1,
      versionTie: 0,
      sequence: 4,
      dueMs: 1000,
      missed: 2,
      attempts: 9,
      reason: 'The receiver answered 500.',
      gaveUpMs: 5000,
    },
  });
  const request = { namespace: 'default', id: null, definition, factor: 2, idempotencyKey: null };
  service.known = viewOf(request, 1);
}

describe('timers', () => {
  test('POST with Accept: application/json answers the timer as stored', async () => {
    const { ask } = testApi();
    const headers = { accept: 'text/html, application/json;q=0.9' };
    const response = await ask('POST', '/timers', { body, headers });
    expect(headerIn(response, 'content-type')).toBe('application/json; charset=utf-8');
    expect(headerIn(response, 'location')).toBe(`/timers/${id}`);
    expect(JSON.parse(response.body)).toEqual({
      id,
      state: 'pending',
      ...body,
      callback: { http: { ...body.callback.http, method: 'POST' } },
      reliability: { 'replication-factor': 2 },
      set: '2026-01-01T00:00:00.000Z',
      sequence: 0,
      attempt: 0,
      'next-due': '2026-01-01T00:00:30.000Z',
      'next-attempt': null,
      'last-outcome': null,
      'last-failure': null,
      version: '1.0',
      replicas: ['a:1'],
    });
  });

  test.each(['application/json;q=0', 'text/html, application/json; q=0.000', 'application/json-x'])(
    'POST with Accept: %s answers no JSON',
    async (accept) => {
      const { ask } = testApi();
      const response = await ask('POST', '/timers', { body, headers: { accept } });
      expect([response.status, response.body]).toEqual([200, '']);
    },
  );

  test('PUT passes the id on, with or without bloom filter, and answers the refreshed one', async () => {
    const { ask, service } = testApi();
    for (const each of [id, own]) {
      const response = await ask('PUT', `/timers/${each}`, { body });
      expect([response.status, headerIn(response, 'location')]).toEqual([200, `/timers/${each}`]);
    }
    expect(service.sets.map((set) => set.id)).toEqual([
      { hi: 0x19, lo: 1, bloomHi: 1, bloomLo: 2, factor: 2 },
      { hi: 0x19, lo: 0xaa, bloomHi: 0, bloomLo: 0, factor: 2 },
    ]);
    expect(service.sets.map((set) => set.factor)).toEqual([null, null]);
  });

  test('DELETE answers 200 and the location whether or not the timer is there', async () => {
    const { ask, service } = testApi();
    const response = await ask('DELETE', `/timers/${id}`);
    expect([response.status, response.body]).toEqual([200, '']);
    expect(headerIn(response, 'location')).toBe(`/timers/${id}`);
    expect(headerIn(response, 'carillon-copies')).toBe('2/2');
    expect(service.calls).toHaveLength(1);
  });

  test('GET answers the timer, or 404', async () => {
    const { ask, service } = testApi();
    expect((await ask('GET', `/timers/${id}`)).status).toBe(404);
    know(service);
    const response = await ask('GET', `/timers/${id}`);
    expect([response.status, (JSON.parse(response.body) as { id: string }).id]).toEqual([200, id]);
  });

  test.each([
    'x',
    `${id}x`,
    `${id.slice(0, -1)}0`,
    `${id.slice(0, -1)}17`,
    id.toUpperCase().replace('19', 'AB'),
    `${id}/more`,
    '%2e%2e',
  ])('the malformed id %s is 404 for every method, and reaches no member', async (bad) => {
    const { ask, service } = testApi();
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await ask(method, `/timers/${bad}`, { body })).status).toBe(404);
    }
    expect([service.sets, service.calls]).toEqual([[], []]);
  });

  test('the answer to a malformed id says its form', async () => {
    const answer = await testApi().ask('GET', `/timers/${id.slice(0, -1)}17`);
    expect(JSON.parse(answer.body).detail).toContain('a factor from 1 to 16: 00000000000004d2-2.');
  });

  test('an idempotency key reaches the service and marks the definition', async () => {
    const { ask, service } = testApi();
    await ask('POST', '/timers', { body, headers: { 'idempotency-key': 'order 7' } });
    await ask('PUT', `/timers/${id}`, { body, headers: { 'idempotency-key': 'order 7' } });
    expect(service.sets.map((set) => [set.idempotencyKey, set.definition.idempotent])).toEqual([
      ['order 7', true],
      [null, false],
    ]);
  });

  test.each(['', 'x'.repeat(256), 'tab\t', 'ü'])(
    'the idempotency key %j is refused',
    async (key) => {
      const { ask, service } = testApi();
      const response = await ask('POST', '/timers', { body, headers: { 'idempotency-key': key } });
      expect([response.status, service.sets]).toEqual([400, []]);
    },
  );

  test.each([
    ['key_reused', 422, undefined],
    ['too_many', 429, '1'],
    ['no_copies', 503, '1'],
    ['disk_full', 507, '30'],
  ] as const)('a set refused with %s is a %i problem', async (code, status, retryAfter) => {
    const { ask, service } = testApi();
    service.answer = () => ({ ok: false, error: new CarillonError(code, 'Why.') });
    const response = await ask('POST', '/timers', { body });
    expect([response.status, headerIn(response, 'retry-after')]).toEqual([status, retryAfter]);
    expect(JSON.parse(response.body)).toMatchObject({ status, detail: 'Why.' });
  });

  test('a compressed body is 415', async () => {
    const { ask } = testApi();
    const response = await ask('POST', '/timers', {
      body,
      headers: { 'content-encoding': 'gzip' },
    });
    expect(response.status).toBe(415);
  });
});

describe('batch', () => {
  const bad = { ...body, timing: { interval: -1 } };

  test('JSON array: one outcome per item, in order; a bad one does not spoil the rest', async () => {
    const { ask, service } = testApi();
    const response = await ask('POST', '/timers/batch', { body: [body, bad, 7, body] });
    expect(response.status).toBe(200);
    expect(JSON.parse(response.body)).toEqual([
      { status: 200, id, copies: '1/2', version: '7.1' },
      expect.objectContaining({ status: 400, pointer: '/timing/interval' }),
      expect.objectContaining({ status: 400, pointer: '' }),
      { status: 200, id: id.replace('00000001', '00000002'), copies: '1/2', version: '7.1' },
    ]);
    expect(service.sets).toHaveLength(2);
  });

  test('NDJSON in, NDJSON out; blank lines are no items, a line of nonsense is a bad one', async () => {
    const { ask } = testApi();
    const text = `${JSON.stringify(body)}\r\n\n{oops\n  \n${JSON.stringify(body)}`;
    const headers = { 'content-type': 'application/x-ndjson; charset=utf-8' };
    const response = await ask('POST', '/timers/batch', { body: text, headers });
    expect(headerIn(response, 'content-type')).toBe('application/x-ndjson');
    const outcomes = response.body.trimEnd().split('\n');
    expect(outcomes.map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([
      200, 400, 200,
    ]);
  });

  test('an item that the service refuses has its own status', async () => {
    const { ask, service } = testApi();
    const { answer } = service;
    const error = new CarillonError('too_many', 'Full.');
    service.answer = (request, number) =>
      number === 2 ? { ok: false, error } : answer(request, number);
    const response = await ask('POST', '/timers/batch', { body: [body, body, body] });
    expect(JSON.parse(response.body)).toMatchObject([
      { status: 200 },
      { status: 429 },
      { status: 200 },
    ]);
  });

  test('each item has an idempotency key of its own, and none that a single set can have', async () => {
    const { ask, service } = testApi();
    const headers = { 'idempotency-key': 'k' };
    await ask('POST', '/timers/batch', { body: [body, bad, body], headers });
    expect(service.sets.map((set) => set.idempotencyKey)).toEqual(['k\n0', 'k\n2']);
  });

  test('an empty batch is accepted, a batch that is no list is refused', async () => {
    const { ask } = testApi();
    expect((await ask('POST', '/timers/batch', { body: [] })).body).toBe('[]');
    expect((await ask('POST', '/timers/batch', { body })).status).toBe(400);
    expect((await ask('POST', '/timers/batch', { body: '[' })).status).toBe(400);
  });

  test('too many items are 413, and none of them is set', async () => {
    const { ask, service } = testApi({ 'limits.batchItemCountMax': 2 });
    expect((await ask('POST', '/timers/batch', { body: [body, body, body] })).status).toBe(413);
    expect(service.sets).toEqual([]);
  });

  test('items may be nested as deep as single timers', async () => {
    const { ask } = testApi({ 'limits.jsonDepthMax': 4 });
    const fits = { ...body, other: [[[1]]] };
    const over = { ...body, other: [[[[1]]]] };
    expect((await ask('POST', '/timers', { body: fits })).status).toBe(200);
    expect((await ask('POST', '/timers/batch', { body: [fits] })).body).toContain('"status":200');
    expect((await ask('POST', '/timers/batch', { body: [over] })).status).toBe(400);
  });
});

describe('dead letters', () => {
  test('are listed with the pop they stand for', async () => {
    const { ask, service } = testApi();
    know(service);
    const response = await ask('GET', '/dead-letters?limit=5');
    const every = { receiver: null, failure: null, tag: null };
    const asked = { namespace: 'default', limit: 5, cursor: null, ...every };
    expect(service.calls[0]?.argument).toEqual(asked);
    expect(JSON.parse(response.body)).toMatchObject({
      cursor: null,
      'dead-letters': [
        {
          id,
          timer: own,
          sequence: 4,
          due: '1970-01-01T00:00:01.000Z',
          missed: 2,
          attempts: 9,
          reason: 'The receiver answered 500.',
          'gave-up': '1970-01-01T00:00:05.000Z',
        },
      ],
    });
  });

  test('are sent again and removed, or 404', async () => {
    const { ask, service } = testApi();
    expect((await ask('POST', `/dead-letters/${id}/redeliver`)).status).toBe(404);
    expect((await ask('DELETE', `/dead-letters/${id}`)).status).toBe(404);
    know(service);
    expect((await ask('POST', `/dead-letters/${id}/redeliver`)).status).toBe(200);
    expect((await ask('DELETE', `/dead-letters/${id}`)).status).toBe(200);
    expect((await ask('DELETE', '/dead-letters')).status).toBe(400);
    expect(JSON.parse((await ask('DELETE', '/dead-letters?all=true')).body)).toEqual({
      discarded: 4,
      more: false,
    });
    expect((await ask('POST', '/dead-letters/x/redeliver')).status).toBe(404);
    expect(service.calls.map((call) => call.name)).toEqual([
      'redeliver',
      'discard',
      'redeliver',
      'discard',
      'discardMany',
    ]);
  });
});

describe('operating', () => {
  test.each(['/ping', '/healthz', '/livez', '/readyz'])('%s answers OK', async (path) => {
    const { ask } = testApi();
    const response = await ask('GET', path);
    expect([response.status, response.body]).toEqual([200, 'OK']);
  });

  test('a member that is not ready says why', async () => {
    const { ask, service } = testApi();
    service.notReady = 'The member is starting.';
    const response = await ask('GET', '/readyz');
    expect([response.status, headerIn(response, 'retry-after')]).toEqual([503, '1']);
    expect(response.body).toContain('The member is starting.');
    expect((await ask('GET', '/healthz')).status).toBe(200);
  });

  test('requests are counted by route and status, without ids', async () => {
    const { ask } = testApi();
    await ask('DELETE', `/timers/${id}`);
    await ask('GET', `/timers/${id}`);
    await ask('GET', '/nowhere');
    const { body: text } = await ask('GET', '/metrics');
    expect(text).toContain(
      'carillon_http_requests_total{route="DELETE /timers/:id",status="200"} 1\n',
    );
    expect(text).toContain(
      'carillon_http_requests_total{route="GET /timers/:id",status="404"} 1\n',
    );
    expect(text).toContain('carillon_http_requests_total{route="none",status="404"} 1\n');
    expect(text).not.toContain(id);
  });

  test.each([
    ['GET', '/timers/', 405, 'Leave out the slash at its end: GET /timers.'],
    ['DELETE', '/timers/', 405, 'Leave out the slash at its end: DELETE /timers.'],
    ['GET', '/cluster/', 404, 'Leave out the slash at its end: GET /cluster.'],
    ['GET', `/timers/${id}/`, 404, `Leave out the slash at its end: GET /timers/${id}.`],
    ['PUT', '/timers/', 405, 'Allowed here: POST, OPTIONS.'],
    ['POST', '/cluster/', 404, 'There is no such path; /openapi.json lists them all.'],
    ['GET', '//', 404, 'There is no such path; /openapi.json lists them all.'],
  ])('%s %s is %i and says whether the slash is too much', async (method, path, status, end) => {
    const answer = await testApi().ask(method, path);
    expect(answer.status).toBe(status);
    const { detail } = JSON.parse(answer.body) as { detail: string };
    expect(detail.slice(-end.length)).toBe(end);
  });

  test('a path has one spelling: a slash behind it is another path', async () => {
    const { ask, service } = testApi();
    const paths = [
      '/metrics',
      '/ping',
      '/cluster',
      '/cluster/drain',
      '/openapi.json',
      '/dead-letters',
      '/timers/batch',
      '/whoami',
      `/timers/${id}`,
      `/timers/${id}/attempts`,
    ];
    for (const path of paths)
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
        expect([path, (await ask(method, `${path}/`, { body })).status]).toEqual([path, 404]);
    // The one place where clients have always been allowed to write it.
    expect((await ask('POST', '/timers/', { body })).status).toBe(200);
    expect((await ask('GET', '/timers/')).status).toBe(405);
    expect((await ask('DELETE', '/timers/')).status).toBe(405);
    expect([service.sets.length, service.calls]).toEqual([1, []]);
  });

  test('the cluster is shown', async () => {
    const { ask } = testApi();
    const response = await ask('GET', '/cluster');
    expect(JSON.parse(response.body)).toMatchObject({
      'view-id': 'v',
      members: [{ name: 'a:1', labels: { zone: 'x' }, 'clock-offset-ms': null }],
      repair: { 'unconfirmed-records': 0 },
    });
  });

  test('a drain begins and is answered before it ends', async () => {
    const { ask, service, clock } = testApi();
    service.drained = new Promise(() => {});
    const answer = ask('POST', '/cluster/drain');
    await clock.advance(1);
    expect((await answer).status).toBe(202);
    expect(service.calls).toEqual([
      { name: 'drain', argument: null },
      { name: 'noteOrder', argument: { action: 'drain', namespace: 'default', actor: '' } },
    ]);
  });

  test('a drain that is refused says so, and is not in the audit', async () => {
    const { ask, service } = testApi();
    service.drained = Promise.reject(new CarillonError('conflict', 'There is no other member.'));
    expect((await ask('POST', '/cluster/drain')).status).toBe(409);
    expect(service.calls).toEqual([{ name: 'drain', argument: null }]);
  });

  test('a resync begins and is answered with how far it is', async () => {
    const { ask, service } = testApi();
    const response = await ask('POST', '/cluster/resync');
    expect(response.status).toBe(202);
    expect(JSON.parse(response.body)).toEqual({ resync: service.cluster().resync });
    expect(service.calls.map(({ name }) => name)).toEqual(['resync', 'noteOrder']);
  });
});

describe('routing', () => {
  test.each([
    ['PATCH', '/timers', 'POST, GET, HEAD, DELETE, OPTIONS'],
    ['PUT', '/timers', 'POST, GET, HEAD, DELETE, OPTIONS'],
    ['POST', `/timers/${id}`, 'PUT, GET, HEAD, DELETE, OPTIONS'],
    ['GET', '/timers/batch', 'POST, OPTIONS'],
    ['POST', '/ping', 'GET, HEAD, OPTIONS'],
    ['GET', '/cluster/drain', 'POST, OPTIONS'],
    ['toString', '/timers', 'POST, GET, HEAD, DELETE, OPTIONS'],
  ])('%s %s is 405 with Allow', async (method, path, allow) => {
    const { ask } = testApi();
    const response = await ask(method, path, { body });
    expect([response.status, headerIn(response, 'allow')]).toEqual([405, allow]);
  });

  test.each([
    '',
    '/',
    '//',
    '/timer',
    '/timers//',
    '/TIMERS',
    '/timers/a/b',
    '/dead-letters/x/y',
    '/__proto__',
  ])('the path %j is 404', async (path) => {
    expect((await testApi().ask('GET', path)).status).toBe(404);
  });

  test('OPTIONS tells the allowed methods, HEAD is answered like GET', async () => {
    const { ask } = testApi();
    const options = await ask('OPTIONS', '/ping');
    expect([options.status, headerIn(options, 'allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    expect(await ask('HEAD', '/ping')).toEqual(await ask('GET', '/ping'));
  });

  test('a bug in a handler is a 500 without particulars, and is reported', async () => {
    const { ask, service, bugs } = testApi();
    service.get = () => Promise.reject(new Error('secret'));
    service.unready = () => {
      throw new Error('secret');
    };
    for (const path of [`/timers/${id}`, '/readyz']) {
      const response = await ask('GET', path);
      expect(response.status).toBe(500);
      expect(response.body).not.toContain('secret');
    }
    expect(bugs).toHaveLength(2);
  });
});
