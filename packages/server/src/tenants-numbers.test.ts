/**
 * Tenants and each other's numbers, where a tokens file has a number key: a tenant may try ids, cursors and
 * idempotency keys of another one, or numbers computed from them: every answer is the same, byte for byte, as if the
 * other one did not exist. Shown with two worlds: in one the other tenant has timers, in the other one it has none.
 */
import { createHash } from 'node:crypto';
import {
  hex16,
  NumberSource,
  OpenNumbering,
  parseHex16,
  parseTimerId,
  State,
  type TimerRecord,
} from '@carillon/core';
import { afterEach, describe, expect, test } from 'vitest';
import { Access } from './access/access.ts';
import { numberingOf } from './access/number-key.ts';
import { Dashboard } from './api/routes/dashboard.ts';
import { defaultConfig } from './config/config.ts';
import type { ApiResponse } from './http/message.ts';
import { header, type OneMember, startOne, timerBody } from './testing/one-member.ts';
import { testToken } from './testing/tokens.ts';

const open = new OpenNumbering();
const victim = testToken(1, { namespace: 'team-a' });
const tenants = {
  'team-b': testToken(2, { namespace: 'team-b' }),
  /** In this namespace the numbers of clients are the numbers that members keep. */
  default: testToken(3, { namespace: 'default' }),
};
const operator = testToken(4);
const tokens = [victim, operator, ...Object.values(tenants)].map(({ token }) => token);

let worlds: OneMember[] = [];
afterEach(async () => {
  for (const world of worlds) await world.stop();
  worlds = [];
});

async function newWorld(): Promise<OneMember> {
  const world = await startOne({
    config: { retry: { ...defaultConfig.retry, attemptCountMax: 1, limitMs: 0 } },
    more: (clock) => {
      const access = new Access({ clock });
      access.use(tokens);
      const about = { clock, self: 'n0', version: 'test', factor: 2, folder: '/none' };
      const dashboard = new Dashboard({ ...about, knows: () => true });
      return { access, numbering: numberingOf('0123abcd'.repeat(8)), routes: dashboard.routes };
    },
  });
  world.receivers.script = ({ uri }) => (uri.startsWith('http://broken') ? 500 : 200);
  worlds.push(world);
  return world;
}

function recordsOf(world: OneMember, namespace: string): TimerRecord[] {
  const handles: number[] = [];
  world.member.store.next(null, 1000, handles);
  return handles
    .map((handle) => world.member.store.read(handle))
    .filter((record) => record.namespace === namespace);
}

/**
 * The property of a tenant: timers with numbers of its own choice and of the member's, by key and in a batch, and a
 * dead letter.
 */
interface Property {
  readonly ids: readonly string[];
  readonly cursor: string;
  /** When the timers were set. */
  readonly wallMs: number;
}

const keys = ['key-1', 'batch-1'];
const tagged = { ...timerBody(600), tags: ['orders'] };

async function settleIn(world: OneMember, who: typeof victim): Promise<Property> {
  const { headers } = who;
  const ask = (method: string, path: string, body?: unknown, more = {}): Promise<ApiResponse> =>
    world.request(method, path, body, { ...headers, ...more });
  await ask('POST', '/timers', timerBody(1, { uri: 'http://broken.test/' }));
  await world.clock.advance(5000);
  const wallMs = world.clock.wall();
  await ask('POST', '/timers', tagged);
  await ask('PUT', '/timers/0000000000000001-1', tagged);
  await ask('POST', '/timers', tagged, { 'idempotency-key': keys[0] });
  await ask('POST', '/timers/batch', [tagged, tagged], { 'idempotency-key': keys[1] });
  const timers = listed(await ask('GET', '/timers'), 'timers');
  const letters = listed(await ask('GET', '/dead-letters'), 'dead-letters');
  expect([timers.length, letters.length]).toEqual([5, 1]);
  const { cursor } = JSON.parse((await ask('GET', '/timers?limit=1')).body) as { cursor: string };
  const ids = [...timers, ...letters].map(({ id }) => id);
  return { ids, cursor, wallMs };
}

/** The number of the member, as ids of `default` show it. */
async function memberNumber(): Promise<number> {
  const { request } = await newWorld();
  const set = await request('POST', '/timers', tagged, tenants.default.headers);
  const path = header(set, 'location') ?? '';
  return ((parseTimerId(path.slice('/timers/'.length))?.lo ?? 0) >>> 12) & 1023;
}

