/** Changes that go together: through the whole client, against members that answer by script. */
import { describe, expect, test } from 'vitest';
import { Carillon } from '../carillon.ts';
import { json, located, type Scripted, type Seen, settle } from '../testing/stand-in.ts';
import { a, b, refused, scriptedClient, spec } from '../testing/scripted-client.ts';

interface Item {
  readonly change: string;
  readonly id?: string;
  readonly key?: string;
}

/** Answers that are held back until `next` lets the oldest go. */
function held(answer: (seen: Seen) => Response) {
  const waiting: (() => void)[] = [];
  const script = (seen: Seen): Promise<Response> =>
    new Promise((resolve) => {
      waiting.push(() => resolve(answer(seen)));
    });
  const next = async (): Promise<void> => {
    waiting.shift()?.();
    await settle();
  };
  return { script, next, waiting };
}

function itemsOf({ body }: Seen): readonly Item[] {
  return Array.isArray(body) ? (body as Item[]) : [];
}

/** An id that `told` shows as the name: ids are hexadecimal. */
const idOf = (name: string): string => Buffer.from(name).toString('hex');

const good = (item: Item, i: number): object => ({
  status: 200,
  id: idOf(item.id ?? `id-of-${item.key ?? i}`),
  copies: '1/1',
  version: `9.${i}`,
});

/** A member that takes everything. */
function agreeable(seen: Seen): Response {
  if (seen.path === '/timers/batch') return json(itemsOf(seen).map(good));
  return located(idOf(seen.headers.get('idempotency-key') ?? seen.path.slice('/timers/'.length)));
}

/** A member of a release that knows only plain timers in a batch. */
function older(seen: Seen): Response {
  if (seen.path !== '/timers/batch') return agreeable(seen);
  const problem = { status: 400, detail: 'The member "timing" is missing.', pointer: '/timing' };
  return json(itemsOf(seen).map(() => problem));
}

function paths(seen: readonly Seen[]): string[] {
  return seen.map((one) =>
    one.path === '/timers/batch' ? `${itemsOf(one).length} changes` : `${one.method} ${one.path}`,
  );
}

/** The result of a call: the name in the id, or the error. */
function told(calls: readonly Promise<{ id: string }>[]): Promise<unknown[]> {
  return Promise.all(
    calls.map((call) =>
      call.then(
        ({ id }) => Buffer.from(id, 'hex').toString(),
        (error: unknown) => error,
      ),
    ),
  );
}

const sets = (client: Carillon, keys: readonly string[]): Promise<{ id: string }>[] =>
  keys.map((idempotencyKey) => client.set(spec, { idempotencyKey }));

