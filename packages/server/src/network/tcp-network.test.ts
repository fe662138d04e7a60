import { createServer, type Server, type Socket, connect } from 'node:net';
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { networkContract } from '../../../core/src/testing/network.contract.ts';
import { TcpNetwork, type TcpNetworkOptions } from './tcp-network.ts';

interface Line {
  readonly level: string;
  readonly text: string;
}

const opened: TcpNetwork[] = [];
const servers: Server[] = [];
const sockets: Socket[] = [];
let lines: Line[] = [];

type Extra = Partial<Omit<TcpNetworkOptions, 'clock' | 'random' | 'log'>>;

function open(extra: Extra = {}): TcpNetwork {
  const write = (level: string) => (message: string, fields?: object) => {
    lines.push({ level, text: `${message} ${JSON.stringify(fields ?? {})}` });
  };
  const network = new TcpNetwork({
    clock: new SystemClock(),
    random: new SystemRandom(),
    log: {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
    },
    listen: { host: '127.0.0.1', port: 0 },
    release: '1.2.3',
    ...extra,
  });
  opened.push(network);
  return network;
}

/** A member that answers each frame with the same frame and one byte more. */
async function echo(extra: Extra = {}): Promise<TcpNetwork> {
  const network = open(extra);
  await network.listen((frame, reply) => reply(Uint8Array.from([...frame, 33])));
  return network;
}

function ask(from: TcpNetwork, to: string, frame = [1], limitMs = 3000) {
  return new Promise<number[] | null>((resolve) => {
    from.call(to, Uint8Array.from(frame), { limitMs }, (answer) =>
      resolve(answer === null ? null : [...answer]),
    );
  });
}

/** A listener that is no member; `serve` decides how it treats each connection. */
async function impostor(serve: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    serve(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  return `127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`;
}

/** A caller that is no member: sends `bytes` and resolves when it is cut off, with the bytes that came back. */
function intrude(address: string, bytes: Uint8Array): Promise<Buffer> {
  const socket = connect(Number(address.split(':')[1]), '127.0.0.1');
  sockets.push(socket);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => {});
  socket.write(bytes);
  return new Promise((resolve) => socket.on('close', () => resolve(Buffer.concat(chunks))));
}

function logged(part: string): Line[] {
  return lines.filter(({ text }) => text.includes(part));
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(opened.splice(0).map((network) => network.close()));
  for (const server of servers.splice(0)) server.close();
  lines = [];
});

networkContract('TcpNetwork', () =>
  Promise.resolve({
    nowhere: '127.0.0.1:1',
    join: () => {
      const network = open();
      return { network, address: () => network.address };
    },
    until: (outcome) => outcome,
    end: () => Promise.resolve(),
  }),
);

describe('TcpNetwork, authentication', () => {
  const withSecret = (secret: string): Extra => ({ credentials: { secrets: [secret], tls: null } });
  const secured = withSecret('a secret of the whole cluster');

  test('members with the same secret talk', async () => {
    const callee = await echo(secured);
    expect(await ask(open(secured), callee.address)).toEqual([1, 33]);
  });

  test.each([
    ['another secret', withSecret('wrong'), 'does not know the cluster secret'],
    ['no secret', {}, 'has no cluster secret and this member has one'],
  ])('a caller with %s is refused and both logs say so', async (_what, extra, sentence) => {
    const callee = await echo(secured);
    const caller = open(extra);
    expect(await ask(caller, callee.address)).toBeNull();
    expect(logged(sentence).map(({ level }) => level)).toEqual(['warn']);
    expect(logged('A peer').length).toBeGreaterThan(1);
  });

  test('a caller refuses a callee that only repeats the bytes of the caller', async () => {
    const address = await impostor((socket) => socket.pipe(socket));
    expect(await ask(open(secured), address)).toBeNull();
    expect(await ask(open(), address)).toBeNull();
    expect(logged('leads back to where it came from')).toHaveLength(2);
  });

  test('a recorded exchange, replayed, is refused', async () => {
    const callee = await echo(secured);
    const recorded: Buffer[] = [];
    const relay = await impostor((socket) => {
      const onward = connect(Number(callee.address.split(':')[1]), '127.0.0.1');
      sockets.push(onward);
      socket.on('data', (chunk) => recorded.push(chunk));
      socket.pipe(onward).pipe(socket);
    });
    expect(await ask(open(secured), relay)).toEqual([1, 33]);
    expect(await intrude(callee.address, Buffer.concat(recorded))).toHaveLength(0);
    expect(logged('does not know the cluster secret')).toHaveLength(1);
  });

  test('the highest common protocol is chosen, and without one both sides say why', async () => {
    const callee = await echo({ protocols: { min: 2, max: 5 } });
    expect(await ask(open({ protocols: { min: 1, max: 3 } }), callee.address)).toEqual([1, 33]);
    expect(logged('"protocol":3')).toHaveLength(2);
    expect(await ask(open({ protocols: { min: 6, max: 7 } }), callee.address)).toBeNull();
    expect(logged('there is none in common').map(({ level }) => level)).toEqual(['warn', 'warn']);
    expect(logged('speaks protocols 6 to 7')).toHaveLength(1);
    expect(logged('speaks protocols 2 to 5')).toHaveLength(1);
  });
});

