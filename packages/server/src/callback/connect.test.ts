/** The guard on real sockets: a server that counts connections listens where forbidden addresses lead. */
import { Socket } from 'node:net';
import type { CallbackRequest, CallbackResult } from '@carillon/core';
import { settle, VirtualClock } from '@carillon/core/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HttpCallbacks } from './callback.ts';
import { ForbiddenError, guardedConnect } from './connect.ts';
import { type Endpoint, Guard, type GuardOptions, parseAllow } from './guard/guard.ts';
import { TestReceiver } from './receiver.contract.ts';
import type { Resolve } from './guard/resolve.ts';
import { splitUri } from './uri.ts';

const none: readonly Endpoint[] = [];
let receiver: TestReceiver;
let callbacks: HttpCallbacks;

beforeEach(async () => {
  // Both families, so that every spelling of loopback would arrive.
  receiver = await TestReceiver.start(undefined, '::');
});
afterEach(async () => {
  await callbacks.close();
  await receiver.stop();
});

const clock = new VirtualClock();

function guarded(options: Partial<GuardOptions>, resolve: Resolve): void {
  const guard = new Guard({ allow: [], loopback: false, denied: () => none, ...options });
  callbacks = new HttpCallbacks({ clock, guard, resolve });
}

function request(uri: string): CallbackRequest {
  const usual = { namespace: 'default', method: 'POST', headers: {}, limitMs: 5000 };
  return { uri, split: splitUri(uri), ...usual, body: new Uint8Array() };
}

async function call(uri: string): Promise<CallbackResult> {
  const results: CallbackResult[] = [];
  callbacks.call(request(uri), (result) => results.push(result));
  while (results.length === 0) await clock.advance(0);
  await settle();
  return results[0] as CallbackResult;
}

const zone: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1', '::1'],
  'loopback4.example': ['127.0.0.1'],
  'loopback6.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'compatible.example': ['::127.0.0.1'],
  'unspecified.example': ['0.0.0.0'],
  'unspecified6.example': ['::'],
  'mixed.example': ['93.184.215.14', '127.0.0.1'],
  'mixed6.example': ['2606:4700::1111', '::1'],
  'private.example': ['10.0.0.1'],
  'metadata.google.internal': ['169.254.169.254'],
  'nat64.example': ['64:ff9b::7f00:1'],
  'zone.example': ['fe80::1%lo'],
};
const fromZone: Resolve = (name, done) => done(zone[name.replace(/\.$/, '')] ?? []);