describe('changes that are called together', () => {
  test('the first leaves at once by itself, the others of the turn leave in one request', async () => {
    const { client, seen } = scriptedClient(agreeable);
    const calls = [...sets(client, ['k1', 'k2']), client.replace('00ff', spec), client.cancel('x')];
    expect(paths(seen)).toEqual(['POST /timers']);
    expect(await told(calls)).toEqual(['k1', 'id-of-k2', '00ff', 'x']);
    expect(paths(seen)).toEqual(['POST /timers', '3 changes']);
    const timer = { timing: { interval: 10 }, callback: { http: { uri: 'http://r/x' } } };
    expect(seen[1]?.body).toEqual([
      { change: 'set', key: 'k2', timer },
      { change: 'replace', id: '00ff', timer },
      { change: 'cancel', id: 'x' },
    ]);
  });

  test('one call after the other is one request after the other', async () => {
    const { client, seen } = scriptedClient(agreeable);
    await client.set(spec);
    await client.set(spec);
    await client.cancel('x');
    expect(paths(seen)).toEqual(['POST /timers', 'POST /timers', 'DELETE /timers/x']);
  });

  test('calls that answers lead to go together, however deep in promises', async () => {
    const { client, seen } = scriptedClient(agreeable);
    const twice = async (key: string, depth: number): Promise<void> => {
      await client.set(spec, { idempotencyKey: key });
      for (let i = 0; i < depth; i++) await Promise.resolve();
      await client.set(spec, { idempotencyKey: `${key} again` });
    };
    await Promise.all([twice('a', 0), twice('b', 1), twice('c', 5), twice('d', 9)]);
    expect(paths(seen)).toEqual(['POST /timers', '4 changes', '3 changes']);
  });

  test('many that are called while nothing is on its way leave in two requests', async () => {
    const { client, seen } = scriptedClient(agreeable);
    await client
      .set(spec)
      .then(() => Promise.all(Array.from({ length: 41 }, () => client.set(spec))));
    expect(paths(seen)).toEqual(['POST /timers', '21 changes', '20 changes']);
  });

  test('a request has at most 500 changes, and at most four are on their way', async () => {
    const { script, next, waiting } = held(agreeable);
    const { client, seen } = scriptedClient(script);
    const calls = Array.from({ length: 2501 }, () => client.set(spec));
    await settle();
    expect(paths(seen)).toEqual(['POST /timers', '500 changes', '500 changes', '500 changes']);
    await next();
    expect(seen).toHaveLength(5);
    expect(waiting).toHaveLength(4);
    for (let i = 0; i < 5; i++) await next();
    expect(paths(seen).slice(4)).toEqual(['500 changes', '500 changes']);
    expect(new Set(await told(calls)).size).toBe(2501);
  });

  test('few beside many wait for the next answer, and go on in two requests of equal size', async () => {
    const { script, next } = held(agreeable);
    const { client, seen } = scriptedClient(script);
    const again = (call: Promise<{ id: string }>): Promise<unknown> =>
      call.then(() => client.set(spec));
    const calls = Array.from({ length: 64 }, () => again(client.set(spec)));
    await settle();
    expect(paths(seen)).toEqual(['POST /timers', '63 changes']);
    await next();
    expect(seen).toHaveLength(2);
    await next();
    expect(paths(seen).slice(2)).toEqual(['32 changes', '32 changes']);
    for (let i = 0; i < 2; i++) await next();
    expect(await Promise.all(calls)).toHaveLength(64);
  });

  test('a request has at most about a megabyte', async () => {
    const { client, seen } = scriptedClient(agreeable);
    const large = { ...spec, opaque: 'x'.repeat(100_000) };
    await Promise.all(Array.from({ length: 8 }, () => client.set(large)));
    expect(paths(seen)).toEqual(['POST /timers', '3 changes', '3 changes', 'POST /timers']);
  });

  test('with `coalesce: false` each is a request of its own', async () => {
    const { client, seen } = scriptedClient(agreeable, { coalesce: false });
    expect(await told(sets(client, ['k1', 'k2', 'k3']))).toEqual(['k1', 'k2', 'k3']);
    expect(paths(seen)).toEqual(['POST /timers', 'POST /timers', 'POST /timers']);
  });

  test('versions of all outcomes count, and the next change carries the highest', async () => {
    const answer = (one: Seen): Response =>
      one.path === '/timers/batch'
        ? json([
            { status: 200, id: '1', version: '7.9' },
            { status: 503, version: '8.3' },
          ])
        : located(idOf('x'));
    const { client, seen } = scriptedClient(answer, { members: [a, b] });
    await told(sets(client, ['k1', 'k2', 'k3']));
    expect(client.seen).toBe('8.3');
    expect(seen.at(-1)?.headers.get('carillon-seen')).toBe('8.3');
  });
});

describe('changes of one timer', () => {
  const id = '00000000000000ff0000000000000001-2';
  const newerId = '00000000000000ff0000000000000002-2';

  test('are never on their way at the same time; others do not wait for them', async () => {
    const { script, next } = held(agreeable);
    const { client, seen } = scriptedClient(script);
    const calls = [
      client.replace(id, spec),
      client.cancel(newerId),
      client.replace('00000000000000ff', spec),
      client.cancel('00000000000000aa-2'),
    ];
    await settle();
    expect(paths(seen)).toEqual([`PUT /timers/${id}`, 'DELETE /timers/00000000000000aa-2']);
    await next();
    expect(paths(seen).at(-1)).toBe(`DELETE /timers/${newerId}`);
    await next();
    expect(seen).toHaveLength(3);
    await next();
    expect(paths(seen).at(-1)).toBe('PUT /timers/00000000000000ff');
    await next();
    expect(await told(calls)).toHaveLength(4);
  });

  test('the next one follows after a failure, and after an abort, too', async () => {
    const { client, seen, system } = scriptedClient(({ method }) =>
      method === 'PUT' ? json({ pointer: '/timing' }, 400) : located(idOf('x')),
    );
    const stop = new AbortController();
    const calls = [
      client.replace(id, spec),
      client.cancel(id, { signal: stop.signal }),
      client.cancel(newerId),
    ];
    stop.abort(new Error('not needed'));
    expect(await told(calls)).toMatchObject([{ status: 400 }, { message: 'not needed' }, 'x']);
    expect(paths(seen)).toEqual([`PUT /timers/${id}`, `DELETE /timers/${newerId}`]);
    expect(system.alarmCount).toBe(0);
  });
});

