/** Which scope each route needs, over the real routes: a table, so that a new route must say where it belongs. */
import { expect, test } from 'vitest';
import type { Scope } from '../access/scope.ts';
import { testToken } from '../testing/tokens.ts';
import { headerIn, testApi } from './stand-in.contract.ts';

const id = '00000019000000aa-2';
const table: Readonly<Record<string, Scope | null>> = {
  [`GET /timers`]: 'read',
  [`POST /timers`]: 'write',
  [`DELETE /timers`]: 'write',
  [`POST /timers/batch`]: 'write',
  [`GET /timers/:id`]: 'read',
  [`PUT /timers/:id`]: 'write',
  [`DELETE /timers/:id`]: 'write',
  [`GET /dead-letters`]: 'read',
  [`GET /dead-letters/summary`]: 'read',
  [`GET /dead-letters/:id`]: 'read',
  [`DELETE /dead-letters`]: 'write',
  [`DELETE /dead-letters/:id`]: 'write',
  [`POST /dead-letters/:id/redeliver`]: 'write',
  [`GET /cluster`]: 'read',
  [`POST /cluster/drain`]: 'admin',
  [`POST /cluster/resync`]: 'admin',
  [`GET /timers/:id/attempts`]: 'read',
  [`GET /timers/:id/history`]: 'read',
  [`GET /audit`]: 'read',
  [`DELETE /history/answers`]: 'write',
  [`POST /timers/preview`]: 'read',
  [`POST /timers/:id/run`]: 'write',
  [`GET /doctor`]: 'read',
  [`GET /doctor/bundle`]: 'admin',
  [`GET /locks`]: 'read',
  [`GET /metrics`]: 'read',
  [`GET /whoami`]: 'read',
  [`GET /ping`]: null,
  [`GET /healthz`]: null,
  [`GET /livez`]: null,
  [`GET /readyz`]: null,
  [`GET /openapi.json`]: null,
};
const tokens = {
  read: testToken(1, { scope: 'read' }),
  write: testToken(2, { scope: 'write' }),
  admin: testToken(3),
  /** Everything, in one namespace. */
  local: testToken(4, { scope: 'admin', namespace: 'team-a' }),
};
/** Routes beyond a single namespace. */
const whole = [
  'GET /doctor',
  'GET /doctor/bundle',
  'GET /locks',
  'POST /cluster/drain',
  'POST /cluster/resync',
];
const body = { timing: { interval: 30 }, callback: { http: { uri: 'http://receiver/' } } };

function guardedApi(overrides: Record<string, unknown> = {}) {
  const api = testApi(overrides);
  api.access.use(Object.values(tokens).map(({ token }) => token));
  return api;
}

test('the table has every route that is described, with the scope that the description says', async () => {
  const { ask } = guardedApi();
  const { paths } = JSON.parse((await ask('GET', '/openapi.json')).body) as {
    paths: Record<string, Record<string, { security?: { token?: string[] }[] }>>;
  };
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([verb]) => verb !== 'parameters')
      .map(([verb, { security }]) => [
        `${verb.toUpperCase()} ${path.replace('{id}', ':id')}`,
        security?.[0]?.token?.[0] ?? null,
      ]),
  );
  expect(Object.fromEntries(described)).toEqual(table);
});

test.each(Object.entries(table))('%s needs %s and no less', async (route, needs) => {
  const { ask, service } = guardedApi();
  const [method = '', path = ''] = route.split(' ');
  const target = `${path.replace(':id', id)}${method === 'DELETE' && path === '/timers' ? '?tag=a' : ''}`;
  const batch = path.endsWith('batch');
  const send = (headers: object) =>
    ask(method, target, {
      headers: { ...headers },
      ...(method.startsWith('P') && { body: batch ? [body] : body }),
    });
  const outcome = async (headers: object): Promise<string> => {
    const { status } = await send(headers);
    return status === 401 ? 'who?' : status === 403 ? 'no' : 'yes';
  };
  const expected = {
    read: ['who?', 'yes', 'yes', 'yes'],
    write: ['who?', 'no', 'yes', 'yes'],
    admin: ['who?', 'no', 'no', 'yes'],
  };
  const { read, write, admin, local } = tokens;
  const given = [{}, read.headers, write.headers, admin.headers, local.headers];
  const before = () => service.sets.length + service.calls.length;
  for (const [i, headers] of given.entries()) {
    const asked = before();
    const answer = await outcome(headers);
    const locally = whole.includes(route) ? 'no' : 'yes';
    expect(answer).toBe(needs === null ? 'yes' : (expected[needs][i] ?? locally));
    if (answer !== 'yes') expect(before()).toBe(asked);
  }
});

