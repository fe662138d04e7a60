/**
 * Requests of frameworks as receivers get them. The frameworks themselves are in examples/, run by examples.test.ts.
 */
import { once } from 'node:events';
import { createServer, request as ask } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Pop } from '../pop.ts';
import { receiver } from '../receiver.ts';
import { type ExpressRequest, toExpress } from './express.ts';
import { type FastifyScope, toFastify } from './fastify.ts';
import { toHono } from './hono.ts';
import { toNext } from './next.ts';
import { type IncomingRequest, toListener } from './listener.ts';

const headers = { 'x-timer-id': 'a-1', 'x-sequence-number': '3', 'x-many': ['1', '2'] };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function incoming(...chunks: string[]): IncomingRequest {
  return {
    method: 'POST',
    url: '/callbacks?x=1',
    headers,
    async *[Symbol.asyncIterator]() {
      for (const chunk of chunks) yield bytes(chunk);
    },
  };
}

/** Resolves when the answer has ended, or the connection was destroyed. */
function outgoing() {
  const { promise: over, resolve } = Promise.withResolvers<unknown[]>();
  const sent: unknown[] = [];
  const response = {
    statusCode: 0,
    setHeader: (name: string, value: string) => sent.push(`${name}: ${value}`),
    end: (body: string) => resolve([response.statusCode, ...sent, body]),
    destroy: () => resolve(['destroyed']),
  };
  return { response, over };
}

const told: string[] = [];
const receive = receiver((pop) => {
  told.push(`${pop.id} ${pop.sequence} ${pop.opaque} ${pop.headers.get('x-many')}`);
});
/** Status, headers and body of the answer to a pop that was handled. */
const handled = expect.arrayContaining([200, 'content-type: text/plain', 'OK']) as unknown;

describe('toListener', () => {
  test('hands over method, headers and the body as it came, in pieces', async () => {
    const { response, over } = outgoing();
    toListener(receiver((pop) => void told.push(pop.opaque)))(incoming('or', 'der 17'), response);
    expect(await over).toEqual(handled);
    expect(told.pop()).toBe('order 17');
  });

  test('a request without a body is one without a body', async () => {
    const { response, over } = outgoing();
    toListener(async (request) => new Response(`${request.method} ${request.url}`))(
      { ...incoming(), method: 'GET' },
      response,
    );
    expect((await over).at(-1)).toBe('GET http://receiver/callbacks?x=1');
  });

  test('a caller that goes away in the middle ends the connection, and nothing is thrown', async () => {
    const { response, over } = outgoing();
    const cut: IncomingRequest = {
      ...incoming(),
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('aborted')) }),
    };
    toListener(receive)(cut, response);
    expect(await over).toEqual(['destroyed']);
  });
});

describe('toListener behind node:http', () => {
  const serve = async (own: typeof receive) => {
    const server = createServer(toListener(own));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const post = async (...chunks: string[]) => {
      const asked = ask({ port, method: 'POST', headers, host: '127.0.0.1' });
      for (const chunk of chunks) asked.write(chunk);
      asked.end();
      const [answer] = await once(asked, 'response');
      return { answer, text: await textOf(answer) };
    };
    return { server, port, post };
  };

  test('gives the handler the whole body and, when it asks, the headers', async () => {
    const pops: Pop[] = [];
    const { server, post } = await serve(receiver((pop) => void pops.push(pop)));
    const answered = await post('gr', 'üß');
    expect(answered.answer.statusCode).toBe(200);
    expect(answered.answer.headers).toMatchObject({
      'x-timer-batch': '500',
      'content-length': '2',
    });
    expect(answered.text).toBe('OK');
    expect(pops[0]?.opaque).toBe('grüß');
    expect(pops[0]?.headers.get('x-many')).toBe('1, 2');
    expect(pops[0]?.headers).toBe(pops[0]?.headers);
    server.close();
  });

  test('refuses a body over the limit before all of it has come, and closes the connection', async () => {
    const { server, post } = await serve(receiver(() => undefined, { bodyBytesMax: 3 }));
    const { answer } = await post('four');
    expect(answer.statusCode).toBe(413);
    expect(answer.headers.connection).toBe('close');
    server.close();
  });

  test('a caller that goes away in the middle of a body is answered nothing, and no handler is called', async () => {
    let calls = 0;
    const { server, port } = await serve(receiver(() => void calls++));
    const socket = connect(port, '127.0.0.1');
    const head = 'POST / HTTP/1.1\r\nhost: x\r\nx-timer-id: a-1\r\ncontent-length: 10\r\n\r\n';
    socket.write(`${head}half`);
    await once(server, 'request');
    socket.destroy();
    await once(server.close(), 'close');
    expect(calls).toBe(0);
  });
});