function listed(answer: ApiResponse, name: string): { readonly id: string }[] {
  return (JSON.parse(answer.body) as Record<string, { id: string }[]>)[name] ?? [];
}

/** Numbers that a tenant would try, as clients of its namespace write them. */
function aimsOf({ ids, cursor, wallMs }: Property, namespace: string, member: number): string[] {
  const seen = ids.map((id) => parseTimerId(id) ?? { hi: 0, lo: 0 });
  const digests = [...keys, `${keys[1]}\n0`, `${keys[1]}\n1`].map((key) => {
    const text = JSON.stringify(['team-a', key]);
    const digest = createHash('sha256').update(text).digest();
    return { hi: digest.readUInt32LE(0), lo: digest.readUInt32LE(4) };
  });
  // A member makes numbers of the time, its own number, which all ids of `default` show, and a counter.
  const source = new NumberSource(wallMs - 1);
  const foreseen = Array.from({ length: 5 }, () => source.next(wallMs, member));
  const known = [...seen, ...foreseen, ...digests, parseHex16(cursor) ?? { hi: 0, lo: 0 }];
  const mapped = known.map((number) => open.inside('team-a', number));
  const aimed = [...known, ...mapped].map((each) => open.outside(namespace, each));
  const numbers = [...known, ...aimed].map(({ hi, lo }) => hex16(hi, lo));
  return [...ids, ...numbers.map((number) => `${number}-1`)];
}

type Ask = (method: string, path: string, body?: unknown, key?: string) => Promise<void>;

/** How a tenant uses each existing route. A new route must be added here with its requests. */
const uses: Readonly<Record<string, (ask: Ask, aims: readonly string[]) => Promise<void>>> = {
  'GET /timers/:id': withEach((ask, id) => ask('GET', `/timers/${id}`)),
  'GET /timers/:id/attempts': withEach((ask, id) => ask('GET', `/timers/${id}/attempts`)),
  'POST /timers/:id/run': withEach((ask, id) => ask('POST', `/timers/${id}/run`)),
  'POST /timers/preview': (ask) => ask('POST', '/timers/preview', { timing: { interval: 60 } }),
  'POST /dead-letters/:id/redeliver': withEach((ask, id) =>
    ask('POST', `/dead-letters/${id}/redeliver`),
  ),
  'GET /dead-letters/:id': withEach((ask, id) => ask('GET', `/dead-letters/${id}`)),
  'GET /dead-letters/summary': plain,
  'DELETE /dead-letters/:id': withEach((ask, id) => ask('DELETE', `/dead-letters/${id}`)),
  'DELETE /timers/:id': withEach((ask, id) => ask('DELETE', `/timers/${id}`)),
  'PUT /timers/:id': withEach(async (ask, id) => {
    await ask('PUT', `/timers/${id}`, timerBody(60, { opaque: 'ours' }));
    await ask('GET', `/timers/${id}`);
    // As Chronos writes ids: the member looks for the factor.
    await ask('PUT', `/timers/${id.slice(0, 16)}`, timerBody(61, { opaque: 'ours' }));
  }),
  'POST /timers': async (ask) => {
    for (const key of keys) await ask('POST', '/timers', tagged, key);
    await ask('POST', '/timers', tagged);
  },
  'POST /timers/batch': async (ask, aims) => {
    for (const key of keys) {
      await ask('POST', '/timers/batch', [tagged, tagged], key);
      await ask('POST', '/timers/batch', [{ change: 'set', key, timer: tagged }]);
    }
    const replaces = aims.map((id) => ({ change: 'replace', id, timer: timerBody(62) }));
    await ask('POST', '/timers/batch', replaces);
    await ask(
      'POST',
      '/timers/batch',
      aims.map((id) => ({ change: 'cancel', id })),
    );
  },
  'GET /timers': async (ask, aims) => {
    for (const query of ['', '?tag=orders', '?state=pending', '?limit=1']) {
      await ask('GET', `/timers${query}`);
    }
    for (const id of aims) await ask('GET', `/timers?limit=2&cursor=${id.slice(0, 16)}`);
  },
  'GET /dead-letters': async (ask, aims) => {
    for (const id of aims) await ask('GET', `/dead-letters?cursor=${id.slice(0, 16)}`);
  },
  'DELETE /dead-letters': (ask) => ask('DELETE', '/dead-letters?all=true'),
  'DELETE /timers': (ask) => ask('DELETE', '/timers?tag=orders'),
  'GET /timers/:id/history': withEach((ask, id) => ask('GET', `/timers/${id}/history`)),
  'GET /audit': async (ask) => {
    for (const query of ['', '?action=set', '?actor=a', '?limit=1'])
      await ask('GET', `/audit${query}`);
  },
  'DELETE /history/answers': (ask) => ask('DELETE', '/history/answers'),
  'GET /locks': plain,
  'POST /cluster/drain': plain,
  'POST /cluster/resync': plain,
  'GET /whoami': plain,
  'GET /ping': plain,
  'GET /healthz': plain,
  'GET /livez': plain,
  'GET /readyz': plain,
  'GET /openapi.json': plain,
  'GET /': plain,
  'GET /docs': plain,
  'GET /dashboard/:id': withEach((ask, id) => ask('GET', `/dashboard/${id}`)),
  'GET /events': plain,
  // These routes show the sum over all namespaces of a member: see the test below.
  'GET /cluster': () => Promise.resolve(),
  'GET /metrics': () => Promise.resolve(),
  // A token that is bound to a namespace may not ask these.
  'GET /doctor': (ask) => ask('GET', '/doctor'),
  'GET /doctor/bundle': (ask) => ask('GET', '/doctor/bundle'),
};
const dashboardRoutes = ['GET /', 'GET /docs', 'GET /dashboard/:id', 'GET /events'];