describe('TcpNetwork, a secret on the wire', () => {
  const credentials = { secrets: ['a secret of the whole cluster'], tls: null };

  /** Stands between caller and callee; `alter` may change each piece that the caller sends. */
  async function between(callee: TcpNetwork, alter: (chunk: Buffer, piece: number) => Buffer) {
    return impostor((socket) => {
      const onward = connect(Number(callee.address.split(':')[1]), '127.0.0.1');
      sockets.push(onward);
      let piece = 0;
      socket.on('data', (chunk) => onward.write(alter(chunk, piece++)));
      onward.on('close', () => socket.destroy());
      onward.pipe(socket);
    });
  }

  /** A callee that sends frames back, and the frames it took. */
  async function recording(): Promise<{ callee: TcpNetwork; taken: number[][] }> {
    const callee = open({ credentials });
    const taken: number[][] = [];
    await callee.listen((frame, reply) => {
      taken.push([...frame]);
      reply(frame);
    });
    return { callee, taken };
  }

  test('a frame that was altered on its way is not taken, and ends the connection', async () => {
    const { callee, taken } = await recording();
    // Hello, proof, then frames.
    const address = await between(callee, (chunk, piece) => {
      if (piece === 3) chunk[8] = (chunk[8] ?? 0) ^ 1;
      return chunk;
    });
    const caller = open({ credentials });
    expect(await ask(caller, address, [7])).toEqual([7]);
    expect(await ask(caller, address, [8])).toBeNull();
    expect(taken).toEqual([[7]]);
    expect(callee.refusedCounts.altered).toBe(1);
  });

  test('a frame that is sent twice is taken once', async () => {
    const { callee, taken } = await recording();
    const address = await between(callee, (chunk, piece) =>
      piece === 2 ? Buffer.concat([chunk, chunk]) : chunk,
    );
    await ask(open({ credentials }), address, [7], 200);
    await expect.poll(() => callee.refusedCounts.altered).toBe(1);
    expect(taken).toEqual([[7]]);
  });

  test('a connection that is taken over after the first exchange cannot carry a frame of the attacker', async () => {
    const { callee, taken } = await recording();
    const forged = Buffer.from([1, 0, 0, 0, 9, 0, 0, 0, 42]);
    const address = await between(callee, (chunk, piece) => (piece < 2 ? chunk : forged));
    expect(await ask(open({ credentials }), address)).toBeNull();
    expect([taken, callee.refusedCounts.altered]).toEqual([[], 1]);
  });

  test('the secret changes while calls are under way: none is lost', async () => {
    const [first, second] = ['the first secret', 'the second secret'];
    // A call takes 5 ms, and on a busy machine a second.
    const farewellMs = 2000;
    const old = { credentials: { secrets: [first], tls: null } };
    const make = (): TcpNetwork => open({ ...old, limits: { farewellMs } });
    const [a, b] = [make(), make()];
    for (const one of [a, b]) {
      await one.listen((frame, reply) => setTimeout(() => reply(frame), 5));
    }
    const calls: Promise<unknown>[] = [];
    const answers: unknown[] = [];
    const call = async (from: TcpNetwork, to: TcpNetwork): Promise<unknown> =>
      answers.push(await ask(from, to.address, [1], 60_000));
    const traffic = setInterval(() => calls.push(call(a, b), call(b, a)), 1);
    for (const secrets of [[first, second], [second, first], [second]]) {
      for (const one of [a, b]) {
        one.renew({ secrets, tls: null });
        const enough = answers.length + 20;
        await vi.waitUntil(() => answers.length > enough, { timeout: 60_000, interval: 5 });
      }
    }
    // Connections from before the last change are cut off by then.
    await new Promise((resolve) => setTimeout(resolve, farewellMs + 100));
    clearInterval(traffic);
    await Promise.all(calls);
    expect(answers.filter((one) => one === null)).toEqual([]);
    expect(await ask(open(old), a.address)).toBeNull();
  });

  test('a member with a new secret calls on a new connection, whether or not the others ask for it', async () => {
    const callee = await echo({ credentials });
    const caller = open({ credentials });
    await ask(caller, callee.address);
    await ask(caller, callee.address);
    expect(logged('A peer connected')).toHaveLength(1);
    caller.renew(credentials);
    expect(await ask(caller, callee.address)).toEqual([1, 33]);
    expect(logged('A peer connected')).toHaveLength(2);
    await expect.poll(() => logged('A connection from a peer ended').length).toBe(1);
  });

  test('a peer that was let in with a secret that is gone is cut off a little later', async () => {
    const callee = await echo({ credentials, limits: { farewellMs: 20 } });
    const caller = open({ credentials });
    expect(await ask(caller, callee.address)).toEqual([1, 33]);
    callee.renew({ secrets: ['another secret'], tls: null });
    await expect.poll(() => ask(caller, callee.address)).toBeNull();
    expect(await ask(caller, callee.address)).toBeNull();
  });
});