describe('toExpress', () => {
  const through = async (request: ExpressRequest) => {
    const { response, over } = outgoing();
    const { promise: failed, resolve: next } = Promise.withResolvers<unknown>();
    toExpress(receive)(request, response, next);
    return Promise.race([over, failed]);
  };

  test('takes the body as bytes, behind express.raw', async () => {
    expect(await through({ ...incoming(), body: bytes('raw') })).toEqual(handled);
    expect(told.pop()).toBe('a-1 3 raw 1, 2');
  });

  test('takes the body unread, before any middleware', async () => {
    const other = { ...headers, 'x-sequence-number': '4' };
    expect(await through({ ...incoming('unread'), headers: other })).toEqual(handled);
    expect(told.pop()).toBe('a-1 4 unread 1, 2');
  });

  test('says what to do when the body was parsed before', async () => {
    const problem = await through({ ...incoming(), body: {} });
    expect(String(problem)).toContain('put the route before express.json()');
  });
});

test('toFastify registers a route whose body stays raw, inside its own scope', async () => {
  const calls: unknown[] = [];
  const routes: ((request: object, reply: object) => Promise<unknown>)[] = [];
  const scope: FastifyScope = {
    removeAllContentTypeParsers: () => calls.push('no parsers'),
    addContentTypeParser: (type: string, options: object) => calls.push(type, options),
    post: (path: string, handle: (typeof routes)[number]) => {
      calls.push(path);
      routes.push(handle);
    },
  };
  await toFastify(receive, '/callbacks')(scope);
  expect(calls).toEqual(['no parsers', '*', { parseAs: 'buffer' }, '/callbacks']);
  const reply: unknown[] = [];
  const request = {
    method: 'POST',
    url: '/callbacks',
    headers: { ...headers, 'x-sequence-number': '5' },
    body: bytes('fast'),
  };
  const answer = await routes[0]?.(request, {
    code: (status: number) => reply.push(status),
    header: (name: string, value: string) => reply.push(name, value),
  });
  expect(reply.slice(0, 3)).toEqual([200, 'content-type', 'text/plain']);
  expect(answer).toBe('OK');
  expect(told.pop()).toBe('a-1 5 fast 1, 2');
});

test('toHono and toNext hand the request over as it is', async () => {
  const echo = async (request: Request): Promise<Response> => new Response(await request.text());
  const request = (): Request => new Request('http://r/', { method: 'POST', body: 'x' });
  expect(await (await toHono(echo)({ req: { raw: request() } })).text()).toBe('x');
  expect(await (await toNext(echo)(request())).text()).toBe('x');
});

/** Events of a request, in the form in which the types of Node 25 and later declare them. */
interface NewerEvents {
  close: [];
  data: [chunk: unknown];
  end: [];
  error: [error: Error];
}

interface NewerRequest extends AsyncIterable<unknown> {
  method?: string | undefined;
  url?: string | undefined;
  headers: NodeJS.Dict<string | string[]>;
  readonly readableEnded: boolean;
  on<E extends keyof NewerEvents>(name: E, listener: (...given: NewerEvents[E]) => void): this;
  // oxlint-disable-next-line no-explicit-any -- as @types/node has it
  on(name: string | symbol, listener: (...given: any[]) => void): this;
}

test('the types of requests of Node 25 and later fit the adapters', () => {
  expectTypeOf<NewerRequest>().toExtend<Parameters<ReturnType<typeof toListener>>[0]>();
  expectTypeOf<NewerRequest>().toExtend<Parameters<ReturnType<typeof toExpress>>[0]>();
});
