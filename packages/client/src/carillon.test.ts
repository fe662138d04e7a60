import { describe, expect, test } from 'vitest';
import { Carillon } from './carillon.ts';
import { ApiError, UnreachableError } from './errors.ts';
import { FakeSystem, json, located, type Scripted, type Seen, settle } from './testing/stand-in.ts';
import { a, b, refused, scriptedClient, spec } from './testing/scripted-client.ts';

/** Lets requests run while the clock moves, so that pauses and time-outs pass. */
async function passing<T>(system: FakeSystem, work: Promise<T>): Promise<T> {
  const state = { open: true };
  const watched = work.finally(() => {
    state.open = false;
  });
  watched.catch(() => {});
  for (let i = 0; i < 100 && state.open; i++) {
    await settle();
    system.advance(200);
  }
  return watched;
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('Carillon, requests', () => {
  test('set posts the timer and gives back its id and copies', async () => {
    const options = { token: 'secret', namespace: 'team-a' };
    const { client, seen } = scriptedClient(() => located('00ff-2', '1/2'), options);
    expect(await client.set(spec)).toEqual({ id: '00ff-2', copies: { have: 1, wanted: 2 } });
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/timers', member: a });
    expect(seen[0]?.body).toEqual({
      timing: { interval: 10 },
      callback: { http: { uri: 'http://r/x' } },
    });
    expect(seen[0]?.headers.get('authorization')).toBe('Bearer secret');
    expect(seen[0]?.headers.get('carillon-namespace')).toBe('team-a');
    expect(seen[0]?.headers.get('idempotency-key')).toBe('uuid-1');
    await client.set(spec, { idempotencyKey: 'mine' });
    expect(seen[1]?.headers.get('idempotency-key')).toBe('mine');
  });

  test('the history and the audit are read page by page, with their times', async () => {
    const { client, seen } = scriptedClient(({ path }) => {
      const isNext = path.includes('cursor=c');
      const change = {
        kind: 'change',
        at: '2030-01-01T00:00:00.000Z',
        action: 'cancel',
        actor: 'a',
      };
      const attempt = { kind: 'attempt', at: '2030-01-01T00:00:00.000Z', status: 200, replica: 1 };
      return json({
        entries: isNext ? [change] : [attempt],
        cursor: isNext ? null : 'c',
        missing: [],
      });
    });
    const entries = await allOf(client.history('01-2', { since: 0 }));
    expect(entries).toMatchObject([
      { kind: 'attempt', status: 200, replica: 1 },
      { kind: 'change', action: 'cancel', actor: 'a', tag: null, at: new Date('2030-01-01') },
    ]);
    const changes = await allOf(client.audit({ actor: 'a', allNamespaces: true }));
    expect(changes.map(({ action }) => action)).toEqual(['cancel']);
    expect(seen.map(({ path }) => path)).toEqual([
      '/timers/01-2/history?since=1970-01-01T00%3A00%3A00.000Z',
      '/timers/01-2/history?since=1970-01-01T00%3A00%3A00.000Z&cursor=c',
      '/audit?actor=a&namespace=*',
      '/audit?actor=a&namespace=*&cursor=c',
    ]);
  });

  test('attempts are read with their times, whether there was an answer or not', async () => {
    const told = { pop: 2, attempt: 1, 'lateness-ms': 0.5, 'took-ms': 12, member: 'n1' };
    const { client, seen } = scriptedClient(() =>
      json({
        attempts: [
          { ...told, at: '2026-01-02T03:04:05.000Z', status: 503 },
          { ...told, attempt: 2, at: '2026-01-02T03:04:06.000Z', status: 'refused' },
        ],
        missing: ['n2'],
      }),
    );
    const common = { pop: 2, latenessMs: 0.5, tookMs: 12, member: 'n1', failure: null, detail: '' };
    expect(await client.attempts('01-2')).toEqual({
      attempts: [
        { ...common, attempt: 1, at: new Date('2026-01-02T03:04:05Z'), status: 503 },
        { ...common, attempt: 2, at: new Date('2026-01-02T03:04:06Z'), status: 'refused' },
      ],
      missing: ['n2'],
    });
    expect(seen[0]).toMatchObject({ method: 'GET', path: '/timers/01-2/attempts' });
  });

  test('run asks for the callback of a timer and gives back the id of the new one', async () => {
    const { client, seen } = scriptedClient(() => located('00ff-2', '1/2'));
    expect(await client.run('01-2')).toEqual({ id: '00ff-2', copies: { have: 1, wanted: 2 } });
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/timers/01-2/run', body: null });
    expect(seen[0]?.headers.get('idempotency-key')).toBe('uuid-1');
    await client.run('01-2', { idempotencyKey: 'mine' });
    expect(seen[1]?.headers.get('idempotency-key')).toBe('mine');
  });

  test('preview sends the timing alone and reads pops in UTC and in the zone', async () => {
    const local = '2026-03-29T09:00:00.000+02:00';
    const pop = { due: '2026-03-29T07:00:00.000Z', local };
    const { client, seen } = scriptedClient(() =>
      json({ timezone: 'Europe/Berlin', pops: [pop], more: true }),
    );
    const when = { cron: '0 9 * * *', timezone: 'Europe/Berlin', forever: true } as const;
    expect(await client.preview(when)).toEqual({
      timezone: 'Europe/Berlin',
      pops: [{ due: new Date(local), local }],
      more: true,
    });
    expect(seen[0]).toMatchObject({
      method: 'POST',
      path: '/timers/preview',
      body: { timing: when },
    });
    await client.preview({ in: '1m' }, { timezone: 'Asia/Tokyo' });
    expect(seen[1]).toMatchObject({
      path: '/timers/preview?timezone=Asia%2FTokyo',
      body: { timing: { interval: 60 } },
    });
  });

  test('replace and cancel go to the timer, with its id escaped', async () => {
    const { client, seen } = scriptedClient(() => located('01-2'));
    expect((await client.replace('01-2', spec)).id).toBe('01-2');
    expect((await client.cancel('0/../x')).id).toBe('01-2');
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PUT /timers/01-2',
      'DELETE /timers/0%2F..%2Fx',
    ]);
  });

  test('setMany gives one outcome for each timer, in order', async () => {
    const { client, seen } = scriptedClient(() =>
      json([
        { status: 200, id: '01-2', copies: '2/2' },
        { status: 400, title: 'no', detail: 'The interval is negative.', pointer: '/1/timing' },
      ]),
    );
    const [first, second] = await client.setMany([spec, spec]);
    expect(first).toEqual({ ok: true, id: '01-2', copies: { have: 2, wanted: 2 } });
    expect(second).toMatchObject({ ok: false, error: { status: 400 } });
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/timers/batch' });
    expect(seen[0]?.body).toHaveLength(2);
  });

  test('get reads the timer, and null when there is none', async () => {
    const body = {
      id: '01-2',
      state: 'pending',
      timing: { interval: 5 },
      callback: { http: { uri: 'http://r/', opaque: 'x' } },
      reliability: { 'replication-factor': 2 },
      set: '2026-01-01T00:00:00.000Z',
      'next-due': '2026-01-01T00:00:05.000Z',
      'next-attempt': null,
      'last-outcome': null,
      sequence: 3,
      attempt: 0,
      version: '1.2',
      replicas: ['n0', 'n1'],
    };
    const { client } = scriptedClient(({ path }) =>
      path === '/timers/01-2' ? json(body) : json({ title: 'none' }, 404),
    );
    expect(await client.get('01-2')).toMatchObject({
      id: '01-2',
      uri: 'http://r/',
      opaque: 'x',
      factor: 2,
      nextDue: new Date('2026-01-01T00:00:05.000Z'),
      nextAttempt: null,
      sequence: 3,
      replicas: ['n0', 'n1'],
    });
    expect(await client.get('02-2')).toBeNull();
  });

  test('list follows the cursor to the last page and tells of members that did not answer', async () => {
    const { client, seen } = scriptedClient(({ path }) =>
      path.includes('cursor=next')
        ? json({ timers: [{ id: '3' }], cursor: null, missing: ['n2'] })
        : json({ timers: [{ id: '1' }, { id: '2' }], cursor: 'next', missing: [] }),
    );
    const ids: string[] = [];
    const missing: string[] = [];
    const options = {
      tag: 'a b',
      state: 'pending',
      pageSize: 2,
      onMissing: (members: readonly string[]) => missing.push(...members),
    } as const;
    for await (const { id } of client.list(options)) ids.push(id);
    expect(ids).toEqual(['1', '2', '3']);
    expect(missing).toEqual(['n2']);
    expect(seen[0]?.path).toBe('/timers?tag=a+b&state=pending&limit=2');
  });

  test('dead letters are listed, re-sent and discarded', async () => {
    const { client, seen } = scriptedClient(({ method, path }) => {
      if (method === 'GET') return json({ 'dead-letters': [{ id: '9', reason: 'refused' }] });
      return path.includes('gone')
        ? json({ title: 'none' }, 404)
        : json({}, 200, { 'carillon-version': '1.2' });
    });
    const letters: string[] = [];
    for await (const { id, reason } of client.deadLetters.list()) letters.push(`${id} ${reason}`);
    expect(letters).toEqual(['9 refused']);
    expect(await client.deadLetters.redeliver('9')).toBe(true);
    expect(await client.deadLetters.discard('9')).toBe(true);
    expect(await client.deadLetters.discard('gone')).toBe(false);
    expect(seen.slice(1, 3).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /dead-letters/9/redeliver',
      'DELETE /dead-letters/9',
    ]);
  });

  test('cancelByTag answers the count', async () => {
    const { client, seen } = scriptedClient(() => json({ cancelled: 12 }));
    expect(await client.cancelByTag('x')).toBe(12);
    expect(seen[0]).toMatchObject({ method: 'DELETE', path: '/timers?tag=x' });
  });

  test('a refusal carries status, problem and when to come back', async () => {
    const problem = {
      title: 'no',
      detail: 'The interval is negative.',
      pointer: '/timing/interval',
    };
    const { client, seen } = scriptedClient(() => json(problem, 429, { 'retry-after': '3' }));
    const error = await client.set(spec).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 429, problem, retryAfterMs: 3000 });
    expect((error as Error).message).toBe('The interval is negative.');
    // Not asked again: another member would say the same.
    expect(seen).toHaveLength(1);
  });

  test('a refusal that is no JSON is still an ApiError', async () => {
    const { client } = scriptedClient(() => new Response('<html>', { status: 403 }));
    await expect(client.get('1')).rejects.toMatchObject({ status: 403, problem: null });
  });
});

