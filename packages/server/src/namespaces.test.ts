/**
 * Namespaces do not see each other: every route, asked by one namespace for a timer or letter of another, answers
 * exactly as if there were none, and changes nothing.
 */
import {
  formatTimerId,
  OpenNumbering,
  parseTimerId,
  State,
  type TimerRecord,
} from '@carillon/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApiResponse } from './http/message.ts';
import { defaultConfig } from './config/config.ts';
import { header, type OneMember, startOne, timerBody } from './testing/one-member.ts';

const open = new OpenNumbering();
const theirs = { 'carillon-namespace': 'team-a' };
const ours = { 'carillon-namespace': 'team-b' };
/** The id of a timer that never existed. */
const unknown = '00000000000000000000000000000007-1';

let world: OneMember;
let timer: string;
let letter: string;
let before: TimerRecord[];

beforeEach(async () => {
  world = await startOne({
    config: {
      retry: { ...defaultConfig.retry, attemptCountMax: 1, limitMs: 0 },
      callbacks: { ...defaultConfig.callbacks, signingSecrets: [`whsec_${'a'.repeat(32)}`] },
    },
  });
  const failing = { ...timerBody(1, { uri: 'http://broken.test/' }), tags: ['orders'] };
  world.receivers.script = ({ uri }) => (uri.startsWith('http://broken') ? 500 : 200);
  await send('POST', '/timers', failing, theirs);
  await world.clock.advance(5000);
  const keyed = { ...theirs, 'idempotency-key': 'key-1' };
  const set = await send('POST', '/timers', { ...timerBody(600), tags: ['orders'] }, keyed);
  timer = (header(set, 'location') ?? '').slice('/timers/'.length);
  const { 'dead-letters': letters } = json(await send('GET', '/dead-letters', undefined, theirs));
  letter = String((letters as { id: string }[])[0]?.id);
  before = recordsOf('team-a');
});
afterEach(() => world.stop());

function send(method: string, path: string, body: unknown, headers: Record<string, string>) {
  return world.request(method, path, body, headers);
}

function json(answer: ApiResponse): Record<string, unknown> {
  return JSON.parse(answer.body) as Record<string, unknown>;
}

function recordsOf(namespace: string): TimerRecord[] {
  const { store } = world.member;
  const handles: number[] = [];
  store.next(null, 1000, handles);
  return handles
    .map((handle) => store.read(handle))
    .filter((record) => record.namespace === namespace);
}

