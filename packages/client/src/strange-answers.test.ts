/** Servers at a member's address that are no members: nothing that they answer is taken for a success. */
import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { Carillon } from './carillon.ts';
import { UnreachableError } from './errors.ts';
import { Carillon as OnNode } from './node/index.ts';
import { a, b, scriptedClient, spec } from './testing/scripted-client.ts';
import { json, located, settle } from './testing/stand-in.ts';

async function listed(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const calls: readonly [string, (client: Carillon) => Promise<unknown>][] = [
  ['set', (client) => client.set(spec)],
  ['replace', (client) => client.replace('01-2', spec)],
  ['cancel', (client) => client.cancel('01-2')],
  ['two changes at once', (client) => Promise.all([client.set(spec), client.cancel('01-2')])],
  ['setMany', (client) => client.setMany([spec, spec])],
  ['run', (client) => client.run('01-2')],
  ['preview', (client) => client.preview({ in: '1m' })],
  ['cancelByTag', (client) => client.cancelByTag('x')],
  ['get', (client) => client.get('01-2')],
  ['attempts', (client) => client.attempts('01-2')],
  ['history', (client) => listed(client.history('01-2'))],
  ['audit', (client) => listed(client.audit())],
  ['list', (client) => listed(client.list())],
  ['count', (client) => client.count()],
  ['cluster', (client) => client.cluster()],
  ['drain', (client) => client.drain()],
  ['deadLetters.list', (client) => listed(client.deadLetters.list())],
  ['deadLetters.summary', (client) => client.deadLetters.summary()],
  ['deadLetters.redeliver', (client) => client.deadLetters.redeliver('01-2')],
  ['deadLetters.discard', (client) => client.deadLetters.discard('01-2')],
  ['deadLetters.discardAll', (client) => client.deadLetters.discardAll()],
];

const answers: readonly [string, () => Response][] = [
  ['200 with HTML', () => new Response('<html>Welcome</html>')],
  ['200 without a body', () => new Response('')],
  ['200 with JSON of another service', () => json({ status: 'ok' })],
  ['200 with a list', () => json(['ok', 'ok'])],
  ['204', () => new Response(null, { status: 204 })],
  ['200 with a location elsewhere', () => new Response('', { headers: { location: '/login' } })],
  ['404 with HTML', () => new Response('<html>', { status: 404 })],
  ['404 with JSON of another service', () => json({ error: 'no route' }, 404)],
  ['405 without a body', () => new Response('', { status: 405 })],
];

describe.each(answers)('%s', (_what, answer) => {
  test.each(calls)('is no answer to %s', async (_name, call) => {
    const { client } = scriptedClient(answer, { members: [a, b] });
    const error = await call(client).then(
      (value) => value,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error).toMatchObject({ code: 'NOT_A_MEMBER' });
    expect((error as Error).message).toContain(
      `${a} answered, but not as a Carillon member does: `,
    );
  });

  test('makes a set go to another member, under the same key', async () => {
    const { client, seen } = scriptedClient(
      ({ member }) => (member === a ? answer() : located('01-2')),
      { members: [a, b] },
    );
    expect((await client.set(spec)).id).toBe('01-2');
    expect(seen.map(({ member }) => member)).toEqual([a, b]);
    expect(new Set(seen.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
  });
});

test('a batch whose outcomes name no timer goes to another member, without changes that have theirs', async () => {
  const { client, seen } = scriptedClient(
    ({ member, path, body }) => {
      if (path !== '/timers/batch') return located('01-2');
      const good = { status: 200, id: '02-2', copies: '1/1' };
      const items = body as unknown[];
      return json(member === a ? [good, { status: 200, id: '' }] : items.map(() => good));
    },
    { members: [a, b] },
  );
  const made = await Promise.all([client.set(spec), client.set(spec), client.set(spec)]);
  expect(made.map(({ id }) => id)).toEqual(['01-2', '02-2', '01-2']);
  expect(seen.map(({ member, path }) => member + path)).toEqual([
    `${a}/timers`,
    `${a}/timers/batch`,
    `${b}/timers`,
  ]);
});

test('a request of the caller says itself which answers fit', async () => {
  const { client } = scriptedClient(({ member }) => json({ from: member }), { members: [a, b] });
  const request = { method: 'GET', path: '/x' } as const;
  expect((await client.request(request)).body).toEqual({ from: a });
  const fits = (answer: { body: unknown }): boolean => JSON.stringify(answer.body).includes(b);
  expect((await client.request({ ...request, fits })).body).toEqual({ from: b });
});

test('where one address does not answer and another is no member, the error tells both', async () => {
  const { client } = scriptedClient(
    ({ member }) => (member === a ? new TypeError('gone') : new Response('')),
    { members: [a, b] },
  );
  const error: unknown = await client.get('01-2').catch((thrown: unknown) => thrown);
  await settle();
  expect((error as Error).message).toBe(
    `${a}: gone; ${b} answered, but not as a Carillon member does: no JSON with "id".`,
  );
});

describe('on connections of Node', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  test.each([200, 404])('a web server that answers %i with HTML is no member', async (status) => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end('<html></html>');
    });
    servers.push(server);
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as { port: number };
    const client = new OnNode({ members: [`http://127.0.0.1:${port}`], refresh: null });
    await expect(client.set(spec)).rejects.toMatchObject({ code: 'NOT_A_MEMBER' });
    await expect(client.get('01-2')).rejects.toMatchObject({ code: 'NOT_A_MEMBER' });
  });
});