/** PORT stands for the counting server's. */
const forbidden = `
http://127.0.0.1:PORT/
http://127.0.0.1.:PORT/
http://127.1:PORT/
http://127.0.1:PORT/
http://127.127.127.127:PORT/
http://2130706433:PORT/
http://0x7f000001:PORT/
http://0x7F.0.0.1:PORT/
http://0x7f.1:PORT/
http://0177.0.0.1:PORT/
http://017700000001:PORT/
http://0177.0x0.0.1:PORT/
http://127.000.000.001:PORT/
http://127.0.0.0x1:PORT/
http://127.0.0.01:PORT/
http://%31%32%37.0.0.1:PORT/
http://127%2e0%2e0%2e1:PORT/
http://127。0。0。1:PORT/
http://①②⑦.⓪.⓪.①:PORT/
http://１２７.０.０.１:PORT/
http://0:PORT/
http://0.0.0.0:PORT/
http://0.0:PORT/
http://00000000000:PORT/
http://0x0:PORT/
http://[::1]:PORT/
http://[0:0:0:0:0:0:0:1]:PORT/
http://[0000:0000:0000:0000:0000:0000:0000:0001]:PORT/
http://[::0001]:PORT/
http://[::]:PORT/
http://[0::0]:PORT/
http://[::ffff:127.0.0.1]:PORT/
http://[::FFFF:7F00:1]:PORT/
http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/
http://[::ffff:0.0.0.0]:PORT/
http://[::127.0.0.1]:PORT/
http://[::7f00:1]:PORT/
http://[::ffff:0:127.0.0.1]:PORT/
http://[64:ff9b::127.0.0.1]:PORT/
http://[64:ff9b::7f00:1]:PORT/
http://[64:ff9b:1::7f00:1]:PORT/
http://[2002:7f00:1::]:PORT/
http://[2002:7f00:0001::1]:PORT/
http://[2001::7f00:1]:PORT/
http://[2001:0:7f00:1::]:PORT/
http://[fe80::1]:PORT/
http://[fec0::1]:PORT/
http://[fd00::1]:PORT/
http://[fd00:ec2::254]/latest/meta-data/
http://[ff02::1]:PORT/
http://[2001:db8::1]:PORT/
http://[100::1]:PORT/
http://localhost:PORT/
http://LOCALHOST:PORT/
http://localhost.:PORT/
http://ｌocalhost:PORT/
http://loc%61lhost:PORT/
http://loopback4.example:PORT/
http://loopback6.example:PORT/
http://mapped.example:PORT/
http://compatible.example:PORT/
http://unspecified.example:PORT/
http://unspecified6.example:PORT/
http://mixed.example:PORT/
http://mixed6.example:PORT/
http://private.example:PORT/
http://nat64.example:PORT/
http://zone.example:PORT/
http://metadata.google.internal/computeMetadata/v1/
http://169.254.169.254/latest/meta-data/
http://[::ffff:169.254.169.254]/latest/meta-data/
http://[::ffff:a9fe:a9fe]/latest/meta-data/
http://2852039166/latest/meta-data/
http://0xa9fea9fe/
http://0251.0376.0251.0376/
http://168.63.129.16/
http://100.100.100.200/
http://10.0.0.1:PORT/
http://172.16.0.1:PORT/
http://192.168.0.1:PORT/
http://100.64.0.1:PORT/
http://198.18.0.1:PORT/
http://192.0.2.1:PORT/
http://203.0.113.1:PORT/
http://224.0.0.1:PORT/
http://255.255.255.255:PORT/
http://240.0.0.1:PORT/
http://user@127.0.0.1:PORT/
http://public.example@127.0.0.1:PORT/
http://127.0.0.1:PORT\\@public.example/
http:127.0.0.1:PORT/
http:/127.0.0.1:PORT/
http:\\\\127.0.0.1:PORT\\
  http://127.0.0.1:PORT/
http://127.0.0.1\t:PORT/
https://127.0.0.1:PORT/
https://[::1]:PORT/
ftp://127.0.0.1:PORT/
gopher://127.0.0.1:PORT/_x
file:///etc/passwd
data:text/plain,x
ws://127.0.0.1:PORT/
`
  .split('\n')
  .filter((line) => line !== '');

/** Every address that a socket of this process set out for, wherever it leads. */
function watchAttempts(): () => string[] {
  const spy = vi.spyOn(Socket.prototype, 'emit');
  return () => {
    const calls: readonly (readonly unknown[])[] = spy.mock.calls;
    return calls.flatMap(([event, ip, port]) =>
      event === 'connectionAttempt' ? [`${String(ip)} ${String(port)}`] : [],
    );
  };
}