test('a refusal is problem+json with a challenge, and says which scope is needed', async () => {
  const { ask } = guardedApi();
  const none = await ask('POST', '/timers', { body });
  expect([none.status, headerIn(none, 'www-authenticate')]).toEqual([
    401,
    'Bearer realm="carillon"',
  ]);
  expect(JSON.parse(none.body)).toMatchObject({ type: 'urn:carillon:problem:unauthorized' });
  const small = await ask('POST', '/timers', { body, headers: tokens.read.headers });
  expect(headerIn(small, 'www-authenticate')).toContain('scope="write"');
  expect(JSON.parse(small.body)).toMatchObject({
    status: 403,
    detail: 'This needs a token with the scope "write"; the scope of this one is "read".',
  });
});

test('a request that is refused for its token is refused before its body is read', () => {
  const { router } = guardedApi();
  const request = { method: 'POST', path: '/timers', query: '', body: new Uint8Array(0) };
  expect(router.refuseEarly({ ...request, headers: {} })?.status).toBe(401);
  expect(router.refuseEarly({ ...request, headers: tokens.read.headers })?.status).toBe(403);
  expect(router.refuseEarly({ ...request, headers: tokens.write.headers })).toBeNull();
  const ping = { ...request, method: 'GET', path: '/ping', headers: {} };
  expect(router.refuseEarly(ping)).toBeNull();
  expect(router.refuseEarly({ ...request, path: '/nowhere', headers: {} })?.status).toBe(404);
  expect(router.refuseEarly({ ...request, method: 'PUT', headers: {} })?.status).toBe(405);
});

test('a request that is refused before its body is read is counted as answered, once, by its route', () => {
  const { router, metrics } = guardedApi();
  const request = { method: 'POST', path: '/timers', query: '', body: new Uint8Array(0) };
  const answered = (status: string) =>
    metrics.httpRequests.with({ route: 'POST /timers', status }).value;
  router.refuseEarly({ ...request, headers: {} });
  router.refuseEarly({ ...request, headers: tokens.read.headers });
  router.refuseEarly({ ...request, headers: tokens.write.headers });
  expect([answered('401'), answered('403'), metrics.httpRequests.sum()]).toEqual([1, 1, 2]);
});

test('/metrics can be opened to clients without a token', async () => {
  const { ask } = guardedApi({ 'auth.openMetrics': true });
  expect((await ask('GET', '/metrics')).status).toBe(200);
  expect((await ask('GET', '/cluster')).status).toBe(401);
});

test('/whoami tells the scope and namespace of a token, and the ones without any token', async () => {
  const { ask } = guardedApi();
  const answer = await ask('GET', '/whoami', { headers: tokens.local.headers });
  expect(JSON.parse(answer.body)).toEqual({
    auth: true,
    scope: 'admin',
    namespace: 'team-a',
    name: 'token 4',
  });
  expect(headerIn(answer, 'cache-control')).toBe('no-store');
  expect((await ask('GET', '/whoami')).status).toBe(401);
  const open = await testApi().ask('GET', '/whoami');
  expect(JSON.parse(open.body)).toEqual({
    auth: false,
    scope: 'admin',
    namespace: '*',
    name: null,
  });
});

test('a caller over its rate gets 429 with Retry-After for any request; open routes go on', async () => {
  const { ask, clock } = guardedApi({ 'limits.ratePerSecond': 1, 'limits.rateBurst': 4 });
  const headers = tokens.write.headers;
  const batch = await ask('POST', '/timers/batch', { headers, body: [body, body, {}, body, body] });
  expect(batch.status).toBe(200);
  const over = await ask('GET', '/timers', { headers });
  expect([over.status, headerIn(over, 'retry-after')]).toEqual([429, '2']);
  expect(over.headers.filter((name) => name === 'retry-after')).toHaveLength(1);
  expect((await ask('GET', '/readyz', { headers })).status).toBe(200);
  expect((await ask('GET', '/timers', { headers: tokens.read.headers })).status).toBe(200);
  await clock.advance(2000);
  expect((await ask('GET', '/timers', { headers })).status).toBe(200);
});