describe('TcpNetwork, bad input', () => {
  test.each([
    ['a browser', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ['a hello that is too long', Buffer.from([255, 255, 0, 0, 0, 0, 0, 0])],
    ['a hello that ends early', Buffer.from([4, 0, 0, 0, 0, 0, 0, 0, 0x43, 0x52, 0x4c, 0x4e])],
    ['an empty hello', Buffer.alloc(8)],
    ['another magic', Buffer.from([4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])],
  ])('%s is cut off, the member goes on', async (_what, bytes) => {
    const callee = await echo();
    expect(await intrude(callee.address, bytes)).toHaveLength(0);
    expect(logged('A peer was refused')).toHaveLength(1);
    expect(await ask(open(), callee.address)).toEqual([1, 33]);
  });

  test('a caller that says nothing is cut off after the time for the first exchange', async () => {
    const callee = await echo({ limits: { handshakeMs: 30 } });
    await intrude(callee.address, new Uint8Array(0));
    expect(logged('took longer than 30 ms')).toHaveLength(1);
  });

  test('a frame over the limit is refused by its sender, and by a receiver with a lower limit', async () => {
    const callee = await echo({ limits: { frameBytesMax: 100 } });
    const strict = open({ limits: { frameBytesMax: 100 } });
    const lax = open();
    const hundred = Array.from({ length: 99 }, () => 7);
    expect(await ask(strict, callee.address, hundred)).toHaveLength(100);
    expect(await ask(strict, callee.address, [...hundred, 1, 1])).toBeNull();
    expect(logged('A frame is too long')).toHaveLength(1);
    expect(await ask(lax, callee.address, [...hundred, 1, 1])).toBeNull();
    expect(logged('announces 101 bytes; 100 are the most')).toHaveLength(1);
    // The connection is opened anew for calls within the limit.
    expect(await ask(lax, callee.address)).toEqual([1, 33]);
  });

  test('an answer over the limit is not sent', async () => {
    const callee = await echo({ limits: { frameBytesMax: 100 } });
    const hundred = Array.from({ length: 100 }, () => 7);
    expect(await ask(open(), callee.address, hundred, 500)).toBeNull();
    await expect
      .poll(() => logged('An answer is too long').map(({ level }) => level))
      .toEqual(['error']);
  });

  test('an address that is none is answered with null', async () => {
    const caller = open();
    for (const address of ['', 'host', 'host:0', 'host:99999', 'http://x:1', 'a b:1:2']) {
      expect(await ask(caller, address)).toBeNull();
    }
  });
});

describe('TcpNetwork, limits', () => {
  test('a crowd of unauthenticated connections keeps no member out', async () => {
    const callee = await echo({ limits: { strangerCountMax: 8, handshakeMs: 60_000 } });
    const port = Number(callee.address.split(':')[1]);
    let cutOff = 0;
    const crowd = Array.from({ length: 40 }, () => {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => {});
      socket.on('close', () => cutOff++);
      return new Promise<void>((resolve) => socket.on('connect', () => resolve()));
    });
    await Promise.all(crowd);
    await expect.poll(() => cutOff).toBe(32);
    expect(await ask(open(), callee.address)).toEqual([1, 33]);
    expect(callee.refusedCounts.crowded).toBeGreaterThanOrEqual(32);
    expect(logged('A peer was refused')).toHaveLength(1);
  });

  test('members are not counted among unauthenticated connections', async () => {
    const callee = await echo({ limits: { strangerCountMax: 1 } });
    const members = Array.from({ length: 5 }, () => open());
    for (const one of members) expect(await ask(one, callee.address)).toEqual([1, 33]);
    for (const one of members) expect(await ask(one, callee.address)).toEqual([1, 33]);
    expect(logged('A peer connected')).toHaveLength(5);
  });

  test('connections beyond the limit are turned away', async () => {
    const callee = await echo({ limits: { inboundCountMax: 2 } });
    const [a, b, c] = [open(), open(), open()];
    expect(await ask(a, callee.address)).toEqual([1, 33]);
    expect(await ask(b, callee.address)).toEqual([1, 33]);
    expect(await ask(c, callee.address)).toBeNull();
    expect(logged('too many connections')).toHaveLength(1);
  });

  test('when a peer does not take its frames, more than the limit is answered with null at once', async () => {
    const address = await impostor((socket) => socket.pause());
    const caller = open({ limits: { waitingBytesMax: 1000 } });
    const outcomes: string[] = [];
    const frame = Array.from({ length: 400 }, () => 1);
    const calls = ['first', 'second', 'third'].map(async (name) => {
      await ask(caller, address, frame, 100);
      outcomes.push(name);
    });
    await Promise.all(calls);
    expect(outcomes).toEqual(['third', 'first', 'second']);
  });

  test('unanswered calls beyond the limit are answered with null at once', async () => {
    const callee = open();
    await callee.listen(() => {});
    const caller = open({ limits: { callCountMax: 2 } });
    const outcomes: number[] = [];
    await Promise.all(
      [1, 2, 3].map(async (number) => {
        await ask(caller, callee.address, [number], 50);
        outcomes.push(number);
      }),
    );
    expect(outcomes).toEqual([3, 1, 2]);
  });

  test('calls made in one turn of the event loop cross in one piece', async () => {
    const callee = await echo();
    const pieces: number[] = [];
    const relay = await impostor((socket) => {
      const onward = connect(Number(callee.address.split(':')[1]), '127.0.0.1');
      sockets.push(onward);
      socket.on('data', (chunk) => pieces.push(chunk.length));
      socket.pipe(onward).pipe(socket);
    });
    const caller = open();
    await ask(caller, relay);
    pieces.length = 0;
    await Promise.all(Array.from({ length: 20 }, (_, i) => ask(caller, relay, [i])));
    expect(pieces).toEqual([20 * 9]);
  });
});

