import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { CallbackRequest, CallbackResult } from '@carillon/core';
import { settle, VirtualClock } from '@carillon/core/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { callbacksContract } from '../../../core/src/testing/callbacks.contract.ts';
import { HttpCallbacks, type HttpCallbacksOptions } from './callback.ts';
import { type Endpoint, Guard } from './guard/guard.ts';
import { type Behaviour, ok, TestReceiver } from './receiver.contract.ts';
import type { Resolve } from './guard/resolve.ts';
import { hasOpenssl, selfSigned } from './testing/self-signed.ts';
import { splitUri } from './uri.ts';

const none: readonly Endpoint[] = [];
const developing = new Guard({ allow: [], loopback: true, denied: () => none });

/** Waits for the outside world, one turn of the event loop at a time. */
async function until(holds: () => boolean): Promise<void> {
  for (await settle(); !holds(); await settle()) await rig.clock.advance(0);
}

function request(uri: string, change: Partial<CallbackRequest> = {}): CallbackRequest {
  const body = Buffer.from('opaque');
  const usual = { namespace: 'default', method: 'POST', headers: {}, body, limitMs: 1000 };
  return { uri, split: splitUri(uri), ...usual, ...change };
}

class Rig {
  readonly clock = new VirtualClock();
  readonly callbacks: HttpCallbacks;
  readonly receivers: TestReceiver[] = [];

  constructor(change: Partial<HttpCallbacksOptions> = {}) {
    this.callbacks = new HttpCallbacks({ clock: this.clock, guard: developing, ...change });
  }

  async receiver(behave?: Behaviour): Promise<TestReceiver> {
    const receiver = await TestReceiver.start(behave);
    this.receivers.push(receiver);
    return receiver;
  }

  begin(uri: string, change: Partial<CallbackRequest> = {}): CallbackResult[] {
    const results: CallbackResult[] = [];
    this.callbacks.call(request(uri, change), (result) => results.push(result));
    return results;
  }

  /** The one result of a call that ends without time passing. */
  async call(uri: string, change: Partial<CallbackRequest> = {}): Promise<CallbackResult> {
    const results = this.begin(uri, change);
    while (results.length === 0) await this.clock.advance(0);
    // A connection is free again one turn after its answer.
    await settle();
    expect(results).toHaveLength(1);
    return results[0] as CallbackResult;
  }

  async dispose(): Promise<void> {
    await this.callbacks.close();
    for (const receiver of this.receivers) await receiver.stop();
  }
}

let rig: Rig;
afterEach(() => rig.dispose());

const behaviours: Record<string, Behaviour> = {
  '/answers-204': () => ok,
  '/answers-503-after-7s': () =>
    'HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 2\r\n\r\nno',
  '/hangs': () => null,
  '/cuts': (_, socket) => {
    socket.destroy();
    return null;
  },
};

callbacksContract('HttpCallbacks', async () => {
  rig = new Rig();
  const receiver = await rig.receiver((received, socket) => {
    const path = received.split(' ')[1] as string;
    return (behaviours[path] as Behaviour)(received, socket);
  });
  const gone = await TestReceiver.start();
  const goneUri = gone.uri();
  await gone.stop();
  return {
    callbacks: rig.callbacks,
    uri: (kind) => (kind === 'refuses' ? goneUri : receiver.uri(`/${kind}`)),
    pass: (ms) => rig.clock.advance(ms),
    until: async (holds) => {
      while (!holds()) await rig.clock.advance(0);
    },
    dispose: () => Promise.resolve(),
  };
});