describe('outcomes of changes that went together', () => {
  test('one bad change does not spoil the rest, and its error is that of a single request', async () => {
    const bad = { detail: 'Too small.', pointer: '/timer/timing/interval' };
    const { client } = scriptedClient((one) =>
      one.path === '/timers/batch'
        ? json([
            good({ change: 'set' }, 0),
            { status: 400, ...bad },
            { status: 429, 'retry-after': 2 },
          ])
        : agreeable(one),
    );
    const [, second, third, fourth] = await told(sets(client, ['k1', 'k2', 'k3', 'k4']));
    expect(second).toBe('id-of-0');
    expect(third).toMatchObject({ status: 400, problem: { pointer: '/timing/interval' } });
    expect((third as Error).message).toBe('Too small.');
    expect(fourth).toMatchObject({ status: 429, retryAfterMs: 2000 });
  });

  test.each([
    ['no answer', (): Scripted => refused],
    ['silence', (): Scripted => 'silence'],
    ['503 for the whole', (): Scripted => json({}, 503)],
    ['too few outcomes', (): Scripted => json([])],
  ])('%s: all of them go to another member under their keys', async (_what, bad) => {
    const { client, seen, system } = scriptedClient(
      (one) => (one.member === a && one.path === '/timers/batch' ? bad() : agreeable(one)),
      { members: [a, b], timeout: '1s' },
    );
    const calls = told(sets(client, ['k1', 'k2', 'k3']));
    await settle();
    system.advance(1000);
    expect(await calls).toEqual(['k1', 'id-of-k2', 'id-of-k3']);
    expect(seen.map(({ member }) => member)).toEqual([a, a, b]);
    expect(seen[2]?.body).toEqual(seen[1]?.body);
    expect(system.alarmCount).toBe(0);
  });

  test('only a change without an outcome is repeated: 5xx of one change, not the changes beside it', async () => {
    const { client, seen } = scriptedClient(
      (one) =>
        one.member === a && one.path === '/timers/batch'
          ? json([good({ change: 'set' }, 0), { status: 503 }, { status: 400, pointer: '/key' }])
          : agreeable(one),
      { members: [a, b] },
    );
    const outcomes = await told(sets(client, ['k1', 'k2', 'k3', 'k4']));
    expect(outcomes).toMatchObject(['k1', 'id-of-0', 'k3', { status: 400 }]);
    expect(paths(seen)).toEqual(['POST /timers', '3 changes', 'POST /timers']);
    expect(seen[2]).toMatchObject({ member: b });
    expect(seen[2]?.headers.get('idempotency-key')).toBe('k3');
  });

  test('when no member takes it, each has the error', async () => {
    const { client } = scriptedClient(
      (one) => (one.path === '/timers/batch' ? json({ detail: 'Full.' }, 503) : agreeable(one)),
      { members: [a, b] },
    );
    const [, ...others] = await told(sets(client, ['k1', 'k2', 'k3']));
    expect(others).toMatchObject([
      { status: 503, message: 'Full.' },
      { status: 503, message: 'Full.' },
    ]);
  });

  test('a refusal of the caller, not of the batch, is the outcome of each', async () => {
    const { client, seen } = scriptedClient((one) =>
      one.path === '/timers/batch' ? json({}, 429, { 'retry-after': '3' }) : agreeable(one),
    );
    const [, ...others] = await told(sets(client, ['k1', 'k2', 'k3']));
    const refusal = { status: 429, retryAfterMs: 3000 };
    expect(others).toMatchObject([refusal, refusal]);
    expect(seen).toHaveLength(2);
  });
});