/** An answer without the parts that differ from one request to the next anyway. */
function comparable({ status, headers, body }: ApiResponse, id: string) {
  const texts = [JSON.stringify(headers), body].map((text) =>
    text
      .replaceAll(id.slice(0, 16), 'NUMBER')
      .replaceAll(/[0-9a-f]{16}-\d/g, 'BLOOM')
      // The version rises with every change at the member, in any namespace.
      .replaceAll(/(?<="carillon-version",")[\d.]+/g, 'VERSION'),
  );
  return [status, ...texts];
}

test('timers and letters of the others are there, and theirs', async () => {
  const states = before.map(({ state }) => state);
  expect(new Set(states)).toEqual(new Set([State.live, State.tombstone, State.dead]));
  expect((await send('GET', `/timers/${timer}`, undefined, theirs)).status).toBe(200);
  expect(letter).toMatch(/^[0-9a-f]{32}-\d$/);
});

const body = timerBody(60, { opaque: 'ours' });
const byId: readonly [method: string, path: (id: string) => string, body?: unknown][] = [
  ['GET', (id) => `/timers/${id}`],
  ['GET', (id) => `/timers/${id}/attempts`],
  ['PUT', (id) => `/timers/${id}`, body],
  ['POST', (id) => `/timers/${id}/run`],
  ['DELETE', (id) => `/timers/${id}`],
  ['POST', (id) => `/dead-letters/${id}/redeliver`],
  ['DELETE', (id) => `/dead-letters/${id}`],
];

describe.each(byId)('%s of an id of another namespace', (method, path, given) => {
  test.each([
    ['a timer', () => timer],
    ['a dead letter', () => letter],
    ['a timer, without where it is', () => `${timer.slice(0, 16)}-2`],
  ])('%s: as if it were unknown', async (_, idOf) => {
    const id = idOf();
    const answer = await send(method, path(id), given, ours);
    expect(recordsOf('team-a')).toEqual(before);
    const like = `${unknown.slice(0, 16)}${id.slice(16)}`;
    const other = await send(method, path(like), given, ours);
    expect(comparable(answer, id)).toEqual(comparable(other, like));
  });

  test('also where the id is made up to meet a number that members keep: nothing seen, nothing changed', async () => {
    for (const each of [timer, letter]) {
      const id = parseTimerId(each);
      if (id === null) throw new Error('It is an id.');
      const inside = open.inside('team-a', id);
      const made = formatTimerId({ ...id, ...open.outside('team-b', inside) });
      const answer = await send(method, path(made), given, ours);
      expect(recordsOf('team-a')).toEqual(before);
      expect(answer.body).not.toContain('ding');
      if (method === 'GET' || method === 'DELETE') {
        const other = await send(method, path(unknown), given, ours);
        expect(comparable(answer, made)).toEqual(comparable(other, unknown));
      } else expect(answer.status).toBe(404);
    }
  });
});

describe('lists and everything at once', () => {
  test.each(['/timers', '/timers?tag=orders', '/timers?state=pending', '/timers?limit=1'])(
    'GET %s shows nothing of another namespace',
    async (path) => {
      expect(json(await send('GET', path, undefined, ours))['timers']).toEqual([]);
      expect(json(await send('GET', path, undefined, {}))['timers']).toEqual([]);
      expect(json(await send('GET', path, undefined, theirs))['timers']).toHaveLength(1);
    },
  );

  test('GET /dead-letters shows nothing of another namespace', async () => {
    const ask = async (headers: Record<string, string>) =>
      json(await send('GET', '/dead-letters', undefined, headers))['dead-letters'];
    expect([await ask(ours), await ask({})]).toEqual([[], []]);
    expect(await ask(theirs)).toHaveLength(1);
  });

  test('a cursor of another namespace is a place like any other', async () => {
    const cursor = timer.slice(0, 16);
    const page = json(await send('GET', `/timers?cursor=${cursor}`, undefined, ours));
    expect(page).toMatchObject({ timers: [], cursor: null });
  });

  test.each([
    '/timers?cursor=abc',
    '/timers?cursor=0123456789abcde',
    '/timers?cursor=0123456789abcdef0',
    '/timers?cursor=0123456789abcdeg',
    '/timers?cursor=0123456789abcdef0123456789abcdef',
    '/timers?tag=a&cursor=abc',
    '/timers?state=dead&cursor=abc',
    '/timers?order=due&cursor=0123456789abcdef',
    '/timers?order=due&cursor=0123456789abcdef0123456789abcde',
    `/timers?order=due&cursor=${'f'.repeat(32)}`,
    '/timers?from=2026-01-01T00:00:00Z&cursor=abc',
    '/dead-letters?cursor=abc',
    '/dead-letters?cursor=0123456789abcdef0123456789abcdef',
    '/audit?cursor=abc',
  ])('%s: a cursor that was cut, or is of another list, is 400', async (path) => {
    const answer = await send('GET', path, undefined, ours);
    expect([answer.status, json(answer)['detail']]).toEqual([
      400,
      'The parameter cursor must be one that an earlier page of the same list gave out.',
    ]);
  });

  test('DELETE /dead-letters?all=true discards in its own namespace only', async () => {
    const answer = await send('DELETE', '/dead-letters?all=true', undefined, ours);
    expect(json(answer)).toEqual({ discarded: 0, more: false });
    expect(recordsOf('team-a')).toEqual(before);
  });

  test('DELETE /timers?tag= cancels in its own namespace only', async () => {
    await send('POST', '/timers', { ...timerBody(600), tags: ['orders'] }, ours);
    expect(json(await send('DELETE', '/timers?tag=orders', undefined, ours))).toEqual({
      cancelled: 1,
    });
    expect(recordsOf('team-a')).toEqual(before);
  });

  test('an idempotency key is of its namespace: the same one makes another timer there', async () => {
    const keyed = { ...ours, 'idempotency-key': 'key-1' };
    const first = await send('POST', '/timers', timerBody(60), keyed);
    const again = await send('POST', '/timers', timerBody(60), keyed);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(header(first, 'location')).toBe(header(again, 'location'));
    expect(recordsOf('team-b')).toHaveLength(1);
    expect(recordsOf('team-a')).toEqual(before);
  });

  test('a key whose number another namespace took on purpose gives nothing of theirs away', async () => {
    const kept = before.find(({ state }) => state === State.live);
    const free = open.outside('team-b', kept ?? { hi: 0, lo: 0 });
    // Theirs goes, ours takes the number that the key leads to; then they use the key again.
    await world.clock.advance(defaultConfig.idempotencyRetentionMs + 3_600_000);
    expect(recordsOf('team-a').filter(({ state }) => state === State.live)).toEqual([]);
    const id = formatTimerId({ ...free, bloomHi: 0, bloomLo: 0, factor: 2 });
    expect((await send('PUT', `/timers/${id}`, timerBody(600), ours)).status).toBe(200);
    const keyed = { ...theirs, 'idempotency-key': 'key-1' };
    const answer = await send('POST', '/timers', timerBody(600), keyed);
    expect([answer.status, header(answer, 'location')]).toEqual([409, undefined]);
  });

  test('all items of a batch belong to the namespace of the request', async () => {
    const items = [timerBody(60), { ...timerBody(60), namespace: 'team-a' }, timerBody(60)];
    const answer = await send('POST', '/timers/batch', items, ours);
    expect(answer.status).toBe(200);
    expect(recordsOf('team-b')).toHaveLength(3);
    expect(recordsOf('team-a')).toEqual(before);
  });

  test('both may have a timer of the same number, and each pops as its own', async () => {
    for (const [headers, opaque] of [
      [theirs, 'one'],
      [ours, 'two'],
      [{}, 'three'],
    ] as const) {
      const set = await send(
        'PUT',
        '/timers/0000000000000001-1',
        timerBody(5, { opaque }),
        headers,
      );
      expect(header(set, 'location')).toMatch(/^\/timers\/0000000000000001/);
    }
    await world.clock.advance(5000);
    const pops = world.receivers.calls.slice(-3).map(({ request }) => request);
    expect(pops.map(({ body: bytes }) => new TextDecoder().decode(bytes)).toSorted()).toEqual([
      'one',
      'three',
      'two',
    ]);
    for (const { headers } of pops) expect(headers['x-timer-id']).toMatch(/^0000000000000001/);
  });
});

test('a dead letter that is sent again carries the id and the name of the pop it stands for', async () => {
  const calls = () => world.receivers.calls.map(({ request }) => request.headers);
  const [first] = calls();
  await send('POST', `/dead-letters/${letter}/redeliver`, undefined, theirs);
  await world.clock.advance(100);
  const again = calls().at(-1);
  expect(calls()).toHaveLength(2);
  expect(again?.['webhook-id']).toMatch(/^[0-9a-f]{16}_/);
  for (const name of ['webhook-id', 'x-timer-id', 'x-sequence-number']) {
    expect(again?.[name]).toBe(first?.[name]);
  }
  expect(first?.['x-timer-id']?.slice(0, 16)).toBe(first?.['webhook-id']?.slice(0, 16));
});

describe('a new timer', () => {
  test('whose number another namespace has taken gets the next one', async () => {
    const { id: plain } = json(
      await send('POST', '/timers', timerBody(60), { accept: 'application/json' }),
    );
    const taken = parseTimerId(String(plain));
    if (taken === null) throw new Error('It is an id.');
    const next = open.outside('team-b', { hi: taken.hi, lo: taken.lo + 1 });
    const made = formatTimerId({ ...next, bloomHi: 0, bloomLo: 0, factor: 1 });
    expect((await send('PUT', `/timers/${made}`, timerBody(60), ours)).status).toBe(200);
    const answer = await send('POST', '/timers', timerBody(60), {});
    expect(answer.status).toBe(200);
    expect(recordsOf('team-b')).toHaveLength(1);
    expect(recordsOf('default')).toHaveLength(2);
  });

  test('ignores fields that only members decide, at any place in the body', async () => {
    const plain = timerBody(60);
    const inner = {
      namespace: 'team-a',
      id: timer,
      hi: 1,
      lo: 1,
      version: '9999999999999.9',
      versionMs: 9e12,
      versionTie: 9,
      sequence: 41,
      attempt: 7,
      state: 'dead',
      replicas: ['evil:1'],
      bloom: 'ffffffffffffffff',
      origin: { id: timer },
      idempotent: true,
      start: 1,
      startMs: 1,
      dueMs: 1,
      retryMs: 1,
      outcome: 200,
      tombstone: true,
      mode: 'update',
      former: ['evil:1'],
    };
    const http = { ...plain.callback.http, ...inner };
    const filled = {
      ...inner,
      timing: { ...inner, ...plain.timing },
      callback: { ...inner, http },
      reliability: { ...inner, 'replication-factor': 1 },
    };
    const headers = { ...ours, accept: 'application/json' };
    const pure = { ...plain, reliability: { 'replication-factor': 1 } };
    const dirty = json(await send('POST', '/timers', filled, headers));
    const clean = json(await send('POST', '/timers', pure, headers));
    const { id: _, version: __, ...rest } = dirty;
    expect(rest).toEqual({ ...clean, id: undefined, version: undefined });
    expect(Number(dirty['version'])).toBeLessThan(Number(clean['version']));
    const { id: _id, ...unnamed } = filled;
    await send('POST', '/timers/batch', [unnamed], ours);
    const [first, second, third] = recordsOf('team-b').map(
      ({ hi: _hi, lo: _lo, versionTie: _tie, versionMs: _ms, ...record }) => record,
    );
    expect(first).toEqual(second);
    expect(third).toEqual(second);
    // With an id beside it a body replaces that timer, in the namespace of its sender.
    await send('POST', '/timers/batch', [filled], ours);
    expect(recordsOf('team-a')).toEqual(before);
  });
});