describe('guarded connections', () => {
  afterEach(() => vi.restoreAllMocks());

  it(`${forbidden.length} spellings of forbidden addresses: all refused, none reached, none even tried`, async () => {
    expect(new Set(forbidden).size).toBeGreaterThanOrEqual(60);
    const attempts = watchAttempts();
    guarded({}, fromZone);
    for (const spelling of forbidden) {
      const result = await call(spelling.replace('PORT', String(receiver.port)));
      expect(result, spelling).toMatchObject({ kind: 'no-answer', reason: 'forbidden' });
      expect(attempts(), spelling).toEqual([]);
    }
    expect(receiver.connectionCount).toBe(0);
  });

  it('the same server is reached as soon as loopback is allowed (the test can see a connection)', async () => {
    const attempts = watchAttempts();
    guarded({ loopback: true }, fromZone);
    const { port } = receiver;
    for (const host of ['127.0.0.1', '[::1]', 'localhost', '0x7f.1', '[::ffff:127.0.0.1]']) {
      expect(await call(`http://${host}:${port}/`), host).toMatchObject({ status: 204 });
    }
    expect(receiver.connectionCount).toBeGreaterThanOrEqual(3);
    expect(attempts()).toHaveLength(receiver.connectionCount);
    expect(attempts()).toContain(`127.0.0.1 ${port}`);
  });

  it('a name that changes between check and connect cannot be used: it is resolved once a connection', async () => {
    let asked = 0;
    guarded({ allow: parseAllow('127.0.0.1') }, (_, done) => {
      asked++;
      done(asked % 2 === 1 ? ['127.0.0.1'] : ['127.0.0.2']);
    });
    const uri = `http://rebind.example:${receiver.port}/`;
    expect(await call(uri)).toMatchObject({ status: 204 });
    expect(asked).toBe(1);
    expect(receiver.connectionCount).toBe(1);
  });

  it('a name that leads elsewhere at the next connection is judged again', async () => {
    let addresses = ['127.0.0.1'];
    guarded({ allow: parseAllow('127.0.0.1') }, (_, done) => done(addresses));
    receiver.behave = (_, socket) => {
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
      return null;
    };
    const uri = `http://rebind.example:${receiver.port}/`;
    expect(await call(uri)).toMatchObject({ status: 200 });
    addresses = ['127.0.0.2'];
    expect(await call(uri)).toMatchObject({ reason: 'forbidden' });
    addresses = ['127.0.0.1', '127.0.0.2'];
    expect(await call(uri)).toMatchObject({ reason: 'forbidden' });
    expect(receiver.connectionCount).toBe(1);
  });

  it('an address that no longer passes when the socket is there is not used', async () => {
    // The guard meets an address that turned into another on the way.
    const options = { allow: parseAllow('127.0.0.1'), loopback: false, denied: () => none };
    const guard = new Guard(options);
    const judged: string[] = [];
    guard.judge = (address, port) => {
      judged.push(address);
      return judged.length > 1 ? 'Changed.' : new Guard(options).judge(address, port);
    };
    callbacks = new HttpCallbacks({ clock, guard, resolve: (_, done) => done(['127.0.0.1']) });
    const result = await call(`http://turning.example:${receiver.port}/`);
    expect(result).toMatchObject({ reason: 'forbidden' });
    expect(judged).toEqual(['127.0.0.1', '127.0.0.1']);
    expect(receiver.requests).toEqual([]);
  });

  it('a receiver that becomes a peer is cut off, although its connection was kept alive', async () => {
    let peers: readonly Endpoint[] = [];
    guarded({ loopback: true, denied: () => peers }, fromZone);
    const uri = `http://loopback4.example:${receiver.port}/`;
    expect(await call(uri)).toMatchObject({ status: 204 });
    peers = [{ host: '127.0.0.1', port: receiver.port }];
    expect(await call(uri)).toMatchObject({ reason: 'forbidden' });
    expect(receiver.requests).toHaveLength(1);
    peers = [];
    expect(await call(uri)).toMatchObject({ status: 204 });
  });

  it('after a call that was cut off like this the next call is judged by itself, and not cut off too', async () => {
    let peers: readonly Endpoint[] = [];
    guarded({ loopback: true, denied: () => peers }, fromZone);
    receiver.behave = () => null;
    const uri = `http://loopback4.example:${receiver.port}/`;
    const results: CallbackResult[] = [];
    callbacks.call(request(uri), (first) => {
      results.push(first);
      callbacks.call(request(uri), (next) => results.push(next));
    });
    while (receiver.requests.length === 0) await settle();
    peers = [{ host: '127.0.0.1', port: receiver.port }];
    expect(await call(uri)).toMatchObject({ reason: 'forbidden' });
    while (results.length < 2) await clock.advance(0);
    expect(results).toMatchObject([{ reason: 'cut' }, { reason: 'forbidden' }]);
  });

  it('an address is judged before the connection, also one that was not asked for by a callback', async () => {
    guarded({}, fromZone);
    const guard = new Guard({ allow: [], loopback: false, denied: () => none });
    const { port } = receiver;
    const connect = guardedConnect(
      { host: '127.0.0.1', port, secure: false },
      { clock, guard, resolve: fromZone, limitMs: 1000, onConnect: () => {} },
    );
    const error = await new Promise((resolve) => connect((...[failure]) => resolve(failure)));
    expect(error).toBeInstanceOf(ForbiddenError);
    expect(receiver.connectionCount).toBe(0);
  });

  it('an allowed port opens no other', async () => {
    guarded({ allow: parseAllow(`127.0.0.0/8:${receiver.port}`) }, fromZone);
    expect(await call(receiver.uri())).toMatchObject({ status: 204 });
    expect(await call('http://127.0.0.1:1/')).toMatchObject({ reason: 'forbidden' });
  });

  it('a name without addresses is unresolvable', async () => {
    guarded({}, fromZone);
    expect(await call('http://nowhere.example/')).toMatchObject({ reason: 'unresolvable' });
  });
});
