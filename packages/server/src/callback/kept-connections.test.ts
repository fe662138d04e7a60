/** Connections that were used before: a failure of theirs is no fault of the next request. */
import { createServer, type Server, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { CallbackResult } from '@carillon/core';
import { SystemClock } from '@carillon/core/system';
import { afterEach, expect, it } from 'vitest';
import { HttpCallbacks } from './callback.ts';
import { Guard } from './guard/guard.ts';
import { splitUri } from './uri.ts';

const yes = 'HTTP/1.1 204 Yes\r\n\r\n';
const no = 'HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n';

let callbacks = create();
const endings: (() => unknown)[] = [];
afterEach(async () => {
  await callbacks.close();
  for (const end of endings.splice(0)) await end();
  callbacks = create();
});

function create(connectionCountMax = 64): HttpCallbacks {
  const guard = new Guard({ allow: [], loopback: true, denied: () => [] });
  return new HttpCallbacks({ clock: new SystemClock(), guard, connectionCountMax });
}

/** Answers the `nth` request of a connection, or ends it; both numbers count from 1. */
type Behaviour = (socket: Socket, nth: number, connection: number) => void;

async function receiver(behave: Behaviour): Promise<{ uri: string; connections: () => number }> {
  let connections = 0;
  const server: Server = createServer((socket) => {
    const connection = ++connections;
    let nth = 0;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const requests = bytes.toString().split('POST /').length - 1;
      for (let i = 0; i < requests; i++) behave(socket, ++nth, connection);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(() => server.close());
  const { port } = server.address() as { port: number };
  return { uri: `http://127.0.0.1:${port}/`, connections: () => connections };
}

function call(uri: string, namespace = 'default'): Promise<CallbackResult> {
  const split = splitUri(uri);
  const request = { uri, split, namespace, method: 'POST', headers: {}, body: new Uint8Array() };
  return new Promise((resolve) => callbacks.call({ ...request, limitMs: 5000 }, resolve));
}

it.each([
  ['ends', (socket: Socket) => socket.end()],
  ['is reset', (socket: Socket) => socket.resetAndDestroy()],
])(
  'a request whose kept connection %s without a byte is made again on a fresh one',
  async (_, stop) => {
    const { uri, connections } = await receiver((socket, nth) => {
      if (nth === 1) socket.write(yes);
      else stop(socket);
    });
    for (let i = 0; i < 5; i++) expect(await call(uri)).toMatchObject({ status: 204 });
    expect(connections()).toBe(5);
  },
);

it('all kept connections end at once, as many as there may be: every request is made again', async () => {
  callbacks = create(4);
  const { uri } = await receiver((socket, nth, connection) => {
    if (nth === 1 || connection > 4) socket.write(yes);
    else socket.end();
  });
  const all = (count: number) => Promise.all(Array.from({ length: count }, () => call(uri)));
  for (let round = 0; round < 2; round++) {
    expect(await all(4)).toMatchObject(Array.from({ length: 4 }, () => ({ status: 204 })));
  }
});

it('a fresh connection that ends without a byte is a failure, and so is a kept connection that ends after some bytes', async () => {
  const fresh = await receiver((socket) => socket.end());
  expect(await call(fresh.uri)).toMatchObject({ kind: 'no-answer', reason: 'cut' });
  expect(fresh.connections()).toBe(1);
  const begun = await receiver((socket, nth) => {
    if (nth === 1) socket.write(yes);
    else socket.end('HTTP');
  });
  await call(begun.uri);
  expect(await call(begun.uri)).toMatchObject({ kind: 'no-answer', reason: 'cut' });
});

it('a request whose connection the member closes is not made again', async () => {
  const { uri, connections } = await receiver((socket, nth) => {
    if (nth === 1) socket.write(yes);
    else void callbacks.close();
  });
  await call(uri);
  expect(await call(uri)).toMatchObject({ kind: 'no-answer', reason: 'cut' });
  expect(connections()).toBe(1);
});

it('two namespaces have connections of their own', async () => {
  const { uri, connections } = await receiver((socket) => socket.write(yes));
  for (let i = 0; i < 3; i++) for (const one of ['a', 'b']) await call(uri, one);
  expect(connections()).toBe(2);
});

it.each([
  ['in one piece', (socket: Socket) => socket.write(no + yes)],
  [
    'in two pieces',
    (socket: Socket) => {
      socket.write(no);
      socket.write(yes);
    },
  ],
])('an answer too many, %s, is not that of the next request', async (_, answer) => {
  const { uri } = await receiver((socket) => answer(socket));
  for (let i = 0; i < 100; i++) expect(await call(uri)).toMatchObject({ status: 503 });
});

/**
 * A receiver in a thread of its own: it sends the answer too many while this thread stands still, and then tells so.
 */
const elsewhere = `
  const { workerData, parentPort } = require('node:worker_threads');
  const flag = new Int32Array(workerData.flag);
  const server = require('node:net').createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('data', () => {
      socket.write(workerData.no);
      setTimeout(() => socket.write(workerData.yes, () => {
        Atomics.store(flag, 0, 1);
        Atomics.notify(flag, 0);
      }), 2);
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

it('an answer too many that has arrived and is not read yet is not that of the next request', async () => {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(elsewhere, { eval: true, workerData: { flag: flag.buffer, yes, no } });
  endings.push(() => worker.terminate());
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  for (let i = 0; i < 20; i++) {
    expect(await call(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 503 });
    // Nothing is read meanwhile, and the next request is asked for in the same turn.
    Atomics.wait(flag, 0, 0);
    Atomics.store(flag, 0, 0);
  }
});