function withEach(one: (ask: Ask, id: string) => Promise<void>) {
  return async (ask: Ask, aims: readonly string[]): Promise<void> => {
    for (const id of aims) await one(ask, id);
  };
}

/** Routes that take no id are asked nothing but their own path. */
function plain(): Promise<void> {
  return Promise.resolve();
}

/** Everything that the member told the tenant. */
async function answersOf(
  world: OneMember,
  { headers }: typeof victim,
  aims: readonly string[],
): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const [route, use] of Object.entries(uses)) {
    const ask: Ask = async (method, path, sent, key) => {
      const more = key === undefined ? {} : { 'idempotency-key': key };
      const answer = await world.request(method, path, sent, { ...headers, ...more });
      // A position in the history of a member depends on the changes of others; a cipher keeps the tenant from reading
      // it.
      const isAudit = path.startsWith('/audit');
      const body = isAudit ? answer.body.replace(/"cursor":"[^"]+"/, '"cursor"') : answer.body;
      const length = isAudit ? 'content-length' : '';
      const shown = Object.entries(answer.headers).filter(([name]) => name !== length);
      answers.push([method, path, key, answer.status, shown, body]);
    };
    const [method = '', path = ''] = route.split(' ');
    if (use === plain) await ask(method, path);
    await use(ask, aims);
    await world.clock.advance(1);
  }
  return answers;
}

test('the table has every route', async () => {
  const { request } = await newWorld();
  const { paths } = JSON.parse((await request('GET', '/openapi.json')).body) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((verb) => verb !== 'parameters')
      .map((verb) => `${verb.toUpperCase()} ${path.replace('{id}', ':id')}`),
  );
  expect(Object.keys(uses).toSorted()).toEqual([...described, ...dashboardRoutes].toSorted());
});