describe('HttpCallbacks: requests', () => {
  it('sends method, path, query, headers and body byte for byte', async () => {
    rig = new Rig();
    const receiver = await rig.receiver();
    const body = Uint8Array.of(0, 255, 13, 10);
    const headers = { 'x-sequence-number': '3', 'content-type': 'text/plain' };
    await rig.call(receiver.uri('/a/b?c=d%20e#f'), { method: 'PUT', headers, body });
    const [head, sent] = (receiver.requests[0] as string).split('\r\n\r\n');
    expect(head?.split('\r\n')).toEqual([
      'PUT /a/b?c=d%20e HTTP/1.1',
      `host: 127.0.0.1:${receiver.port}`,
      'connection: keep-alive',
      'x-sequence-number: 3',
      'content-type: text/plain',
      'content-length: 4',
    ]);
    expect(sent).toBe('\x00\xff\r\n');
  });

  it('keeps the connection for the next call', async () => {
    rig = new Rig();
    const receiver = await rig.receiver();
    for (let i = 0; i < 5; i++) await rig.call(receiver.uri());
    expect(receiver.requests).toHaveLength(5);
    expect(receiver.connectionCount).toBe(1);
  });

  it('opens no more connections than allowed: a call beyond them is answered as not made', async () => {
    rig = new Rig({ connectionCountMax: 3 });
    const receiver = await rig.receiver();
    const calls = Array.from({ length: 5 }, () => rig.begin(receiver.uri()));
    await until(() => calls.every((results) => results.length === 1));
    const kinds = calls.flat().map(({ kind }) => kind);
    expect(kinds).toEqual(['answer', 'answer', 'answer', 'unmade', 'unmade']);
    expect(receiver.connectionCount).toBe(3);
  });

  it.each([
    ['a relative uri', '/a', {}],
    ['another scheme', 'ftp://127.0.0.1:1/', {}],
    ['credentials', 'http://user:pass@127.0.0.1:1/', {}],
    ['a header that splits the request', 'http://127.0.0.1:1/', { headers: { a: 'b\r\nc: d' } }],
    ['another host', 'http://127.0.0.1:1/', { headers: { host: 'other' } }],
    ['a method that is none', 'http://127.0.0.1:1/', { method: 'GET / HTTP/1.1\r\n' }],
  ])('never sends %s', async (_, uri, change) => {
    rig = new Rig();
    const receiver = await rig.receiver();
    const result = await rig.call(uri.replace(':1/', `:${receiver.port}/`), change);
    expect(result).toMatchObject({ reason: 'forbidden' });
    expect(receiver.connectionCount).toBe(0);
  });

  it('is not led astray by proxy variables', async () => {
    rig = new Rig();
    const proxy = await rig.receiver();
    const receiver = await rig.receiver();
    vi.stubEnv('http_proxy', proxy.uri());
    vi.stubEnv('HTTP_PROXY', proxy.uri());
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    await rig.call(receiver.uri());
    vi.unstubAllEnvs();
    expect([receiver.connectionCount, proxy.connectionCount]).toEqual([1, 0]);
  });
});

