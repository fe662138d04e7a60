import { expect, test } from 'vitest';
import { type Listening, listening } from './listening.contract.ts';
import type { SetOutcome } from '../request/service.ts';

const body = JSON.stringify({
  timing: { interval: 30 },
  callback: { http: { uri: 'http://receiver/', opaque: 'ü' } },
});
const post = (text: string, extra = ''): string =>
  `POST /timers HTTP/1.1\r\nhost: localhost\r\n${extra}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

/** Sets are answered when the returned function is called. */
function holdSets({ api: { service } }: Listening): () => void {
  const { answer } = service;
  const held: (() => void)[] = [];
  service.set = (request) =>
    new Promise((resolve) => {
      held.push(() => resolve(answer(request, 1)));
    });
  return () => {
    for (const release of held.splice(0)) release();
  };
}

const headOfTimers = 'HEAD /timers HTTP/1.1\r\nhost: localhost\r\n';

test('a timer is set over a socket, with location, copies, length and request id', async () => {
  await using at = await listening();
  const response = await fetch(`${at.url}/timers`, { method: 'POST', body });
  expect(response.status).toBe(200);
  expect(response.headers.get('location')).toMatch(/^\/timers\/[0-9a-f]{32}-2$/);
  expect(response.headers.get('carillon-copies')).toBe('1/2');
  expect(response.headers.get('content-length')).toBe('0');
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-z]+-0$/);
  expect(at.api.service.sets[0]?.definition.opaque).toBe('ü');
});

test("a client's request id comes back, unless it is unfit for a log", async () => {
  await using at = await listening();
  const idFor = async (id: string) => {
    const response = await fetch(`${at.url}/ping`, { headers: { 'x-request-id': id } });
    return response.headers.get('x-request-id');
  };
  expect(await idFor('abc-1')).toBe('abc-1');
  expect(await idFor('a b')).not.toBe('a b');
  expect(await idFor('x'.repeat(129))).toHaveLength((await idFor('a b'))?.length ?? 0);
});

test('a chunked body is put together', async () => {
  await using at = await listening();
  const client = await at.dial();
  client.send('POST /timers HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n');
  for (const part of [Buffer.from(body).subarray(0, 50), Buffer.from(body).subarray(50)]) {
    client.send(`${part.length.toString(16)}\r\n`);
    client.send(part);
    client.send('\r\n');
  }
  client.send('0\r\n\r\n');
  await client.until(/^HTTP\/1.1 200 /);
  expect(at.api.service.sets[0]?.definition.opaque).toBe('ü');
  client.socket.destroy();
});

test('pipelined requests are answered in order, a slow one first', async () => {
  await using at = await listening();
  const { service } = at.api;
  const { answer } = service;
  let release = (): void => {};
  const first = new Promise<SetOutcome>((resolve) => {
    service.set = (request) => {
      release = () => resolve(answer(request, 7));
      return first;
    };
  });
  const client = await at.dial();
  client.send(
    `${post(body)}GET /ping HTTP/1.1\r\nhost: localhost\r\n\r\nGET /nowhere HTTP/1.1\r\nhost: localhost\r\n\r\n`,
  );
  await expect.poll(() => at.api.metrics.httpRequests.sum()).toBe(2);
  expect(client.text).toBe('');
  release();
  await client.until(/404 Not Found/);
  expect(client.text.match(/HTTP\/1\.1 \d+/g)).toEqual([
    'HTTP/1.1 200',
    'HTTP/1.1 200',
    'HTTP/1.1 404',
  ]);
  client.socket.destroy();
});

test('a body over the limit is 413 from its length alone, before any of it is sent', async () => {
  await using at = await listening({ 'limits.bodyBytesMax': 1024 });
  const client = await at.dial();
  client.send('POST /timers HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1025\r\n\r\n');
  await client.until(/^HTTP\/1\.1 413 .*"type":"urn:carillon:problem:too_large"/s);
  expect(client.text).toContain('The body is larger than 1024 bytes, the most that is allowed');
  await client.closed;
  expect(client.text).toContain('connection: close');
  expect(at.api.service.sets).toEqual([]);
});

test('a client that goes on sending a refused body is not cut before it could read the 413', async () => {
  await using at = await listening({ 'limits.bodyBytesMax': 1024 });
  const client = await at.dial();
  client.send('POST /timers HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n');
  await client.until(/^HTTP\/1\.1 413 /);
  client.send('x'.repeat(50_000));
  client.send('x'.repeat(50_000));
  await client.closed;
  expect(client.error).toBeNull();
});

test('a chunked body over the limit is 413 as soon as it is over, and the rest is not kept', async () => {
  await using at = await listening({ 'limits.bodyBytesMax': 1024 });
  const client = await at.dial();
  client.send('POST /timers HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n');
  client.send(`200\r\n${'x'.repeat(512)}\r\n`);
  client.send(`201\r\n${'x'.repeat(513)}\r\n`);
  await client.until(/^HTTP\/1\.1 413 .*The body is larger than 1024 bytes/s);
  await client.closed;
});

test('a batch may be larger than a timer', async () => {
  await using at = await listening({ 'limits.bodyBytesMax': 1024 });
  const batch = `[${Array.from({ length: 20 }, () => body).join(',')}]`;
  const large = await fetch(`${at.url}/timers/batch`, { method: 'POST', body: batch });
  const timer = await fetch(`${at.url}/timers`, { method: 'POST', body: batch });
  expect([large.status, timer.status]).toEqual([200, 413]);
});

test('bodies being read are limited over all connections', async () => {
  await using at = await listening({ 'limits.bufferedBytesMax': 2000 });
  const clients = [await at.dial(), await at.dial()];
  for (const client of clients) {
    client.send('POST /timers HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1500\r\n\r\n');
    client.send('x'.repeat(1200));
  }
  await Promise.race(clients.map((client) => client.until(/^HTTP\/1\.1 503 .*retry-after: 1/s)));
  for (const client of clients) client.socket.destroy();
  // The room of the destroyed connections is free again.
  await expect
    .poll(async () => (await fetch(`${at.url}/timers`, { method: 'POST', body })).status)
    .toBe(200);
  expect(
    (await fetch(`${at.url}/timers`, { method: 'POST', body: body.padEnd(1700) })).status,
  ).toBe(200);
});

test('a body in many small pieces counts for more than its bytes', async () => {
  await using at = await listening({ 'limits.bufferedBytesMax': 4000 });
  const client = await at.dial();
  client.send('POST /timers HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n');
  client.send('1\r\nx\r\n'.repeat(20));
  await client.until(/^HTTP\/1\.1 503 /);
  client.socket.destroy();
});

test('Expect: 100-continue is answered, or refused when the body would be too large', async () => {
  await using at = await listening({ 'limits.bodyBytesMax': 1024 });
  const client = await at.dial();
  const head = (length: number) =>
    `POST /timers HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`;
  client.send(head(Buffer.byteLength(body)));
  await client.until(/^HTTP\/1\.1 100 Continue/);
  client.send(body);
  await client.until(/HTTP\/1\.1 200 OK/);
  client.send(head(5000));
  await client.until(/HTTP\/1\.1 413 /);
  expect(client.text.match(/100 Continue/g)).toHaveLength(1);
  client.socket.destroy();
});

test('headers over the limit are 431', async () => {
  await using at = await listening({ 'limits.requestHeaderBytesMax': 1024 });
  const client = await at.dial();
  client.send(`GET /ping HTTP/1.1\r\nhost: localhost\r\nlong: ${'x'.repeat(2000)}\r\n\r\n`);
  await client.closed;
  expect(client.text).toMatch(/^HTTP\/1\.1 431 /);
});

test.each([
  'hello\r\n\r\n',
  '\0\0\0\0',
  'GET /ping HTTP/9.9\r\n\r\n',
  'GET /ping HTTP/1.1\r\nno colon\r\n\r\n',
  'POST /timers HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n',
  'POST /timers HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
  'POST /timers HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
])('%j is 400 and a closed connection', async (bytes) => {
  await using at = await listening();
  const client = await at.dial();
  client.send(bytes);
  await client.closed;
  expect(client.text).toMatch(/^HTTP\/1\.1 400 .*"status":400/s);
  expect((await fetch(`${at.url}/ping`)).status).toBe(200);
});

test('nonsense behind a request under way is refused after its answer, not in its place', async () => {
  await using at = await listening();
  const release = holdSets(at);
  const client = await at.dial();
  client.send(`${post(body)}nonsense\r\n\r\n${post(body)}`);
  await expect.poll(() => at.api.metrics.httpRefused.count('malformed')).toBe(1);
  expect(client.text).toBe('');
  release();
  await client.closed;
  expect(client.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  expect(client.error).toBeNull();
});

test('CONNECT is 405', async () => {
  await using at = await listening();
  const client = await at.dial();
  client.send('CONNECT receiver:80 HTTP/1.1\r\nhost: receiver\r\n\r\n');
  await client.closed;
  expect(client.text).toMatch(/^HTTP\/1\.1 405 .*allow: GET/s);
});

test('HEAD has the headers of GET and no body; OPTIONS has Allow; absolute targets are understood', async () => {
  await using at = await listening();
  const head = await fetch(`${at.url}/ping`, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
    200,
    '2',
    '',
  ]);
  const options = await fetch(`${at.url}/timers`, { method: 'OPTIONS' });
  expect([options.status, options.headers.get('allow')]).toEqual([
    204,
    'POST, GET, HEAD, DELETE, OPTIONS',
  ]);
  const client = await at.dial();
  client.send('GET http://any.localhost/ping?x HTTP/1.1\r\nhost: any.localhost\r\n\r\n');
  await client.until(/200 OK.*OK$/s);
  client.socket.destroy();
});

test.each([
  ['GET http://evil.example/timers', 'host: 127.0.0.1', 403],
  ['GET http://127.0.0.1/timers', 'host: evil.example', 200],
  ['GET HTTP://127.0.0.1.evil.example:80?x', 'host: 127.0.0.1', 403],
  ['GET http://evil.example/ping', 'host: evil.example', 403],
  ['GET http://127.0.0.1/ping', 'host: 127.0.0.1\r\norigin: http://evil.example', 403],
  ['GET http://localhost/ping', 'host: evil.example\r\norigin: http://evil.example', 403],
  ['DELETE http://evil.example/timers?tag=a', 'host: localhost', 403],
  ['POST http://evil.example/timers', 'host: localhost\r\ncontent-length: 5', 403],
])(
  'without tokens the rule of the Host is applied to the host of the target: %s, %j',
  async (line, headers, status) => {
    await using at = await listening();
    const client = await at.dial();
    client.send(`${line} HTTP/1.1\r\n${headers}\r\nconnection: close\r\n\r\n`);
    await client.closed;
    expect(client.text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  },
);

test.each([
  ['without a host', 'HEAD / HTTP/1.1\r\n\r\n', 400],
  ['without a host, behind an empty line', '\r\nHEAD / HTTP/1.1\r\n\r\n', 400],
  ['with a bare LF', 'HEAD / HTTP/1.1\nhost: localhost\n\n', 400],
  ['with a long target', `HEAD /${'a'.repeat(20_000)}`, 414],
  ['with large headers', `HEAD / HTTP/1.1\r\nx: ${'a'.repeat(20_000)}`, 431],
  [
    'with a body in a coding that is not understood',
    `${headOfTimers}content-encoding: x\r\ncontent-length: 1\r\n\r\nx`,
    415,
  ],
  ['with a body that is too large', `${headOfTimers}content-length: 999999999\r\n\r\n`, 413],
])('a HEAD that is refused early, %s, is answered without a body', async (_, sent, status) => {
  await using at = await listening();
  for (const cut of [1, 5, 6, sent.length]) {
    const client = await at.dial();
    client.send(sent.slice(0, cut));
    await (await at.dial()).until(/^/);
    client.send(sent.slice(cut));
    await client.until(/\r\n\r\n/);
    client.socket.end();
    await client.closed;
    expect([client.statuses, client.text.split('\r\n\r\n')[1]]).toEqual([[status], '']);
  }
});

test('a HEAD that breaks off is answered without a body', async () => {
  await using at = await listening();
  const client = await at.dial();
  client.socket.end('HEAD / HTTP/1.1\r\nhost');
  await client.closed;
  expect([client.statuses, client.text.split('\r\n\r\n')[1]]).toEqual([[400], '']);
});

test.each([
  ['a timer', 'GET /cluster', 200],
  ['a problem', 'GET /nowhere', 404],
  ['a refusal', 'GET', 400],
  ['text', 'GET /metrics', 200],
])('browsers are told to take %s for its own type and no other', async (_, line, status) => {
  await using at = await listening();
  const client = await at.dial();
  client.send(`${line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  await client.closed;
  expect(client.statuses).toEqual([status]);
  expect(client.text.match(/^x-content-type-options: .*$/gm)).toEqual([
    'x-content-type-options: nosniff',
  ]);
});

