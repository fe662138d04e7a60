/** The client against a real member over loopback: that both sides mean the same by every request and header. */
import { createServer, type Server } from 'node:http';
import { loadConfig, type RunningMember, startMember } from '@carillon/server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Carillon } from './carillon.ts';
import { ApiError } from './errors.ts';
import { Carillon as NodeCarillon } from './node/index.ts';
import { handler } from './payload/handlers.ts';
import { type Invoice, invoiceSchema } from './payload/testing/invoice.ts';
import type { Pop } from './pop.ts';
import { type ReceiverOptions, receiver } from './receiver.ts';
import type { DeadLetter } from './shapes.ts';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const older = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;

let member: RunningMember;
let client: Carillon;

beforeAll(async () => {
  const loaded = loadConfig({
    flags: {
      listen: '127.0.0.1:0',
      durability: 'memory',
      'log-level': 'silent',
      'callbacks-signing-secrets': secret,
    },
  });
  if (!loaded.ok) throw new Error(loaded.problems.join(' '));
  const stopped = (error: unknown): never => {
    throw error;
  };
  member = await startMember({ config: loaded.config, onFailed: stopped, onDrained: () => {} });
});
afterAll(() => member.stop());

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** The receiver behind a real HTTP server, adapted the way the docs show. */
async function receiving(options: ReceiverOptions, handle: (pop: Pop) => void) {
  return listening(receiver(handle, options));
}

