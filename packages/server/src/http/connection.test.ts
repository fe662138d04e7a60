/**
 * How clients treat one connection: pipelining, silence, breaking off, not reading. Time is virtual where it matters.
 */
import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { serving } from './listening.contract.ts';
import { type ApiRequest, type ApiResponse, textResponse } from './message.ts';
import type { Outflow } from './outflow.ts';

const get = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`;
const post = (body: string, headers = ''): string =>
  `POST / HTTP/1.1\r\nhost: localhost\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;

/** Requests that wait until they are told to go on. */
class Held {
  readonly paths: string[] = [];
  private readonly waiting = new Map<string, () => void>();

  readonly handle = (request: ApiRequest): Promise<ApiResponse> => {
    this.paths.push(request.path);
    return new Promise((resolve) => {
      this.waiting.set(request.path, () => resolve(textResponse(request.path)));
    });
  };

  release(...paths: string[]): void {
    for (const path of paths) this.waiting.get(path)?.();
  }
}

test('pipelined requests are worked on side by side and answered in their order', async () => {
  const held = new Held();
  await using at = await serving(held.handle);
  const client = await at.dial();
  client.send(['/a', '/b', '/c'].map((path) => get(path)).join(''));
  await expect.poll(() => held.paths).toEqual(['/a', '/b', '/c']);
  held.release('/c', '/b');
  await at.dial();
  expect(client.text).toBe('');
  held.release('/a');
  await client.until(/\/a.*\/b.*\/c$/s);
  client.socket.destroy();
});

test('answers that are written together keep each character of their bodies', async () => {
  const handle = ({ path }: ApiRequest): ApiResponse =>
    textResponse(path === '/empty' ? '' : 'ä€𝄞');
  await using at = await serving(handle);
  const client = await at.dial();
  client.send(['/empty', '/text', '/empty', '/text'].map((path) => get(path)).join(''));
  client.send(get('/empty', 'connection: close\r\n'));
  await client.closed;
  expect(Buffer.from(client.text, 'latin1').toString('utf8').match(/ä€𝄞/g)).toHaveLength(2);
});

test('of one connection no more than 32 requests are under way; the rest waits in the socket', async () => {
  const held = new Held();
  await using at = await serving(held.handle);
  const client = await at.dial();
  const paths = Array.from({ length: 100 }, (_, i) => `/${i}`);
  client.send(paths.map((path) => get(path)).join(''));
  await expect.poll(() => held.paths.length).toBe(32);
  await (await at.dial()).until(/^/);
  expect(held.paths).toHaveLength(32);
  for (let done = 0; done < 100; done = held.paths.length) {
    held.release(...held.paths);
    await expect.poll(() => held.paths.length > done || client.statuses.length === 100).toBe(true);
    if (client.statuses.length === 100) break;
  }
  held.release(...held.paths);
  await client.until(/\/99$/);
  expect(client.text.match(/^\/\d+/gm)).toEqual(paths);
  client.socket.destroy();
});

test('while a client does not read, its further requests are not worked on, and in the end it is cut', async () => {
  const clock = new VirtualClock();
  let worked = 0;
  const page = 'x'.repeat(60_000);
  const handle = (): ApiResponse => {
    worked++;
    return textResponse(page);
  };
  await using at = await serving(handle, { clock });
  const client = await at.dial();
  client.socket.pause();
  client.send(get('/').repeat(2000));
  await expect.poll(() => worked).toBeGreaterThan(0);
  let before = -1;
  // The kernel takes some megabytes for both sides, then it is full.
  await expect
    .poll(() => [before, (before = worked)].every((n) => n === worked), { interval: 50 })
    .toBe(true);
  expect(worked).toBeLessThan(1000);
  await clock.advance(80_000);
  client.socket.resume();
  await client.closed;
  expect(client.statuses.length).toBeLessThan(1000);
});

test('a client that reads slowly but steadily is not cut', async () => {
  const clock = new VirtualClock();
  const page = 'ü'.repeat(8 * 1024 * 1024);
  await using at = await serving(() => textResponse(page), { clock });
  const client = await at.dial();
  client.socket.pause();
  client.send(get('/'));
  const all = 2 * page.length;
  while (client.text.length < all) {
    await clock.advance(50_000);
    const enough = Math.min(all, client.text.length + all / 4);
    client.socket.resume();
    await expect.poll(() => client.text.length, { interval: 5 }).toBeGreaterThanOrEqual(enough);
    client.socket.pause();
  }
  expect(client.text).toContain(`content-length: ${2 * page.length}\r\n`);
  client.socket.destroy();
});

