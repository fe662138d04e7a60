/** Heavy calls have a connection of their own: no other call waits behind them. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { CallTerms } from '@carillon/core';
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { afterEach, expect, test } from 'vitest';
import { TcpNetwork } from './tcp-network.ts';

const networks: TcpNetwork[] = [];
const servers: Server[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(networks.splice(0).map((network) => network.close()));
  for (const server of servers.splice(0)) server.close();
});

function open(secrets: readonly string[] = []): TcpNetwork {
  const network = new TcpNetwork({
    clock: new SystemClock(),
    random: new SystemRandom(),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    listen: { host: '127.0.0.1', port: 0 },
    release: '1.2.3',
    credentials: { secrets, tls: null },
  });
  networks.push(network);
  return network;
}

/** A way to a member on which each connection passes on so many bytes, and then nothing more. */
async function clogged(address: string, bytesMax: number): Promise<string> {
  const server = createServer((socket) => {
    const to = connect(Number(address.split(':')[1]), '127.0.0.1');
    let passed = 0;
    socket.on('data', (chunk) => {
      if (passed + chunk.length > bytesMax) socket.pause();
      else to.write(chunk);
      passed += chunk.length;
    });
    to.pipe(socket);
    for (const one of [socket, to]) {
      sockets.push(one);
      one.on('error', () => {});
    }
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  return `127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`;
}

interface Call extends CallTerms {
  readonly address: string;
  readonly bytes: number;
}

function isAnswered(from: TcpNetwork, { address, bytes, ...terms }: Call): Promise<boolean> {
  return new Promise((resolve) => {
    from.call(address, new Uint8Array(bytes), terms, (answer) => resolve(answer !== null));
  });
}

test('a claim is answered while records of megabytes wait to get through', async () => {
  const callee = open();
  await callee.listen((_, reply) => reply(new Uint8Array(1)));
  const address = await clogged(callee.address, 64 * 1024);
  const caller = open();
  const call = (bytes: number, isHeavy: boolean): Promise<boolean> =>
    isAnswered(caller, { address, bytes, limitMs: 1500, isHeavy });
  const heavy = Array.from({ length: 32 }, () => call(256 * 1024, true));
  expect(await call(100, false)).toBe(true);
  expect(await Promise.all(heavy)).toEqual(heavy.map(() => false));
});

test('both connections to a peer change with the credentials, and close with the network', async () => {
  const callee = open(['one', 'two']);
  await callee.listen((_, reply) => reply(new Uint8Array(1)));
  const caller = open(['one']);
  const both = (): Promise<boolean[]> => {
    const { address } = callee;
    const one = { address, bytes: 9, limitMs: 3000 };
    return Promise.all([true, false].map((isHeavy) => isAnswered(caller, { ...one, isHeavy })));
  };
  expect(await both()).toEqual([true, true]);
  caller.renew({ secrets: ['two'], tls: null });
  expect(await both()).toEqual([true, true]);
  caller.renew({ secrets: ['three'], tls: null });
  expect(await both()).toEqual([false, false]);
  await caller.close();
  expect(await both()).toEqual([false, false]);
});