async function listening(receive: (request: Request) => Promise<Response>) {
  const statuses: number[] = [];
  /** Pops in each request; null: it was a single one. */
  const counts: (number | null)[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const count = request.headers['x-timer-count'];
      counts.push(count === undefined ? null : Number(count));
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
      const init = {
        method: 'POST',
        headers: Object.fromEntries(headers),
        body: Buffer.concat(chunks),
      };
      void receive(new Request('http://receiver/', init)).then((answer) => {
        statuses.push(answer.status);
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end();
      });
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  return { uri: `http://127.0.0.1:${port}/`, statuses, counts };
}

const later = { in: '1h', uri: 'http://127.0.0.1:9/' } as const;

const kinds: readonly [string, typeof Carillon][] = [
  ['fetch', Carillon],
  ['kept-connections', NodeCarillon],
];

describe.each(kinds)('Carillon by %s and a real member', (kind, Client) => {
  beforeEach(() => {
    client = new Client({ members: [`http://${member.address}`], namespace: kind });
  });

  test('changes that go together have the outcomes that each would have by itself', async () => {
    const asked = Array.from({ length: 50 }, (_, i) => ({ ...later, opaque: `${kind} ${i}` }));
    const set = await Promise.all(asked.map((spec) => client.set(spec)));
    const shown = await Promise.all(set.map(({ id }) => client.get(id)));
    expect(shown.map((timer) => timer?.opaque)).toEqual(asked.map(({ opaque }) => opaque));
    const [first, second, third] = set.map(({ id }) => id) as [string, string, string];
    const calls = [
      client.replace(first, { ...later, opaque: 'replaced' }),
      client.replace(second, { ...later, factor: 99 }),
      client.cancel(third),
      client.cancel('no id'),
      client.cancel(second),
      client.replace(second, { ...later, opaque: 'last' }),
      client.set({ ...later, uri: 'ftp://x/' }),
    ];
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([
      true,
      false,
      true,
      false,
      true,
      true,
      false,
    ]);
    const errors = outcomes.map((outcome) => (outcome as { reason?: ApiError }).reason);
    const pointers = errors.map((error) => error?.problem?.pointer);
    expect(errors[3]?.status).toBe(404);
    expect([pointers[1], pointers[6]]).toEqual([
      '/reliability/replication-factor',
      '/callback/http/uri',
    ]);
    expect((await client.get(first))?.opaque).toBe('replaced');
    expect((await client.get(second))?.opaque).toBe('last');
    expect((await client.get(third))?.state ?? 'ended').toBe('ended');
  });

  test('set, get, replace, cancel', async () => {
    const { id, copies } = await client.set({ ...later, opaque: 'grüß', tags: ['a'], factor: 1 });
    expect(copies).toEqual({ have: 1, wanted: 1 });
    expect(await client.get(id)).toMatchObject({
      id,
      state: 'pending',
      uri: later.uri,
      opaque: 'grüß',
      tags: ['a'],
      timing: { interval: 3600 },
      factor: 1,
      sequence: 0,
      replicas: [member.name],
    });
    const replaced = await client.replace(id, { every: '10m', count: 3, uri: later.uri });
    expect((await client.get(replaced.id))?.timing).toEqual({ interval: 600, count: 3 });
    await client.cancel(replaced.id);
    expect((await client.get(id))?.state ?? 'ended').toBe('ended');
    await client.cancel(id);
  });

  test('the same idempotency key is one timer, and another body under it is refused', async () => {
    const options = { idempotencyKey: 'order 17' };
    const first = await client.set(later, options);
    expect((await client.set(later, options)).id).toBe(first.id);
    const other = client.set({ ...later, opaque: 'other' }, options);
    await expect(other).rejects.toMatchObject({ status: 422 });
  });

  test('a batch keeps its order around a bad item, and repeating it sets nothing twice', async () => {
    const specs = [
      { ...later, tags: ['batch'] },
      { ...later, uri: 'ftp://x/' },
      { ...later, tags: ['batch'] },
    ];
    const options = { idempotencyKey: 'batch 1' };
    const outcomes = await client.setMany(specs, options);
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(outcomes[1]).toMatchObject({ error: { status: 400 } });
    expect(outcomes[1]?.ok === false && outcomes[1].error.problem?.pointer).toBe(
      '/callback/http/uri',
    );
    const again = await client.setMany(specs, options);
    const ids = (list: typeof outcomes) => list.map((one) => (one.ok ? one.id : null));
    expect(ids(again)).toEqual(ids(outcomes));
  });

  test('list goes over all pages, cancelByTag counts', async () => {
    const specs = Array.from({ length: 25 }, () => ({ ...later, tags: ['pages'] }));
    const set = await client.setMany(specs);
    const wanted = set.map((one) => (one.ok ? one.id : ''));
    const found: string[] = [];
    for await (const { id } of client.list({ tag: 'pages', pageSize: 10 })) found.push(id);
    expect(found.toSorted()).toEqual(wanted.toSorted());
    expect(await client.cancelByTag('pages')).toBe(25);
    const left: string[] = [];
    for await (const { id } of client.list({ tag: 'pages', state: 'pending' })) left.push(id);
    expect(left).toEqual([]);
  });

  test('list by due time goes over all pages in order, within a range, and count counts', async () => {
    const tags = ['next:up'];
    const at = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);
    const minutes = [50, 10, 40, 20, 30];
    await client.setMany(minutes.map((m) => ({ in: m * 60_000, uri: later.uri, tags })));
    const which = { tagPrefix: 'next:', from: at(15), to: at(45) };
    const dues: number[] = [];
    for await (const { nextDue } of client.list({ ...which, pageSize: 2 })) {
      dues.push(Math.round(((nextDue?.getTime() ?? 0) - Date.now()) / 60_000));
    }
    expect(dues).toEqual([20, 30, 40]);
    expect(await client.count({ tagPrefix: 'next:' })).toEqual({ count: 5, exact: true });
    expect(await client.count({ ...which, order: 'due' })).toEqual({ count: 3, exact: true });
    expect(await client.cancelByTag('next:up')).toBe(5);
  });

  test('the versions of all kinds of changes are heard, and carried to the next', async () => {
    const seen: (string | null)[] = [];
    const note = (): number => seen.push(client.seen);
    const { id } = await client.set({ in: '1h', uri: 'http://127.0.0.1:9/', tags: ['v'] });
    note();
    await client.replace(id, { in: '2h', uri: 'http://127.0.0.1:9/', tags: ['v'] });
    note();
    await client.setMany([{ in: '1h', uri: 'http://127.0.0.1:9/', tags: ['v'] }]);
    note();
    await client.cancel(id);
    note();
    await client.cancelByTag('v');
    note();
    expect(new Set(seen).size).toBe(5);
    const ahead = `${Math.floor(Date.now() + 3_600_000)}.0`;
    client.saw(ahead);
    await client.cancel(id);
    expect(Number.parseInt(client.seen ?? '', 10)).toBe(Number.parseInt(ahead, 10));
    expect(client.seen).not.toBe(ahead);
  });

  test('a mistake comes back with its place in the body', async () => {
    const error = await client.set({ ...later, factor: 99 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 400,
      problem: { pointer: '/reliability/replication-factor' },
    });
    expect(await client.get('not-an-id')).toBeNull();
  });

  test('cluster tells of the member itself', async () => {
    const { members, source } = await client.cluster();
    expect(source).toBe('alone');
    expect(members).toHaveLength(1);
    expect(members[0]).toMatchObject({ name: member.name, self: true, phase: 'active' });
  });

  test.each([
    ['the secret', secret],
    ['one of two secrets', [older, secret]],
  ])('a receiver that knows %s takes signed callbacks', async (_which, known) => {
    const { promise, resolve } = Promise.withResolvers<Pop>();
    const { uri } = await receiving({ secret: known }, resolve);
    const { id } = await client.set({ in: 1, uri, opaque: 'grüß' });
    expect(await promise).toMatchObject({ id, sequence: 1, attempt: 1, missed: 0, opaque: 'grüß' });
  });

  test('once a receiver has answered, pops that are due together come together, and only the failed one again', async () => {
    const handled: string[] = [];
    const { uri, counts } = await receiving({ secret }, ({ opaque, attempt }) => {
      handled.push(opaque);
      if (opaque === '7' && attempt === 1) throw new Error('away');
    });
    await client.set({ in: 1, uri, opaque: 'first' });
    await expect.poll(() => handled).toEqual(['first']);
    expect(counts).toEqual([null]);
    const together = { at: Date.now() + 500, uri, retry: { base: 10 } };
    const numbers = Array.from({ length: 20 }, (_, i) => String(i));
    await Promise.all(numbers.map((opaque) => client.set({ ...together, opaque })));
    await expect.poll(() => handled.length, { timeout: 10_000 }).toBe(22);
    expect(handled.toSorted()).toEqual([...numbers, '7', 'first'].toSorted());
    expect(Math.max(...counts.map((count) => count ?? 1))).toBeGreaterThan(1);
    expect(counts.at(-1)).toBeNull();
  });

  test('data comes back typed, and data that does not fit is a dead letter after one attempt, to be sent again', async () => {
    const { promise: handled, resolve } = Promise.withResolvers<unknown>();
    const { promise: mended, resolve: resolveMended } = Promise.withResolvers<unknown>();
    const handlers = {
      checked: handler(invoiceSchema, ({ data }) => resolve(data.euros)),
      mended: handler<Invoice>(({ data }) => resolveMended(data.number)),
    };
    const { uri, statuses } = await listening(receiver({ secret, handlers }));
    const data = { number: 17, cents: 4200 };
    await client.set<Invoice>({ in: 1, uri, name: 'checked', data, schema: invoiceSchema });
    expect(await handled).toBe('42.00');
    const old = { number: 18 } as Invoice;
    const refused = client.set({ in: 1, uri, name: 'checked', data: old, schema: invoiceSchema });
    await expect(refused).rejects.toThrow('does not fit its schema at /cents: expected a number');
    await client.set<Invoice>({ in: 1, uri, name: 'checked', data: old });
    const lettersOf = async () => {
      const found: DeadLetter[] = [];
      for await (const letter of client.deadLetters.list()) found.push(letter);
      return found.filter(({ uri: to }) => to === uri);
    };
    await expect.poll(lettersOf).toMatchObject([{ attempts: 1 }]);
    expect(statuses).toEqual([200, 410]);
    handlers.checked = handlers.mended;
    const [letter] = await lettersOf();
    expect(await client.deadLetters.redeliver(letter?.id ?? '')).toBe(true);
    expect(await mended).toBe(18);
  });

  test('a receiver with another secret refuses, the pop becomes a dead letter and can be sent again', async () => {
    const { promise, resolve } = Promise.withResolvers<Pop>();
    const strange = await receiving({ secret: older }, resolve);
    await client.set({
      in: 1,
      uri: strange.uri,
      opaque: 'letter',
      retry: { maxAttempts: 1 },
    });
    const lettersOf = async () => {
      const found: { id: string; opaque: string; attempts: number }[] = [];
      for await (const letter of client.deadLetters.list()) found.push(letter);
      return found.filter(({ opaque }) => opaque === 'letter');
    };
    await expect.poll(lettersOf).toHaveLength(1);
    expect(strange.statuses).toEqual([401]);
    const [letter] = await lettersOf();
    expect(letter?.attempts).toBe(1);
    expect(await client.deadLetters.redeliver(letter?.id ?? '')).toBe(true);
    await expect.poll(() => strange.statuses.length).toBeGreaterThan(1);
    resolve({} as Pop);
    await promise;
    expect(await client.deadLetters.discard('0000000000000000-1')).toBe(false);
  });
});