test('a long answer comes whole, and the answers behind it in order', async () => {
  const page = 'aü'.repeat(200_000);
  await using at = await serving(({ path }) => textResponse(path === '/page' ? page : 'short'));
  const client = await at.dial();
  client.send(get('/a') + get('/page') + get('/b'));
  await client.until(/short.*short$/s);
  const [, , body = ''] = client.text.split(/\r\n\r\n/);
  expect(Buffer.from(body, 'latin1').toString('utf8').slice(0, page.length)).toBe(page);
  client.socket.destroy();
});

test.each([
  ['headers', 'GET / HTTP/1.1\r\nhost: localhost\r\nslow: ', 10_000],
  ['body', 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhello', 30_000],
  [
    'chunks',
    'POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel',
    30_000,
  ],
  [
    'trailers',
    'POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx',
    30_000,
  ],
])('slow %s: 408, not before its time, then closed', async (_, text, limitMs) => {
  const clock = new VirtualClock();
  await using at = await serving(() => textResponse('never'), { clock });
  const client = await at.dial();
  client.send(text);
  await expect.poll(() => at.metrics.httpConnections.value).toBe(1);
  await at.dial();
  await clock.advance(limitMs - 1);
  expect(client.text).toBe('');
  await clock.advance(3000);
  await client.closed;
  expect(client.text).toMatch(/^HTTP\/1\.1 408 .*connection: close.*"status":408/s);
  expect(at.metrics.httpRefused.count('too_slow')).toBe(1);
});

test('a drip does not gain time', async () => {
  const clock = new VirtualClock();
  await using at = await serving(() => textResponse('never'), { clock });
  const client = await at.dial();
  client.send(`POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n`);
  for (let s = 0; s < 33 && client.text === ''; s++) {
    client.send('x');
    await clock.advance(1000);
  }
  await client.closed;
  expect(client.statuses).toEqual([408]);
});

test('silence is closed without a word: at first after the time for headers, later after the time for idling', async () => {
  const clock = new VirtualClock();
  await using at = await serving(() => textResponse('OK'), { clock });
  const fresh = await at.dial();
  const used = await at.dial();
  used.send(get('/'));
  await used.until(/OK$/);
  await clock.advance(13_000);
  await fresh.closed;
  expect(fresh.text).toBe('');
  await clock.advance(75_000 - 13_000 - 1);
  used.send(get('/'));
  await used.until(/OK.*OK.*OK/s);
  await clock.advance(78_000);
  await used.closed;
  expect(used.statuses).toEqual([200, 200]);
});

test('a request under way is waited for longer than any client', async () => {
  const clock = new VirtualClock();
  const held = new Held();
  await using at = await serving(held.handle, { clock });
  const client = await at.dial();
  client.send(get('/a'));
  await expect.poll(() => held.paths).toEqual(['/a']);
  await clock.advance(600_000);
  held.release('/a');
  await client.until(/\/a$/);
  client.socket.destroy();
});

test('without connections nothing is swept', async () => {
  const clock = new VirtualClock();
  await using at = await serving(() => textResponse('OK'), { clock });
  expect(clock.nextMs()).toBeNull();
  const client = await at.dial();
  client.send(get('/'));
  await client.until(/OK$/);
  expect(clock.nextMs()).not.toBeNull();
  client.socket.destroy();
  await expect.poll(() => at.metrics.httpConnections.value).toBe(0);
  await clock.advance(1000);
  expect(clock.nextMs()).toBeNull();
});

test('every answer has the date of the clock', async () => {
  const clock = new VirtualClock({ wallMs: Date.UTC(2026, 6, 1, 12, 0, 0) });
  await using at = await serving(() => textResponse('OK'), { clock });
  const client = await at.dial();
  client.send(get('/'));
  await client.until(/\r\ndate: Wed, 01 Jul 2026 12:00:00 GMT\r\n/);
  await clock.advance(5000);
  client.send(get('/'));
  await client.until(/\r\ndate: Wed, 01 Jul 2026 12:00:05 GMT\r\n/);
  client.socket.destroy();
});

test('clients are told how long a connection may be idle, unless it closes', async () => {
  await using at = await serving(() => textResponse('OK'), {
    overrides: { 'limits.idleTimeoutMs': 5500 },
  });
  const client = await at.dial();
  client.send(get('/'));
  await client.until(/\r\nkeep-alive: timeout=5\r\n.*OK$/s);
  client.send(get('/', 'connection: close\r\n'));
  await client.closed;
  expect(client.text.match(/keep-alive|connection: close/g)).toEqual([
    'keep-alive',
    'connection: close',
  ]);
});

test.each([
  ['connection: close', get('/a', 'connection: close\r\n')],
  ['HTTP/1.0', 'GET /a HTTP/1.0\r\n\r\n'],
  ['HTTP/1.0 that would keep it', 'GET /a HTTP/1.0\r\nconnection: keep-alive\r\n\r\n'],
])('%s: closed after the answer, and nothing behind it is worked on', async (_, text) => {
  const seen: string[] = [];
  await using at = await serving(({ path }) => {
    seen.push(path);
    return textResponse('OK');
  });
  const client = await at.dial();
  client.send(text + get('/b'));
  await client.closed;
  expect(client.text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n.*\r\n\r\nOK$/s);
  expect(seen).toEqual(['/a']);
  expect(client.error).toBeNull();
});

test('a client that is done sending still gets its answers', async () => {
  const held = new Held();
  await using at = await serving(held.handle);
  const client = await at.dial();
  client.socket.allowHalfOpen = true;
  client.send(get('/a') + get('/b'));
  client.socket.end();
  await expect.poll(() => held.paths).toEqual(['/a', '/b']);
  held.release('/a', '/b');
  await client.closed;
  expect(client.text).toMatch(/\/a.*connection: close.*\/b$/s);
});

test.each([
  ['in the request line', 'GET /'],
  ['in the headers', 'GET / HTTP/1.1\r\nhost: localhost\r\n'],
  ['in the body', 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhello'],
  [
    'in the chunks',
    'POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n',
  ],
])('a request that breaks off %s is 400 and reaches no route', async (_, text) => {
  let worked = 0;
  await using at = await serving(() => textResponse(String(worked++)));
  const client = await at.dial();
  client.socket.allowHalfOpen = true;
  client.send(text);
  client.socket.end();
  await client.closed;
  expect([client.statuses, worked]).toEqual([[400], 0]);
});

test('a client that goes away leaves nothing behind', async () => {
  const held = new Held();
  await using at = await serving(held.handle);
  const client = await at.dial();
  client.send(
    `${get('/a')}${get('/b')}POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhello`,
  );
  await expect.poll(() => at.metrics.httpInFlight.value).toBe(2);
  client.socket.destroy();
  held.release('/a', '/b');
  await expect.poll(() => at.metrics.httpInFlight.value).toBe(0);
  await expect.poll(() => at.metrics.httpConnections.value).toBe(0);
});

test('100-continue waits for the answers before it', async () => {
  const held = new Held();
  await using at = await serving((request) =>
    request.method === 'POST'
      ? textResponse(`got ${String(request.body.length)}`)
      : held.handle(request),
  );
  const client = await at.dial();
  client.send(
    `${get('/a')}POST / HTTP/1.1\r\nhost: localhost\r\nexpect: 100-Continue\r\ncontent-length: 5\r\n\r\n`,
  );
  await expect.poll(() => held.paths).toEqual(['/a']);
  expect(client.text).toBe('');
  held.release('/a');
  await client.until(/\/aHTTP\/1\.1 100 Continue\r\n\r\n$/);
  client.send('hello');
  await client.until(/got 5$/);
  client.socket.destroy();
});

test('100-continue is not sent to a client that did not wait for it, nor in HTTP/1.0', async () => {
  await using at = await serving(({ body }) => textResponse(`got ${body.length}`));
  const client = await at.dial();
  client.send(post('hello', 'expect: 100-continue\r\n'));
  await client.until(/got 5$/);
  const old = await at.dial();
  old.send('POST / HTTP/1.0\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n');
  await expect.poll(() => at.metrics.httpConnections.value).toBe(2);
  old.send('hello');
  await old.closed;
  expect(client.text + old.text).not.toContain('100 Continue');
  expect(old.text).toMatch(/got 5$/);
  client.socket.destroy();
});

test('answers without a body have none: HEAD, 204, 304', async () => {
  await using at = await serving(({ path, method }) =>
    method === 'HEAD'
      ? textResponse('body')
      : { ...textResponse('body'), status: Number(path.slice(1)) },
  );
  const client = await at.dial();
  client.send(
    `HEAD / HTTP/1.1\r\nhost: localhost\r\n\r\n${get('/204')}${get('/304')}${get('/200')}`,
  );
  await client.until(/body$/);
  expect(client.text.match(/body/g)).toHaveLength(1);
  expect(client.statuses).toEqual([200, 204, 304, 200]);
  expect(client.text.match(/^content-length: \d+/gm)).toEqual([
    'content-length: 4',
    'content-length: 4',
  ]);
  client.socket.destroy();
});

test('a header that would begin another answer is a bug, and is not sent', async () => {
  await using at = await serving(() => ({
    status: 200,
    headers: ['x', 'a\r\n\r\nHTTP/1.1 200'],
    body: '',
  }));
  const client = await at.dial();
  client.send(get('/'));
  await client.until(/"status":500/);
  expect(client.statuses).toEqual([500]);
  client.socket.destroy();
});

test('an answer that goes on: in chunks, while the answers behind it wait', async () => {
  const outs: Outflow[] = [];
  let closed = 0;
  await using at = await serving(({ path }) =>
    path === '/b'
      ? textResponse('behind')
      : { status: 200, headers: [], body: '', stream: (out) => void outs.push(out) },
  );
  const client = await at.dial();
  client.send(get('/a') + get('/b'));
  await client.until(/transfer-encoding: chunked\r\n\r\n$/);
  const [out] = outs;
  out?.onClose(() => closed++);
  out?.write('hello');
  out?.write('');
  out?.write(Buffer.from('ü'));
  await client.until(/5\r\nhello\r\n2\r\n\xc3\xbc\r\n$/);
  expect([closed, client.statuses.length]).toEqual([0, 1]);
  out?.end();
  out?.write('late');
  out?.end();
  await client.until(/\xbc\r\n0\r\n\r\nHTTP\/1\.1 200 OK\r\n.*behind$/s);
  expect(closed).toBe(1);
  client.socket.destroy();
});

test('an answer that goes on: HTTP/1.0 has no chunks, HEAD nothing at all', async () => {
  const stream = (out: Outflow): void => {
    out.write('hello');
    out.end();
  };
  await using at = await serving(() => ({ status: 200, headers: [], body: '', stream }));
  const old = await at.dial();
  old.send('GET / HTTP/1.0\r\n\r\n');
  await old.closed;
  expect(old.text).toMatch(/\r\n\r\nhello$/);
  expect(old.text).not.toContain('chunked');
  const client = await at.dial();
  client.send(`HEAD / HTTP/1.1\r\nhost: localhost\r\n\r\n${get('/', 'connection: close\r\n')}`);
  await client.closed;
  expect(client.text.match(/hello/g)).toHaveLength(1);
});

test('an answer that goes on: the number of unread bytes is told, and the client can be cut', async () => {
  let out: Outflow | null = null;
  let closed = 0;
  await using at = await serving(() => ({
    status: 200,
    headers: [],
    body: '',
    stream: (given) => {
      out = given;
      given.onClose(() => closed++);
    },
  }));
  const client = await at.dial();
  client.socket.pause();
  client.send(get('/'));
  await expect.poll(() => out).not.toBeNull();
  const flow = out as unknown as Outflow;
  const chunk = Buffer.alloc(1024 * 1024);
  for (let i = 0; i < 64; i++) flow.write(chunk);
  expect(flow.waitingBytes).toBeGreaterThan(32 * 1024 * 1024);
  flow.cut();
  await expect.poll(() => closed).toBe(1);
  flow.write(chunk);
  expect(flow.waitingBytes).toBe(0);
  client.socket.destroy();
});

test('an early refusal comes before the body, a late one with it', async () => {
  await using at = await serving(() => textResponse('OK'), {
    overrides: { 'limits.bodyBytesMax': 10 },
  });
  const client = await at.dial();
  client.send(
    'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-encoding: br\r\ncontent-length: 5\r\n\r\n',
  );
  await client.closed;
  expect(client.statuses).toEqual([415]);
  const plain = await at.dial();
  plain.send(post('hello', 'content-encoding: Identity\r\n'));
  await plain.until(/OK$/);
  plain.send(get('/', 'content-encoding: gzip\r\n'));
  await plain.until(/OK.*OK.*OK/s);
  plain.socket.destroy();
});

test('a client without permission is refused before it sends the body; when the body is there already, the route refuses', async () => {
  const seen: string[] = [];
  const refuseEarly = ({ headers, remote }: ApiRequest): ApiResponse | null => {
    seen.push(remote ?? '');
    return headers['authorization'] === undefined ? { ...textResponse('who?'), status: 401 } : null;
  };
  await using at = await serving(() => textResponse('worked'), { refuseEarly });
  const head =
    'POST / HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 5\r\n';
  const stranger = await at.dial();
  stranger.send(`${head}\r\n`);
  await stranger.closed;
  expect(stranger.text).toMatch(/^HTTP\/1\.1 401 .*connection: close.*who\?$/s);
  expect(at.metrics.httpRefused.count('not_allowed')).toBe(1);
  const known = await at.dial();
  known.send(`${head}authorization: x\r\n\r\n`);
  await known.until(/100 Continue/);
  known.send('hello');
  await known.until(/worked$/);
  expect(seen).toEqual(['127.0.0.1', '127.0.0.1']);
  known.send(post('hello'));
  await known.until(/worked.*worked$/s);
  expect(seen).toHaveLength(2);
  known.socket.destroy();
});