describe('callers that do not wait any longer', () => {
  test('one of several: it ends at once, the others have their outcomes', async () => {
    const { script, next } = held(agreeable);
    const { client, seen } = scriptedClient(script);
    const stop = new AbortController();
    const { signal } = stop;
    const calls = [
      ...sets(client, ['k1', 'k2']),
      client.set(spec, { signal, idempotencyKey: 'k3' }),
    ];
    await settle();
    stop.abort(new Error('enough'));
    await expect(calls[2]).rejects.toThrow('enough');
    await next();
    await next();
    expect(await told(calls)).toMatchObject(['k1', 'id-of-k2', { message: 'enough' }]);
    expect(seen).toHaveLength(2);
  });

  test('before it left: it is not sent', async () => {
    const { client, seen } = scriptedClient(agreeable);
    const stop = new AbortController();
    const { signal } = stop;
    const calls = [...sets(client, ['k1', 'k2']), client.set(spec, { signal })];
    stop.abort(new Error('enough'));
    expect(await told(calls)).toMatchObject(['k1', 'k2', { message: 'enough' }]);
    expect(paths(seen)).toEqual(['POST /timers', 'POST /timers']);
    await expect(client.cancel('x', { signal })).rejects.toThrow('enough');
    expect(seen).toHaveLength(2);
  });

  test('all of them: the request ends, and no other member is asked', async () => {
    const { client, seen, system } = scriptedClient(
      (one) => (one.path === '/timers/batch' ? 'silence' : agreeable(one)),
      { members: [a, b] },
    );
    const stop = new AbortController();
    const { signal } = stop;
    const calls = [
      client.set(spec),
      client.cancel('x', { signal }),
      client.cancel('y', { signal }),
    ];
    await settle();
    stop.abort(new Error('enough'));
    const enough = { message: 'enough' };
    expect(await told(calls)).toMatchObject([expect.any(String), enough, enough]);
    await settle();
    expect(paths(seen)).toEqual(['POST /timers', '2 changes']);
    expect(system.alarmCount).toBe(0);
  });
});

describe('members that do not take batches of changes', () => {
  test('an older one gets them one by one under the same keys, and is asked again a minute later', async () => {
    const { client, seen, system } = scriptedClient(older);
    expect(await told(sets(client, ['k1', 'k2', 'k3']))).toEqual(['k1', 'k2', 'k3']);
    expect(paths(seen)).toEqual(['POST /timers', '2 changes', 'POST /timers', 'POST /timers']);
    await told(sets(client, ['k4', 'k5', 'k6']));
    expect(paths(seen).slice(4)).toEqual(['POST /timers', 'POST /timers', 'POST /timers']);
    await settle();
    system.advance(60_000);
    await told(sets(client, ['k7', 'k8', 'k9']));
    expect(paths(seen).slice(7, 9)).toEqual(['POST /timers', '2 changes']);
  });

  test('a bad timer there has its own error', async () => {
    const { client } = scriptedClient((one) =>
      one.headers.get('idempotency-key') === 'k2'
        ? json({ detail: 'Too small.', pointer: '/timing/interval' }, 400)
        : older(one),
    );
    expect(await told(sets(client, ['k1', 'k2', 'k3']))).toMatchObject([
      'k1',
      { status: 400, problem: { pointer: '/timing/interval' } },
      'k3',
    ]);
  });

  test('one whose limits are smaller gets them one by one', async () => {
    const { client, seen } = scriptedClient((one) =>
      one.path === '/timers/batch' ? json({}, 413) : agreeable(one),
    );
    expect(await told(sets(client, ['k1', 'k2', 'k3']))).toEqual(['k1', 'k2', 'k3']);
    expect(seen).toHaveLength(4);
  });

  test('after a failure on the way, another member gets the remaining changes, as a batch', async () => {
    const { client, seen } = scriptedClient(
      (one) => {
        if (one.member === b) return agreeable(one);
        return one.headers.get('idempotency-key') === 'k1' || one.path === '/timers/batch'
          ? older(one)
          : refused;
      },
      { members: [a, b] },
    );
    expect(await told(sets(client, ['k1', 'k2', 'k3']))).toEqual(['k1', 'id-of-k2', 'id-of-k3']);
    expect(paths(seen).at(-1)).toBe('2 changes');
    expect(seen.at(-1)?.member).toBe(b);
  });
});