describe('Carillon, failover', () => {
  test.each([
    ['a connection error', (): Scripted => refused],
    ['a 500', (): Scripted => json({}, 500)],
    ['a 503', (): Scripted => json({}, 503)],
    ['silence', (): Scripted => 'silence'],
  ])('after %s the other member is asked, with the same idempotency key', async (_what, bad) => {
    const { client, seen, system } = scriptedClient(
      ({ member }) => (member === a ? bad() : located('1-2')),
      {
        members: [a, b],
        timeout: '1s',
      },
    );
    expect((await passing(system, client.set(spec))).id).toBe('1-2');
    expect(seen.map(({ member }) => member)).toEqual([a, b]);
    expect(new Set(seen.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
    expect(system.alarmCount).toBe(0);
  });

  test('a member that failed is avoided for a while, then asked again', async () => {
    let down = true;
    const { client, seen, system } = scriptedClient(
      ({ member }) => (member === a && down ? refused : located('1-2')),
      { members: [a, b], avoid: '5s' },
    );
    await client.set(spec);
    await client.set(spec);
    expect(seen.map(({ member }) => member)).toEqual([a, b, b]);
    down = false;
    system.advance(5001);
    // The one that worked last is preferred; only when it fails is the other's turn again.
    await client.set(spec);
    expect(seen.at(-1)?.member).toBe(b);
  });

  test('a member that failed is asked after the others', async () => {
    const c = 'http://c:1';
    const down = new Set([a]);
    const { client, seen } = scriptedClient(
      ({ member }) => (down.has(member) ? refused : located('1-2')),
      {
        members: [a, b, c],
      },
    );
    await client.set(spec);
    down.add(b);
    await client.set(spec);
    expect(seen.map(({ member }) => member)).toEqual([a, b, b, c]);
  });

  test('an only member is asked a second time after a pause', async () => {
    let count = 0;
    const { client, system, seen } = scriptedClient(() =>
      count++ === 0 ? refused : located('1-2'),
    );
    expect((await passing(system, client.set(spec))).id).toBe('1-2');
    expect(seen).toHaveLength(2);
  });

  test('when no member answers, the error names every member and reason', async () => {
    const { client, system } = scriptedClient(() => refused, { members: [a, b] });
    const error = await passing(
      system,
      client.get('1').catch((thrown: unknown) => thrown),
    );
    expect(error).toBeInstanceOf(UnreachableError);
    expect((error as Error).message).toContain('http://a:1: connect ECONNREFUSED');
    expect((error as UnreachableError).attempts).toHaveLength(2);
  });

  test('when all answer 5xx, the error is the answer', async () => {
    const { client, system } = scriptedClient(
      () => json({ detail: 'No replica confirmed.' }, 503),
      {
        members: [a, b],
      },
    );
    await expect(passing(system, client.set(spec))).rejects.toThrow('No replica confirmed.');
  });

  test('a batch is repeated under the same key', async () => {
    const { client, seen, system } = scriptedClient(
      ({ member }) => (member === a ? refused : json([{ status: 200, id: '1-2' }])),
      { members: [a, b] },
    );
    expect(await passing(system, client.setMany([spec]))).toHaveLength(1);
    expect(seen.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['uuid-1', 'uuid-1']);
  });

  test('a drain, which is meant for one member, is asked of no other', async () => {
    const { client, seen, system } = scriptedClient(() => refused, { members: [a, b] });
    await expect(passing(system, client.drain())).rejects.toThrow(UnreachableError);
    expect(seen).toHaveLength(1);
  });

  test('an aborted call ends at once with the reason, and no other member is asked', async () => {
    const { client, seen, system } = scriptedClient(() => 'silence', { members: [a, b] });
    const controller = new AbortController();
    const call = client.set(spec, { signal: controller.signal });
    await settle();
    controller.abort(new Error('changed my mind'));
    await expect(call).rejects.toThrow('changed my mind');
    expect(seen).toHaveLength(1);
    expect(system.alarmCount).toBe(0);
    await expect(client.get('1', { signal: controller.signal })).rejects.toThrow('changed my mind');
    expect(seen).toHaveLength(1);
  });

  test('an abort during the pause before a second try ends the call', async () => {
    const { client, seen, system } = scriptedClient(() => refused);
    const controller = new AbortController();
    const call = client.set(spec, { signal: controller.signal });
    await settle();
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(seen).toHaveLength(1);
    expect(system.alarmCount).toBe(0);
  });
});

describe('Carillon, versions', () => {
  const versioned = (version: string): Response =>
    new Response('', { headers: { location: '/timers/00ff-2', 'carillon-version': version } });
  const sent = (seen: readonly Seen[]) => seen.map(({ headers }) => headers.get('carillon-seen'));

  test('every change carries the highest version of the answers so far; reads carry none', async () => {
    const answers = [
      versioned('5.9'),
      versioned('5.10'),
      versioned('5.3'),
      json({ cancelled: 1 }, 200, { 'carillon-version': '17.0' }),
      json([{ status: 200, id: '00ff-2', copies: '1/1', version: '18.4' }]),
      versioned('19.1'),
      json({ id: '00ff-2', version: '21.1' }),
      json({ timers: [{ id: '00ff-2', version: '20.1' }], cursor: null, missing: [] }),
      versioned('22.1'),
      versioned('23.1'),
    ];
    const { client, seen } = scriptedClient(() => answers.shift() ?? refused);
    await client.set(spec);
    await client.replace('00ff-2', spec);
    await client.cancel('00ff-2');
    await client.cancelByTag('x');
    await client.setMany([spec]);
    await client.deadLetters.redeliver('00aa-2');
    await client.get('00ff-2');
    for await (const _ of client.list()) expect(client.seen).toBe('21.1');
    await client.deadLetters.discard('00aa-2');
    await client.request({ method: 'DELETE', path: '/timers/00ff-2' });
    const expected = [null, '5.9', '5.10', '5.10', '17.0', '18.4', null, null, '21.1', '22.1'];
    expect(sent(seen)).toEqual(expected);
    expect(client.seen).toBe('23.1');
  });

  test('it is carried to the next member when one fails', async () => {
    const script = ({ member, method }: Seen): Scripted =>
      member === a && method === 'PUT' ? refused : versioned('7.1');
    const { client, seen } = scriptedClient(script, { members: [a, b] });
    client.saw('7.0');
    await client.replace('00ff-2', spec);
    await client.cancel('00ff-2');
    expect(new Set(sent(seen).slice(0, -1))).toEqual(new Set(['7.0']));
    expect(sent(seen).at(-1)).toBe('7.1');
  });

  test('the version of an unconfirmed change is carried too: it may have been stored', async () => {
    const answers = [json({ status: 503 }, 503, { 'carillon-version': '8.1' }), versioned('9.1')];
    const { client, seen } = scriptedClient(() => answers.shift() ?? refused, { members: [a, b] });
    await client.cancel('00ff-2');
    expect([sent(seen), client.seen]).toEqual([[null, '8.1'], '9.1']);
  });

  test('a version from elsewhere is heeded; any other text is refused, or ignored in an answer', async () => {
    const { client, seen } = scriptedClient(() => versioned('soon'));
    expect(() => client.saw('soon')).toThrow(TypeError);
    client.saw('30.2');
    client.saw('30.1');
    await client.set(spec);
    expect([sent(seen), client.seen]).toEqual([['30.2'], '30.2']);
  });
});

describe('Carillon, members', () => {
  const cluster = {
    members: [
      { address: 'c:1', phase: 'active' },
      { address: 'a:1', phase: 'active' },
    ],
  };

  test('the list of members is read from the cluster beside a request, now and then', async () => {
    const { client, seen, system } = scriptedClient(
      ({ path }) => (path === '/cluster' ? json(cluster) : located('1-2')),
      { refresh: '60s' },
    );
    await client.set(spec);
    await settle();
    expect(client.memberUrls).toEqual([a, 'http://c:1']);
    await client.set(spec);
    const asked = (): number => seen.filter(({ path }) => path === '/cluster').length;
    expect(asked()).toBe(1);
    system.advance(60_000);
    await client.set(spec);
    expect(asked()).toBe(2);
  });

  test('a failed refresh changes nothing', async () => {
    const { client } = scriptedClient(
      ({ path }) => (path === '/cluster' ? json({}, 403) : located('1-2')),
      {
        refresh: '60s',
      },
    );
    await client.set(spec);
    await settle();
    expect(client.memberUrls).toEqual([a]);
  });

  test.each([[[]], [['127.0.0.1:7253']], [['ftp://x']], [['']]])(
    'members %j are refused at once',
    (members) => {
      expect(() => new Carillon({ members })).toThrow(TypeError);
    },
  );
});
