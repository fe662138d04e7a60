import { describe, expect, test } from 'vitest';
import { definitionOf } from '../testing/records.ts';
import { testApi, viewOf } from './stand-in.contract.ts';

const id = '00000019000000010000000100000002-2';

describe('lists', () => {
  test('parameters reach the service, the page comes back', async () => {
    const { ask, service } = testApi();
    const request = { namespace: 'default', id: null, definition: definitionOf(), factor: 2 };
    service.known = viewOf({ ...request, idempotencyKey: null }, 1);
    const response = await ask('GET', '/timers?tag=a%20b&state=pending&limit=7&cursor=abc');
    expect(service.calls[0]?.argument).toEqual({
      namespace: 'default',
      tag: 'a b',
      state: 'pending',
      limit: 7,
      cursor: 'abc',
      member: null,
      role: null,
      tagPrefix: null,
      receiver: null,
      failure: null,
      order: null,
      fromMs: null,
      toMs: null,
      wantTotal: false,
    });
    expect(JSON.parse(response.body)).toMatchObject({
      timers: [{ id }],
      cursor: 'next',
      missing: ['b:1'],
    });
  });

  test.each([
    ['/timers?', 200],
    ['/ping?t=1', 200],
    ['/openapi.json?v=2', 200],
  ])('GET %s is %i: an empty query is none, and open paths heed none', async (path, status) => {
    expect((await testApi().ask('GET', path)).status).toBe(status);
  });

  test('without parameters: everything, a hundred at a time', async () => {
    const { ask, service } = testApi();
    await ask('GET', '/timers');
    const expected = { tag: null, state: null, limit: 100, cursor: null };
    expect(service.calls[0]?.argument).toMatchObject(expected);
  });

  test.each([
    'limit=0',
    'limit=1001',
    'limit=-1',
    'limit=1.5',
    'limit=1e2',
    'limit=x',
    'limit=',
    'state=live',
    'state=',
    'tag=',
    'tag-prefix=',
    'receiver=a.example',
    'failure=no%20way',
    'order=id',
    'order=',
    'from=tomorrow',
    'to=2030-13-01T00:00:00Z',
    'state=dead&order=due',
    'state=dead&to=2030-01-01T00:00:00Z',
    'total=yes',
    `tag=${'x'.repeat(129)}`,
    'cursor=',
    'tga=x',
    'tag=a&tag=b',
    'cursor=a%20b',
    `cursor=${'x'.repeat(513)}`,
  ])('%s is 400', async (query) => {
    const { ask, service } = testApi();
    expect((await ask('GET', `/timers?${query}`)).status).toBe(400);
    expect(service.calls).toEqual([]);
  });

  test.each([
    ['GET', '/timers?tga=x', 'There is no parameter tga here. Did you mean tag?'],
    ['DELETE', '/timers?tga=x', 'There is no parameter tga here. Did you mean tag?'],
    [
      'GET',
      '/dead-letters?reciever=x',
      'There is no parameter reciever here. Did you mean receiver?',
    ],
    ['GET', '/dead-letters/summary?limit=1', 'The known ones are tag, receiver, failure.'],
    ['DELETE', '/dead-letters?all=true&reciever=x', 'Did you mean receiver?'],
    ['GET', `/timers/${id}/history?namespace=*`, 'There is no parameter namespace here.'],
    ['GET', '/audit?since=2027-02-30T00:00:00Z', 'since has the day 2027-02-30, which does not'],
    ['GET', '/audit?sinse=1h', 'Did you mean since?'],
    ['GET', '/audit?until=2027-01-30T00:00:00+01:00', 'in a URL with + as %2B.'],
    ['GET', '/timers?from=2027-01-30T24:00:00Z', 'from has a time of day or an offset that'],
    ['POST', '/timers/preview?zone=UTC', 'The known ones are timezone.'],
    ['GET', '/timers?tag=a&tag=b', 'The parameter tag is there twice.'],
    ['POST', '/timers?x=1', 'There is no parameter x here: there are none.'],
    ['PUT', `/timers/${id}?x`, 'There is no parameter x here: there are none.'],
    ['GET', `/timers/${id}?limit=1`, 'There is no parameter limit here: there are none.'],
    ['GET', `/timers/${id}/attempts?x=1`, 'There is no parameter x here: there are none.'],
    ['POST', '/timers/batch?x=1', 'There is no parameter x here: there are none.'],
    ['GET', '/cluster?x=1', 'There is no parameter x here: there are none.'],
    ['POST', '/cluster/drain?x=1', 'There is no parameter x here: there are none.'],
    ['GET', '/timers?tag=%ff', 'The parameter tag must be UTF-8, percent-encoded.'],
    ['GET', '/timers?tag=%ef%bf%bd%ff', 'The parameter tag must be UTF-8, percent-encoded.'],
    ['DELETE', '/timers?tag=%c3', 'The parameter tag must be UTF-8, percent-encoded.'],
    ['GET', '/audit?actor=%ff', 'The parameter actor must be UTF-8, percent-encoded.'],
    ['GET', '/timers?failure=banana', '(3xx, 4xx, 5xx), one of refused, timeout, unresolvable'],
    ['GET', '/timers?failure=null', 'or an HTTP status from 100 to 599.'],
    ['GET', '/dead-letters?failure=6xx', 'The parameter failure must be a class'],
    ['DELETE', '/dead-letters?all=true&failure=999', 'The parameter failure must be a class'],
    ['GET', '/timers?receiver=http://a%20b', 'each of them whole.'],
    ['GET', '/timers?receiver=http://a:0/', 'each of them whole.'],
  ])('%s %s is 400 with a sentence, and nothing is done', async (method, target, sentence) => {
    const { ask, service } = testApi();
    const { status, body } = await ask(method, target, { body: '{}' });
    const { detail } = JSON.parse(body) as { detail: string };
    expect([status, detail]).toEqual([400, expect.stringContaining(sentence)]);
    expect(service.calls).toEqual([]);
  });

  test.each(['3xx', '503', '599', 'refused', 'tls', 'merged', 'unknown'])(
    'the failure %s reaches the service',
    async (failure) => {
      const { ask, service } = testApi();
      expect((await ask('GET', `/timers?failure=${failure}`)).status).toBe(200);
      expect(service.calls.at(-1)?.argument).toMatchObject({ failure });
    },
  );

  test('a tag with the character that stands for bytes that are no text is a tag like others', async () => {
    const { ask, service } = testApi();
    await ask('GET', '/timers?tag=a%EF%BF%BDb');
    expect(service.calls.at(-1)?.argument).toMatchObject({ tag: 'a\u{fffd}b' });
  });

  test('order, range, filters and the wish for a total reach the service', async () => {
    const { ask, service } = testApi();
    await ask(
      'GET',
      '/timers?order=due&from=2030-01-01T00:00:00Z&to=2030-01-02T00:00:00.5Z&tag-prefix=order:&receiver=http://a/x&failure=5xx&state=failing&total=true',
    );
    expect(service.calls.at(-1)?.argument).toMatchObject({
      order: 'due',
      fromMs: Date.UTC(2030, 0, 1),
      toMs: Date.UTC(2030, 0, 2) + 500,
      tagPrefix: 'order:',
      receiver: 'http://a/x',
      failure: '5xx',
      state: 'failing',
      wantTotal: true,
    });
  });

  test('a member and its role for the timers reach the service', async () => {
    const { ask, service } = testApi();
    await ask('GET', '/timers?member=n1&role=backup');
    expect(service.calls.at(-1)?.argument).toMatchObject({ member: 'n1', role: 'backup' });
    for (const query of ['member=', 'role=primary', 'member=n1&role=leader']) {
      expect((await ask('GET', `/timers?${query}`)).status).toBe(400);
    }
  });

  test('DELETE by tag answers the count; without a tag it is 400 and cancels nothing', async () => {
    const { ask, service } = testApi();
    const response = await ask('DELETE', '/timers?tag=a');
    expect([response.status, response.body]).toEqual([200, '{"cancelled":3}']);
    expect((await ask('DELETE', '/timers')).status).toBe(400);
    expect((await ask('DELETE', '/timers?tga=a')).status).toBe(400);
    expect(service.calls).toEqual([{ name: 'cancelByTag', argument: 'a' }]);
  });
});