test('a client that is slow with its headers is cut with 408', async () => {
  await using at = await listening({
    'limits.headersTimeoutMs': 100,
    'limits.requestTimeoutMs': 100,
  });
  const client = await at.dial();
  client.send('GET /ping HTTP/1.1\r\nhost: localhost\r\nslow: ');
  await client.closed;
  expect(client.text).toMatch(/^HTTP\/1\.1 408 /);
});

test('a client that says nothing at all is cut', async () => {
  await using at = await listening({
    'limits.headersTimeoutMs': 100,
    'limits.requestTimeoutMs': 100,
  });
  const client = await at.dial();
  await client.closed;
});

test('a client that drips its body is cut, however steadily it drips', async () => {
  await using at = await listening({
    'limits.headersTimeoutMs': 100,
    'limits.requestTimeoutMs': 200,
  });
  const client = await at.dial();
  client.send('POST /timers HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n');
  const drip = setInterval(() => client.send('x'), 10);
  await client.closed;
  clearInterval(drip);
  expect(at.api.service.sets).toEqual([]);
});

test('an idle connection is closed', async () => {
  await using at = await listening({ 'limits.idleTimeoutMs': 100 });
  const client = await at.dial();
  client.send('GET /ping HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await client.until(/OK$/);
  await client.closed;
});

test('connections over the limit are closed at once', async () => {
  await using at = await listening({ 'limits.connectionCountMax': 1 });
  const first = await at.dial();
  first.send('GET /ping HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await first.until(/OK$/);
  const second = await at.dial();
  await second.closed;
  expect(at.api.metrics.httpRefused.count('connections')).toBe(1);
  first.send('GET /ping HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await first.until(/OK.*OK.*OK/s);
  first.socket.destroy();
});

test('requests in flight over the limit are 503 with Retry-After', async () => {
  await using at = await listening({ 'limits.requestsInFlightMax': 1 });
  const release = holdSets(at);
  const first = fetch(`${at.url}/timers`, { method: 'POST', body });
  await expect.poll(() => at.api.metrics.httpInFlight.value).toBe(1);
  const second = await fetch(`${at.url}/timers`, { method: 'POST', body });
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
  release();
  expect((await first).status).toBe(200);
  expect(at.api.metrics.httpInFlight.value).toBe(0);
  expect((await fetch(`${at.url}/ping`)).status).toBe(200);
});

test('pops get their turn before each request', async () => {
  let turns = 0;
  await using at = await listening({}, () => turns++);
  await fetch(`${at.url}/ping`);
  await fetch(`${at.url}/timers`, { method: 'POST', body });
  expect(turns).toBe(2);
});

test('close: requests under way are answered, later ones are not, silent connections do not hold it up', async () => {
  await using at = await listening();
  const release = holdSets(at);
  const silent = await at.dial();
  const client = await at.dial();
  client.send(post(body));
  await expect.poll(() => at.api.metrics.httpInFlight.value).toBe(1);
  const closed = at.listener.close(30_000);
  await silent.closed;
  await expect(at.dial()).rejects.toThrow('ECONNREFUSED');
  client.send('GET /ping HTTP/1.1\r\nhost: localhost\r\n\r\n');
  release();
  await closed;
  await client.closed;
  expect(client.text).toMatch(/^HTTP\/1\.1 200 OK.*connection: close/s);
});

test('close: a request that does not finish within the limit is cut', async () => {
  await using at = await listening();
  at.api.service.set = () => new Promise(() => {});
  const client = await at.dial();
  client.send(post(body));
  await expect.poll(() => at.api.metrics.httpInFlight.value).toBe(1);
  await at.listener.close(50);
  await client.closed;
  expect(client.text).toBe('');
});

test('an address that is taken is an error, not a crash', async () => {
  await using at = await listening();
  await using other = await listening();
  await expect(other.listener.listen(`127.0.0.1:${at.port}`)).rejects.toThrow();
});
