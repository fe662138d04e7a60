/** The contract of an exchange, run on every implementation against servers that answer byte by byte as told. */
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { keptConnections } from '../node/kept-connections.ts';
import type { Exchange, Outgoing } from './exchange.ts';
import { fetched } from './fetched.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of servers.splice(0)) server.close();
});

interface Heard {
  readonly url: string;
  /** Whole requests, in the order of their arrival, with the number of their connection. */
  readonly requests: { readonly text: string; readonly connection: number }[];
}

/** Calls `answer` for each whole request. */
async function listening(answer: (socket: Socket, count: number) => void): Promise<Heard> {
  const requests: { text: string; connection: number }[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    const connection = ++connections;
    let text = '';
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (head === -1 || text.length < head + 4 + length) return;
      requests.push({ text, connection });
      text = '';
      answer(socket, requests.length);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  return { url: `http://127.0.0.1:${port}`, requests };
}

function ask(url: string, given: Partial<Outgoing> = {}): Outgoing {
  const { signal } = new AbortController();
  return { method: 'GET', url, headers: {}, body: null, signal, repeatable: true, ...given };
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

const ways: readonly [string, () => Exchange][] = [
  ['fetch', () => fetched(fetch)],
  ['kept connections on Node', keptConnections],
];

describe.each(ways)('exchanges by %s', (_name, make) => {
  test('method, path, headers and body go out as they are', async () => {
    const { url, requests } = await listening((socket) => socket.write(ok));
    const headers = { 'idempotency-key': 'k 1', 'content-type': 'application/json' };
    await make()(ask(`${url}/timers?a=b`, { method: 'PUT', headers, body: '{"ü":1}' }));
    const text = requests[0]?.text ?? '';
    expect(text).toMatch(/^PUT \/timers\?a=b HTTP\/1\.1\r\n/);
    expect(text).toMatch(/\r\nidempotency-key: k 1\r\n/i);
    expect(text).toMatch(/\r\ncontent-length: 8\r\n/i);
    expect(Buffer.from(text, 'latin1').toString()).toContain('{"ü":1}');
  });

  test.each([
    ['/timers/batch', '/timers/batch'],
    ['', '/'],
    ['/', '/'],
    ['/timers?tag=a%20b', '/timers?tag=a%20b'],
    ['/a/../timers', '/timers'],
    ['/timers/ü x', '/timers/%C3%BC%20x'],
  ])('the path %s is asked for as a URL has it, with the host', async (path, asked) => {
    const { url, requests } = await listening((socket) => socket.write(ok));
    const exchange = make();
    for (let i = 0; i < 2; i++) await exchange(ask(url + path));
    for (const { text } of requests) {
      expect(text.startsWith(`GET ${asked} HTTP/1.1\r\n`)).toBe(true);
      expect(text.toLowerCase()).toContain(`\r\nhost: ${url.slice('http://'.length)}\r\n`);
    }
    expect(requests).toHaveLength(2);
  });

  test('a byte order mark at the beginning of a body is no part of its text', async () => {
    const { url } = await listening((socket) =>
      socket.write(Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n\ufeff{}')),
    );
    expect((await make()(ask(url))).text).toBe('{}');
  });

  test('status, headers and body come back, whole or in chunks', async () => {
    const chunked =
      'HTTP/1.1 404 Not Found\r\nRetry-After: 3\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n3\r\n\u0000ab\r\n0\r\n\r\n';
    const { url } = await listening((socket, count) => socket.write(count === 1 ? ok : chunked));
    const exchange = make();
    expect(await exchange(ask(url))).toMatchObject({ status: 200, text: 'ok' });
    const answer = await exchange(ask(url));
    expect([answer.status, answer.text]).toEqual([404, '{}\u0000ab']);
    expect([answer.headers.get('retry-after'), answer.headers.get('location')]).toEqual([
      '3',
      null,
    ]);
    expect(new Headers([...answer.headers]).get('Retry-After')).toBe('3');
  });

  test('a body that comes in pieces, in the middle of a character', async () => {
    const { url } = await listening((socket) => {
      const bytes = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nüä');
      socket.write(bytes.subarray(0, -3));
      setImmediate(() => socket.write(bytes.subarray(-3)));
    });
    expect((await make()(ask(url))).text).toBe('üä');
  });

  test.each([
    [
      'a redirect',
      'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n',
    ],
    ['no HTTP', 'hello\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nokk'],
    ['a head without an end', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}`],
  ])('%s is no answer', async (_what, text) => {
    const { url } = await listening((socket) => socket.write(text));
    await expect(make()(ask(url))).rejects.toThrow();
  });

  test('an answer that is cut off is none', async () => {
    const { url } = await listening((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
    );
    await expect(make()(ask(url))).rejects.toThrow();
  });

  test('a port without a listener', async () => {
    await expect(make()(ask('http://127.0.0.1:1/'))).rejects.toThrow();
  });

  test.each([['before the answer'], ['in the middle of it']])('an abort %s', async (when) => {
    const stop = new AbortController();
    const { url } = await listening((socket) => {
      if (when !== 'before the answer')
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n');
      setImmediate(() => stop.abort(new Error('enough')));
    });
    await expect(make()(ask(url, { signal: stop.signal }))).rejects.toThrow('enough');
    await expect(make()(ask(url, { signal: stop.signal }))).rejects.toThrow('enough');
  });
});

describe('kept connections on Node', () => {
  test('the next exchange uses the same connection', async () => {
    const { url, requests } = await listening((socket) => socket.write(ok));
    const exchange = keptConnections();
    for (let i = 0; i < 5; i++) await exchange(ask(url));
    expect(new Set(requests.map(({ connection }) => connection)).size).toBe(1);
  });

  test('a connection that is closed just when it is used again is no failure', async () => {
    const { url, requests } = await listening((socket, count) => {
      if (count === 2) socket.destroy();
      else socket.write(ok);
    });
    const exchange = keptConnections();
    await exchange(ask(url));
    expect((await exchange(ask(url, { method: 'POST', body: '{}' }))).text).toBe('ok');
    expect(requests.map(({ connection }) => connection)).toEqual([1, 1, 2]);
  });

  test('an exchange that may be made only once is not made again', async () => {
    const { url, requests } = await listening((socket, count) => {
      if (count === 2) socket.destroy();
      else socket.write(ok);
    });
    const exchange = keptConnections();
    await exchange(ask(url));
    await expect(exchange(ask(url, { method: 'POST', repeatable: false }))).rejects.toThrow();
    expect(requests.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  test('a fresh connection that is closed without an answer is a failure at once', async () => {
    const { url, requests } = await listening((socket) => socket.destroy());
    await expect(keptConnections()(ask(url))).rejects.toThrow();
    expect(requests).toHaveLength(1);
  });

  test('at most 64 connections; exchanges beyond wait, and can be aborted there', async () => {
    const waiting: Socket[] = [];
    const { url, requests } = await listening((socket) => {
      waiting.push(socket);
      if (waiting.length === 64) for (const one of waiting) one.write(ok);
      else if (waiting.length > 64) socket.write(ok);
    });
    const exchange = keptConnections();
    const calls = Array.from({ length: 100 }, () => exchange(ask(url)));
    const stop = new AbortController();
    const late = exchange(ask(url, { signal: stop.signal }));
    stop.abort(new Error('enough'));
    await expect(late).rejects.toThrow('enough');
    expect((await Promise.all(calls)).every(({ text }) => text === 'ok')).toBe(true);
    expect(new Set(requests.map(({ connection }) => connection)).size).toBe(64);
    expect(requests).toHaveLength(100);
  });
});