describe.each(['team-b', 'default'] as const)('a tenant of %s', (namespace) => {
  const tenant = tenants[namespace];

  test('is told the same on every route whether others have these ids and keys or not', async () => {
    const [taken, free] = [await newWorld(), await newWorld()];
    const property = await settleIn(taken, victim);
    const before = recordsOf(taken, 'team-a');
    for (const { clock } of [taken, free]) await clock.advanceTo(10_000);
    const aims = aimsOf(property, namespace, await memberNumber());
    const answers = await answersOf(taken, tenant, aims);
    expect(answers).toEqual(await answersOf(free, tenant, aims));
    const statuses = new Set(answers.map((answer) => (answer as unknown[])[3]));
    expect(statuses).toEqual(new Set([200, 403, 404]));
    expect(recordsOf(taken, 'team-a')).toEqual(before);
    expect(recordsOf(taken, namespace)).toEqual(recordsOf(free, namespace));
  });

  test('and the others both have their timers, with one id and under one key, and both pop', async () => {
    const world = await newWorld();
    const ask = async (who: typeof victim, opaque: string): Promise<void> => {
      const { headers } = who;
      const body = timerBody(5, { opaque });
      const keyed = { ...headers, 'idempotency-key': 'key-1' };
      const set = await world.request('PUT', '/timers/0000000000000001-1', body, headers);
      const once = await world.request('POST', '/timers', body, keyed);
      const again = await world.request('POST', '/timers', body, keyed);
      expect([set.status, once.status, again.status]).toEqual([200, 200, 200]);
      expect(header(set, 'location')).toMatch(/^\/timers\/0000000000000001/);
      expect(header(again, 'location')).toBe(header(once, 'location'));
    };
    await ask(victim, 'theirs');
    await ask(tenant, 'ours');
    await world.clock.advance(5000);
    const bodies = world.receivers.calls.map(({ request: { body } }) => Buffer.from(body));
    expect(bodies.map(String).toSorted()).toEqual(['ours', 'ours', 'theirs', 'theirs']);
  });

  test('finds no number that members keep in any answer about others, nor in a cursor', async () => {
    const world = await newWorld();
    await settleIn(world, victim);
    await settleIn(world, tenant);
    const kept = ['team-a', namespace].flatMap((name) => recordsOf(world, name));
    const theirs = recordsOf(world, 'team-a').map(({ hi, lo }) => hex16(hi, lo));
    for (const path of ['/cluster', '/metrics', '/timers', '/dead-letters']) {
      const { status, body } = await world.request('GET', path, undefined, tenant.headers);
      expect(status).toBe(200);
      for (const number of theirs) expect(body).not.toContain(number);
      expect(body).not.toContain('broken.test"');
    }
    const cursors: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path = `/timers?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page = JSON.parse(
        (await world.request('GET', path, undefined, tenant.headers)).body,
      ) as { timers: { id: string }[]; cursor: string | null };
      expect(page.timers.length).toBeLessThanOrEqual(1);
      ({ cursor } = page);
      if (cursor !== null) cursors.push(cursor);
    }
    expect(cursors.length).toBeGreaterThanOrEqual(4);
    const numbers = kept.map(({ hi, lo }) => hex16(hi, lo));
    for (const cursor of cursors) expect(numbers).not.toContain(cursor);
  });
});

describe('an operator whose token is for all namespaces', () => {
  test.each(['team-a', 'team-b', 'default'])('does everything in %s', async (namespace) => {
    const world = await newWorld();
    for (const who of [victim, ...Object.values(tenants)]) await settleIn(world, who);
    const ask = (method: string, path: string, body?: unknown): Promise<ApiResponse> => {
      const headers = { ...operator.headers, 'carillon-namespace': namespace };
      return world.request(method, path, body, headers);
    };
    const timers = listed(await ask('GET', '/timers'), 'timers');
    expect(timers).toHaveLength(5);
    for (const { id } of timers) {
      expect(JSON.parse((await ask('GET', `/timers/${id}`)).body)).toMatchObject({ id });
    }
    const [letter] = listed(await ask('GET', '/dead-letters'), 'dead-letters') as {
      id: string;
      timer: string;
    }[];
    const tried = JSON.parse((await ask('GET', `/timers/${letter?.timer}/attempts`)).body) as {
      attempts: unknown[];
    };
    expect(tried.attempts).toMatchObject([{ status: 500, pop: 1 }]);
    expect((await ask('POST', `/dead-letters/${letter?.id}/redeliver`)).status).toBe(200);
    await world.clock.advance(1000);
    const resent = world.receivers.calls.at(-1)?.request.headers;
    expect(resent?.['x-timer-id']).toBe(letter?.timer);
    const batch = JSON.parse((await ask('POST', '/timers/batch', [tagged])).body) as {
      id: string;
    }[];
    expect((await ask('DELETE', `/timers/${batch[0]?.id}`)).status).toBe(200);
    expect(JSON.parse((await ask('DELETE', '/timers?tag=orders')).body)).toEqual({ cancelled: 5 });
    expect(listed(await ask('GET', '/timers'), 'timers')).toEqual([]);
    const others = ['team-a', 'team-b', 'default'].filter((name) => name !== namespace);
    for (const other of others) {
      const states = recordsOf(world, other).map(({ state }) => state);
      expect(states.filter((state) => state === State.live)).toHaveLength(5);
      expect(states.filter((state) => state === State.dead)).toHaveLength(1);
    }
  });
});