describe('HttpCallbacks: answers', () => {
  it.each([200, 201, 299, 301, 302, 307, 308, 400, 410, 429, 500, 599])(
    'status %d is passed on',
    async (status) => {
      rig = new Rig();
      const other = await rig.receiver();
      const receiver = await rig.receiver(
        () => `HTTP/1.1 ${status} X\r\nlocation: ${other.uri()}\r\ncontent-length: 0\r\n\r\n`,
      );
      expect(await rig.call(receiver.uri())).toMatchObject({ kind: 'answer', status });
      expect(other.connectionCount, 'a redirect was followed').toBe(0);
    },
  );

  it.each([
    ['seconds', '120', 120_000],
    ['a date', 'Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['nonsense', 'later', null],
  ])('Retry-After as %s', async (_, value, expected) => {
    rig = new Rig();
    const receiver = await rig.receiver(
      () => `HTTP/1.1 429 X\r\nretry-after: ${value}\r\ncontent-length: 0\r\n\r\n`,
    );
    const result = await rig.call(receiver.uri());
    expect(result).toEqual({ kind: 'answer', status: 429, retryAfterMs: expected });
  });

  it.each([
    ['with a length', `HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n${'x'.repeat(20_000)}`],
    [
      'in chunks',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5000\r\n${'x'.repeat(20_480)}\r\n`,
    ],
    ['until the end', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(20_000)}`],
  ])('an endless answer %s is dropped after 16 KiB, and its status counts', async (_, answer) => {
    rig = new Rig();
    const receiver = await rig.receiver(() => answer);
    expect(await rig.call(receiver.uri())).toMatchObject({ kind: 'answer', status: 200 });
    await until(() => receiver.openCount === 0);
  });

  it('an answer of exactly 16 KiB keeps the connection', async () => {
    rig = new Rig();
    const body = 'x'.repeat(16 * 1024);
    const receiver = await rig.receiver(
      () => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await rig.call(receiver.uri());
    await rig.call(receiver.uri());
    expect(receiver.connectionCount).toBe(1);
  });

  it('an interim answer without a final one is no answer', async () => {
    rig = new Rig();
    const receiver = await rig.receiver((_, socket) => {
      socket.end('HTTP/1.1 103 Hints\r\n\r\n');
      return null;
    });
    expect(await rig.call(receiver.uri())).toMatchObject({ kind: 'no-answer', reason: 'cut' });
  });

  it('interim answers are not the answer', async () => {
    rig = new Rig();
    const receiver = await rig.receiver(() => `HTTP/1.1 103 Hints\r\n\r\n${ok}`);
    expect(await rig.call(receiver.uri())).toMatchObject({ status: 204 });
  });

  it.each([
    ['not HTTP', 'SSH-2.0-x\r\n\r\n'],
    [
      'an upgrade that was not asked for',
      'HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
    ['an endless line', `HTTP/1.1 200 O${'x'.repeat(80_000)}`],
  ])('%s is a cut, and says nothing of the content', async (_, answer) => {
    rig = new Rig();
    const receiver = await rig.receiver(() => answer);
    const result = await rig.call(receiver.uri());
    expect(result).toMatchObject({ kind: 'no-answer', reason: 'cut' });
    expect(result.kind === 'no-answer' && result.detail).not.toMatch(/SSH|xxx|127\.0/);
  });

  it.each([
    ['an endless head', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(80_000)}`],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['two equal lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\na'],
    ['a folded line', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\ncontent-length: 0\r\n\r\n'],
    ['line feeds alone', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n'],
  ])(
    '%s behind a status: the status counts, and the next call has a connection of its own',
    async (_, answer) => {
      rig = new Rig();
      const receiver = await rig.receiver(() => answer);
      expect(await rig.call(receiver.uri())).toMatchObject({ kind: 'answer', status: 200 });
      expect(await rig.call(receiver.uri())).toMatchObject({ kind: 'answer', status: 200 });
      expect(receiver.connectionCount).toBe(2);
    },
  );
});

describe('HttpCallbacks: the time limit', () => {
  it('covers an answer that never ends: its status counts, the connection is dropped', async () => {
    rig = new Rig();
    const receiver = await rig.receiver(() => 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx');
    const results = rig.begin(receiver.uri());
    await until(() => receiver.requests.length === 1);
    for (let i = 0; i < 50; i++) await settle();
    expect(results).toEqual([]);
    await rig.clock.advance(1000);
    expect(results).toEqual([{ kind: 'answer', status: 200, retryAfterMs: null }]);
    await until(() => receiver.openCount === 0);
  });

  it('covers resolving, and a request given up before it was sent is never sent', async () => {
    const asked: ((addresses: readonly string[]) => void)[] = [];
    rig = new Rig({ resolve: (_, done) => asked.push(done) });
    const receiver = await rig.receiver();
    const late = rig.begin(receiver.uri('/late', 'slow.example'));
    await rig.clock.advance(1000);
    expect(late).toMatchObject([{ reason: 'timeout' }]);
    const next = rig.begin(receiver.uri('/next', 'slow.example'));
    for (const answer of asked) answer(['127.0.0.1']);
    await until(() => next.length === 1);
    expect(next).toMatchObject([{ status: 204 }]);
    expect(receiver.requests.filter((one) => one.includes('/late'))).toEqual([]);
    expect(late).toHaveLength(1);
  });

  it('ends a request under way in time, also after requests with a hundred other limits', async () => {
    rig = new Rig();
    const receiver = await rig.receiver((one) => (one.includes('/hangs') ? null : ok));
    const hanging = rig.begin(receiver.uri('/hangs'));
    await until(() => receiver.requests.length === 1);
    for (let i = 1; i <= 100; i++) await rig.call(receiver.uri(), { limitMs: 2000 + i });
    await rig.clock.advance(999);
    expect(hanging).toEqual([]);
    await rig.clock.advance(1);
    expect(hanging).toMatchObject([{ reason: 'timeout' }]);
  });

  it.each([
    ['before it was sent', { resolve: () => undefined }],
    ['after it was sent', {}],
  ])(
    'a request that is given up %s leaves its connection to the next at once',
    async (_, change) => {
      rig = new Rig({ connectionCountMax: 1, ...change });
      const receiver = await rig.receiver(() => null);
      const uri = receiver.uri('/', 'resolve' in change ? 'slow.example' : undefined);
      const next: CallbackResult[] = [];
      const first: CallbackResult[] = [];
      rig.callbacks.call(request(uri), (result) => {
        first.push(result);
        rig.callbacks.call(request(uri), (later) => next.push(later));
      });
      await rig.clock.advance(1000);
      expect(first).toMatchObject([{ reason: 'timeout' }]);
      await rig.clock.advance(999);
      expect(next).toEqual([]);
      await rig.clock.advance(1);
      expect(next).toMatchObject([{ reason: 'timeout' }]);
    },
  );
});

describe('HttpCallbacks: pools', () => {
  it('an unused pool is closed after a while, a used one is not', async () => {
    rig = new Rig();
    const one = await rig.receiver();
    const other = await rig.receiver();
    await rig.call(one.uri());
    await rig.call(other.uri());
    await rig.clock.advance(60_000);
    await rig.call(other.uri());
    await rig.clock.advance(60_000);
    expect(rig.callbacks['origins'].size).toBe(1);
    await until(() => one.openCount === 0);
    await rig.clock.advance(120_000);
    expect(rig.callbacks['origins'].size).toBe(0);
    expect(rig.clock.nextMs(), 'an alarm is left behind').toBeNull();
  });

  it('over the bound an idle pool makes room; when all are busy the call is refused', async () => {
    rig = new Rig({ originCountMax: 2 });
    const [one, two, three] = await Promise.all([rig.receiver(), rig.receiver(), rig.receiver()]);
    await rig.call(one.uri());
    await rig.call(two.uri());
    expect(await rig.call(three.uri())).toMatchObject({ status: 204 });
    expect(rig.callbacks['origins'].size).toBe(2);
    two.behave = three.behave = () => null;
    rig.begin(two.uri());
    rig.begin(three.uri());
    expect(await rig.call(one.uri())).toMatchObject({ kind: 'unmade' });
  });

  it('a connection is not used for ever, so that a changed name is noticed', async () => {
    rig = new Rig();
    const receiver = await rig.receiver();
    for (let passedMs = 0; passedMs < 300_000; passedMs += 3000) {
      await rig.call(receiver.uri());
      expect(receiver.connectionCount).toBe(1);
      await rig.clock.advance(3000);
    }
    await rig.call(receiver.uri());
    expect(receiver.connectionCount).toBe(2);
    await until(() => receiver.openCount === 1);
  });

  it.each([
    ['4 s', '', 4000],
    ['as long as the receiver says, less a second', 'keep-alive: timeout=20, max=9\r\n', 19_000],
    ['a minute at most', 'keep-alive: timeout=9999\r\n', 60_000],
  ])('an unused connection is kept for %s', async (_, hint, keptMs) => {
    rig = new Rig();
    const receiver = await rig.receiver(
      () => `HTTP/1.1 200 OK\r\n${hint}content-length: 0\r\n\r\n`,
    );
    await rig.call(receiver.uri());
    await rig.clock.advance(keptMs - 1);
    await rig.call(receiver.uri());
    expect(receiver.connectionCount).toBe(1);
    await rig.clock.advance(keptMs);
    await rig.call(receiver.uri());
    expect(receiver.connectionCount).toBe(2);
  });

  it('a connection is closed by the member when it is not used', async () => {
    rig = new Rig();
    const receiver = await rig.receiver();
    await rig.call(receiver.uri());
    expect(receiver.openCount).toBe(1);
    await rig.clock.advance(8000);
    await until(() => receiver.openCount === 0);
  });

  it('a receiver that says something unasked loses the connection, and its words count for no request', async () => {
    rig = new Rig();
    const receiver = await rig.receiver(() => `${ok}HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n`);
    expect(await rig.call(receiver.uri())).toMatchObject({ status: 204 });
    await until(() => receiver.openCount === 0);
    let said: Socket | null = null;
    receiver.behave = (_, socket) => {
      said = socket;
      return ok;
    };
    expect(await rig.call(receiver.uri())).toMatchObject({ status: 204 });
    expect(receiver.openCount).toBe(1);
    // Also between two calls.
    (said as unknown as Socket).write('HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n');
    for (let i = 0; i < 1000 && receiver.openCount > 0; i++) await settle();
    expect(receiver.openCount).toBe(0);
    receiver.behave = () => ok;
    expect(await rig.call(receiver.uri())).toMatchObject({ status: 204 });
  });

  it.each([
    ['cut', (socket: Socket) => void socket.destroy()],
    ['answered', (socket: Socket) => void socket.write(ok)],
  ])('a call that was %s leaves its connection to the next at once', async (_, end) => {
    rig = new Rig({ connectionCountMax: 1 });
    const receiver = await rig.receiver((_request, socket) => {
      end(socket);
      return null;
    });
    const kinds: string[] = [];
    const call = (left: number): void => {
      rig.callbacks.call(request(receiver.uri()), ({ kind }) => {
        kinds.push(kind);
        if (left > 1) call(left - 1);
      });
    };
    call(3);
    await until(() => kinds.length === 3);
    expect(kinds).not.toContain('unmade');
  });

  it('a receiver that closes after each answer gets a new connection each time', async () => {
    rig = new Rig();
    const receiver = await rig.receiver((_, socket) => {
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
      return null;
    });
    for (let i = 0; i < 3; i++) {
      expect(await rig.call(receiver.uri())).toMatchObject({ status: 200 });
    }
    expect(receiver.connectionCount).toBe(3);
  });
});

// Certificates are made by openssl; where it is missing there is nothing to connect to.
describe.skipIf(!hasOpenssl())('HttpCallbacks: TLS', () => {
  async function secure(name: string): Promise<{ uri: string; cert: string; stop: () => void }> {
    const { cert, key } = selfSigned(name);
    const server = createServer({ cert, key }, (_, response) => response.writeHead(202).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return { uri: `https://receiver.example:${port}/`, cert, stop: () => server.close() };
  }
  const resolve: Resolve = (_, done) => done(['127.0.0.1']);

  it('reaches a receiver whose certificate is trusted, by its name', async () => {
    const { uri, cert, stop } = await secure('receiver.example');
    rig = new Rig({ resolve, ca: cert });
    expect(await rig.call(uri)).toMatchObject({ kind: 'answer', status: 202 });
    stop();
  });

  it.each([
    ['is signed by no known authority', 'receiver.example', false],
    ['is for another name', 'other.example', true],
  ])('refuses a certificate that %s', async (_, name, trusted) => {
    const { uri, cert, stop } = await secure(name);
    rig = new Rig({ resolve, ...(trusted && { ca: cert }) });
    expect(await rig.call(uri)).toMatchObject({
      reason: 'tls',
      detail: expect.stringContaining('TLS') as string,
    });
    stop();
  });

  it('refuses a receiver that does not speak TLS', async () => {
    rig = new Rig({ resolve });
    const receiver = await rig.receiver((_, socket) => {
      socket.destroy();
      return null;
    });
    receiver.greeting = 'SSH-2.0-x\r\n';
    const uri = receiver.uri('/', 'receiver.example').replace('http:', 'https:');
    expect(await rig.call(uri)).toMatchObject({ reason: 'tls' });
    expect(receiver.requests).toEqual([]);
  });
});