describe('TcpNetwork, connections', () => {
  test('one connection serves all calls to a peer, and is closed when idle', async () => {
    const callee = await echo();
    const caller = open({ limits: { idleMs: 500 } });
    await ask(caller, callee.address);
    await ask(caller, callee.address);
    expect(logged('A peer connected')).toHaveLength(1);
    await expect.poll(() => logged('was idle').length).toBe(1);
    expect(await ask(caller, callee.address)).toEqual([1, 33]);
    expect(logged('A peer connected')).toHaveLength(2);
  });

  test('a second answer to the same call is not sent', async () => {
    const callee = open();
    await callee.listen((frame, reply) => {
      reply(frame);
      reply(frame);
    });
    let cameBack = 0;
    const relay = await impostor((socket) => {
      const onward = connect(Number(callee.address.split(':')[1]), '127.0.0.1');
      sockets.push(onward);
      socket.pipe(onward).pipe(socket);
      onward.on('data', (chunk) => {
        cameBack += chunk.length;
      });
    });
    const caller = open();
    await ask(caller, relay);
    cameBack = 0;
    await ask(caller, relay);
    await ask(caller, relay);
    expect(cameBack).toBe(2 * 9);
  });

  test('a peer that is back is reached again', async () => {
    const first = await echo();
    const { address } = first;
    const port = Number(address.split(':')[1]);
    const caller = open({ limits: { backoffMsMin: 1, backoffMsMax: 5 } });
    expect(await ask(caller, address)).toEqual([1, 33]);
    await first.close();
    expect(await ask(caller, address, [1], 100)).toBeNull();
    await echo({ listen: { host: '127.0.0.1', port } });
    await expect.poll(() => ask(caller, address, [1], 500)).toEqual([1, 33]);
    expect(logged('A peer is connected').map(({ level }) => level)).toEqual(['debug', 'info']);
  });

  test('while it backs off, a call is answered with null and nothing is dialled', async () => {
    let dialled = 0;
    const address = await impostor((socket) => {
      dialled++;
      socket.destroy();
    });
    const caller = open({ limits: { backoffMsMin: 60_000, backoffMsMax: 60_000 } });
    for (let i = 0; i < 5; i++) expect(await ask(caller, address)).toBeNull();
    expect(dialled).toBe(1);
    expect(logged('cannot be reached')).toHaveLength(1);
  });

  test('a peer that went silent is dropped, so that the next call gets a fresh connection', async () => {
    const callee = await echo();
    let deaf = false;
    let connections = 0;
    const relay = await impostor((socket) => {
      connections++;
      const onward = connect(Number(callee.address.split(':')[1]), '127.0.0.1');
      sockets.push(onward);
      const mine = connections;
      socket.on('data', (chunk) => {
        if (!(deaf && mine === 1)) onward.write(chunk);
      });
      onward.pipe(socket);
    });
    const caller = open({ limits: { silentMs: 40 } });
    expect(await ask(caller, relay)).toEqual([1, 33]);
    deaf = true;
    expect(await ask(caller, relay, [1], 60)).toBeNull();
    expect(await ask(caller, relay)).toEqual([1, 33]);
    expect(connections).toBe(2);
  });

  test('one slow answer does not cost the connection', async () => {
    const callee = open();
    await callee.listen((frame, reply) => {
      if (frame[0] !== 0) reply(frame);
    });
    const caller = open({ limits: { silentMs: 300 } });
    const slow = ask(caller, callee.address, [0], 400);
    const ticking = (async () => {
      for (let i = 0; i < 50; i++) {
        await ask(caller, callee.address);
        await new Promise((resolve) => setTimeout(resolve, 8));
      }
    })();
    expect(await slow).toBeNull();
    await ticking;
    expect(logged('A peer connected')).toHaveLength(1);
  });

  test('listening at a taken port is refused', async () => {
    const { address } = await echo();
    const second = open({ listen: { host: '127.0.0.1', port: Number(address.split(':')[1]) } });
    await expect(second.listen(() => {})).rejects.toThrow('EADDRINUSE');
  });
});
