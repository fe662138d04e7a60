/** The client against servers that answer strangely: every call ends in an EtcdError within its limit. */
import { createServer as createWebServer } from 'node:http';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { SystemClock } from '@carillon/core/system';
import { afterEach, describe, expect, test } from 'vitest';
import { EtcdClient } from './etcd-client.ts';
import { ProtoWriter } from './protobuf.ts';
import { KeptLog } from '../testing/kept-log.ts';

const servers: Server[] = [];
const clients: EtcdClient[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const server of servers.splice(0)) server.close();
});

type Answer = (stream: ServerHttp2Stream, path: string) => void;

async function against(answer: Answer): Promise<EtcdClient> {
  const server = createServer();
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    stream.resume();
    stream.on('end', () => answer(stream, String(headers[':path'])));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new EtcdClient({
    endpoints: [endpoint],
    clock: new SystemClock(),
    log: new KeptLog(),
  });
  clients.push(client);
  return client;
}

function frame(message: Uint8Array): Buffer {
  const bytes = Buffer.alloc(5 + message.length);
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, 5);
  return bytes;
}

/** A proper answer: headers, the bytes in pieces as given, trailers. */
function reply(stream: ServerHttp2Stream, pieces: readonly Uint8Array[], status = '0'): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }));
  for (const piece of pieces) stream.write(piece);
  stream.end();
}

/** The head that every answer of etcd has. */
function header(raftTerm: number, ttlS = 0): Uint8Array {
  return new ProtoWriter()
    .message(1, (nested) => nested.int(3, 9).int(4, raftTerm))
    .int(3, ttlS)
    .finish();
}

const put = { when: [], success: [{ put: 'a', value: '', lease: 0n }], failure: [] };

/** Long enough for an answer that comes, also on a machine that is busy. */
const answerMs = 20_000;

describe('etcd client: strange answers', () => {
  test.each<[string, Answer]>([
    ['bytes that are no message', (stream) => reply(stream, [frame(Uint8Array.of(0x0f, 0xff))])],
    ['a compressed frame', (stream) => reply(stream, [Uint8Array.of(1, 0, 0, 0, 1, 0)])],
    [
      'a frame of four gigabytes',
      (stream) => reply(stream, [Uint8Array.of(0, 255, 255, 255, 255)]),
    ],
    ['an answer without a message', (stream) => reply(stream, [])],
    ['half a frame', (stream) => reply(stream, [Uint8Array.of(0, 0, 0, 0, 9, 1)])],
    ['no answer at all', () => {}],
    ['a reset', (stream) => stream.close(2)],
    [
      'another kind of server',
      (stream) => {
        stream.respond({ ':status': 502 });
        stream.end('bad gateway');
      },
    ],
    [
      'an end without a status',
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.end();
      },
    ],
    [
      '"unavailable"',
      (stream) => {
        stream.respond(
          { ':status': 200, 'grpc-status': '14', 'grpc-message': 'etcdserver: %zz' },
          { endStream: true },
        );
      },
    ],
  ])('%s: the call may have acted', async (_name, answer) => {
    const client = await against(answer);
    await expect(client.txn(put, 300)).rejects.toMatchObject({ kind: 'no-answer' });
  });

  test('etcd says no: refused, with its reason', async () => {
    const client = await against((stream) => {
      stream.respond(
        {
          ':status': 200,
          'grpc-status': '8',
          'grpc-message': 'etcdserver: mvcc: database space exceeded',
        },
        { endStream: true },
      );
    });
    await expect(client.txn(put, answerMs)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('database space exceeded'),
    });
  });

  test('an answer in pieces of one byte is put together', async () => {
    const bytes = frame(header(3));
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
    const client = await against((stream) => reply(stream, pieces));
    expect(await client.range('a', 1000)).toEqual({ revision: 9, entries: [] });
  });
});

describe('etcd client: a server that is no etcd is called one', () => {
  async function told(server: Server): Promise<string> {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const endpoints = [`http://127.0.0.1:${port}`];
    const client = new EtcdClient({ endpoints, clock: new SystemClock(), log: new KeptLog() });
    clients.push(client);
    const failure = await client.txn(put, answerMs).catch((error: unknown) => error);
    return (failure as Error).message;
  }

  test('a web server', async () => {
    const web = createWebServer((_, response) => response.end('welcome'));
    expect(await told(web)).toContain('the server there does not speak HTTP/2 as etcd does (Prot');
  });

  test('a program with a protocol of its own', async () => {
    const other = createTcpServer((socket) => socket.on('error', () => {}).end('SSH-2.0\r\n'));
    expect(await told(other)).toContain(
      'the server there does not speak HTTP/2 as etcd does (Prot',
    );
  });

  test('a web server with HTTP/2', async () => {
    const web = createServer((_, response) => response.end('welcome'));
    expect(await told(web)).toContain('the server there answers, but not as etcd does');
    const missing = createServer((_, response) => response.writeHead(404).end());
    expect(await told(missing)).toContain("HTTP status 404 in the place of etcd's answer");
  });

  test('a server that hangs up', async () => {
    const brief = createTcpServer((socket) => socket.on('error', () => {}).destroy());
    expect(await told(brief)).toMatch(/the connection was closed|ECONNRESET/);
  });
});

describe('etcd client: a renewal must be proven', () => {
  test('the same leader before and after: the renewal counts', async () => {
    const client = await against((stream) => reply(stream, [frame(header(4, 5))]));
    expect(await client.keepAlive(7n, 'a', 500)).toBe(5000);
  });

  test('another term after the renewal: an isolated leader may have said yes, so it does not count', async () => {
    const client = await against((stream, path) => {
      reply(stream, [frame(path.endsWith('LeaseKeepAlive') ? header(4, 5) : header(5))]);
    });
    await expect(client.keepAlive(7n, 'a', 300)).rejects.toMatchObject({ kind: 'no-answer' });
  });

  test('no answer to the read after the renewal: it does not count', async () => {
    const client = await against((stream, path) => {
      if (path.endsWith('LeaseKeepAlive')) reply(stream, [frame(header(4, 5))]);
    });
    await expect(client.keepAlive(7n, 'a', 300)).rejects.toMatchObject({ kind: 'no-answer' });
  });

  test('a new leader that does not know the lease yet is asked once more', async () => {
    let asked = 0;
    const client = await against((stream, path) => {
      const ttlS = path.endsWith('LeaseKeepAlive') && asked++ > 0 ? 5 : 0;
      reply(stream, [frame(header(4, ttlS))]);
    });
    expect(await client.keepAlive(7n, 'a', 500)).toBe(5000);
    expect(asked).toBe(2);
  });
});
