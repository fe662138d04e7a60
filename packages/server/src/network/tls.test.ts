import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Certificates, hasOpenssl } from './certificates.contract.ts';
import { type MemberNames, TcpNetwork } from './tcp-network.ts';
import type { PeerTls } from './credentials.ts';

describe.skipIf(!hasOpenssl)('TcpNetwork over TLS', () => {
  let certificates: Certificates;
  const tls: Record<string, PeerTls> = {};
  const opened: TcpNetwork[] = [];
  let lines: string[] = [];

  beforeAll(() => {
    certificates = new Certificates();
    for (const authority of ['ours', 'theirs', 'next']) certificates.authority(authority);
    tls['a'] = certificates.issue('ours', 'a', 'DNS:a');
    tls['b'] = certificates.issue('ours', 'b', 'DNS:b');
    tls['stranger'] = certificates.issue('theirs', 'stranger', 'DNS:a');
    tls['pattern'] = certificates.issue('ours', 'pattern', 'DNS:*', 'DNS:*.members.example');
    tls['next a'] = certificates.issue('next', 'next-a', 'DNS:a');
    tls['next b'] = certificates.issue('next', 'next-b', 'DNS:b');
  });
  afterAll(() => certificates.remove());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((network) => network.close()));
    lines = [];
  });

  const trusting = (who: string, ca = 'a'): PeerTls => ({
    ...(tls[who] as PeerTls),
    ca: (tls[ca] as PeerTls).ca,
  });

  interface MemberOptions {
    readonly secrets?: readonly string[];
    readonly members?: MemberNames;
    readonly limits?: object;
  }

  function member(files: PeerTls | null, options: MemberOptions = {}): TcpNetwork {
    const line = (message: string, fields: object = {}): void => {
      lines.push(`${message} ${JSON.stringify(fields)}`);
    };
    const { secrets = [], members, limits = {} } = options;
    const network = new TcpNetwork({
      clock: new SystemClock(),
      random: new SystemRandom(),
      log: { debug: line, info: line, warn: line, error: line },
      listen: { host: '127.0.0.1', port: 0 },
      release: '0.2.0',
      credentials: { secrets, tls: files },
      members: members ?? null,
      limits,
    });
    opened.push(network);
    return network;
  }

  function ask(caller: TcpNetwork, callee: TcpNetwork): Promise<boolean> {
    return new Promise((resolve) => {
      caller.call(callee.address, new Uint8Array([1, 2]), { limitMs: 3000 }, (answer) =>
        resolve(answer?.length === 2),
      );
    });
  }

  async function answered(caller: TcpNetwork, callee: TcpNetwork): Promise<boolean> {
    await callee.listen((frame, reply) => reply(frame));
    return ask(caller, callee);
  }

  /** The view: names that may connect, and the name of the member that listens at every address. */
  const view = (names: readonly string[], listener = 'b'): MemberNames => ({
    names: () => names,
    at: () => listener,
  });

  test('members with certificates of one authority talk, with a secret on top if there is one', async () => {
    const [a, b] = [trusting('a'), trusting('b')];
    expect(await answered(member(a), member(b))).toBe(true);
    const secrets = ['s'];
    expect(await answered(member(a, { secrets }), member(b, { secrets }))).toBe(true);
    expect(await answered(member(a, { secrets }), member(b, { secrets: ['other'] }))).toBe(false);
  });

  test('a caller whose certificate another authority signed is refused', async () => {
    const callee = member(trusting('b'));
    expect(await answered(member(trusting('stranger')), callee)).toBe(false);
    expect(callee.refusedCounts.certificate).toBe(1);
    expect(lines.join()).toContain('Not trusted: ');
  });

  test('a caller without a certificate is refused', async () => {
    const callee = member(trusting('b'));
    const { ca } = trusting('a');
    await callee.listen((frame, reply) => reply(frame));
    const port = Number(callee.address.split(':')[1]);
    const heard = await new Promise<number>((resolve) => {
      const options = { ca, port, host: '127.0.0.1', checkServerIdentity: () => undefined };
      const socket = connectTls(options);
      let bytes = 0;
      socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
      socket.on('error', () => {});
      socket.on('close', () => resolve(bytes));
      socket.write(Buffer.alloc(64));
    });
    expect([heard, callee.refusedCounts.certificate]).toEqual([0, 1]);
  });

  test('a callee whose certificate another authority signed is refused', async () => {
    const caller = member(trusting('a'));
    expect(await answered(caller, member(trusting('stranger')))).toBe(false);
    expect(caller.refusedCounts.certificate).toBe(1);
  });

  test('a member without TLS gets nowhere, and is told nothing', async () => {
    const callee = member(trusting('b'));
    expect(await answered(member(null), callee)).toBe(false);
    expect(callee.refusedCounts.certificate).toBe(1);
    expect(await answered(member(trusting('a')), member(null))).toBe(false);
  });

  test('a client that sends nothing, or begins and does not go on, is cut off', async () => {
    const callee = member(trusting('b'), { limits: { handshakeMs: 50 } });
    await callee.listen(() => {});
    const port = Number(callee.address.split(':')[1]);
    const closed = [[], [22, 3, 1], [22, 3, 1, 255, 255]].map((bytes) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.resume();
      socket.write(Uint8Array.from(bytes));
      return new Promise((resolve) => socket.on('close', resolve));
    });
    await Promise.all(closed);
    const { slow, certificate } = callee.refusedCounts;
    expect(slow + certificate).toBe(3);
  });

  test('a silent client does not keep the member from stopping', async () => {
    const callee = member(trusting('b'), { limits: { handshakeMs: 60_000 } });
    await callee.listen((frame, reply) => reply(frame));
    const socket = connect(Number(callee.address.split(':')[1]), '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((resolve) => socket.on('connect', resolve));
    const closed = new Promise((resolve) => socket.on('close', resolve));
    // Once another is answered, the server has taken this one too.
    expect(await ask(member(trusting('a')), callee)).toBe(true);
    await callee.close();
    await closed;
  });

  test('a client that has shown a certificate and then sends nothing is cut off', async () => {
    const callee = member(trusting('b'), { limits: { handshakeMs: 50 } });
    await callee.listen(() => {});
    const port = Number(callee.address.split(':')[1]);
    await new Promise((resolve) => {
      const identity = { checkServerIdentity: () => undefined };
      const socket = connectTls({ ...trusting('a'), port, host: '127.0.0.1', ...identity });
      socket.on('error', () => {});
      socket.on('close', resolve);
    });
    expect(callee.refusedCounts.slow).toBe(1);
  });

  test('older TLS is refused', async () => {
    const callee = member(trusting('b'));
    await callee.listen(() => {});
    const port = Number(callee.address.split(':')[1]);
    const a = trusting('a');
    const error = await new Promise<Error>((resolve) => {
      connectTls({ ...a, port, host: '127.0.0.1', maxVersion: 'TLSv1.2' }).on('error', resolve);
    });
    expect(error.message).toMatch(/protocol version/);
  });

  test('a certificate with a name in the view is let in; one without is refused, logged once, and counted each time', async () => {
    const callee = member(trusting('b'), { members: view(['a', 'b']) });
    expect(await answered(member(trusting('a'), { members: view(['a', 'b']) }), callee)).toBe(true);
    const small = member(trusting('b'), { members: view(['b', 'c', 'aa', 'a.b']) });
    await small.listen((frame, reply) => reply(frame));
    const limits = { backoffMsMin: 1, backoffMsMax: 1 };
    const caller = member(trusting('a'), { members: view(['a', 'b']), limits });
    for (let i = 0; i < 3; i++) {
      expect(await ask(caller, small)).toBe(false);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(small.refusedCounts.name).toBe(3);
    expect(lines.filter((line) => line.includes('names no member'))).toHaveLength(1);
  });

  test('a wildcard in a certificate names no member', async () => {
    const callee = member(trusting('b'), { members: view(['a', 'b', 'c.members.example']) });
    expect(await answered(member(trusting('pattern')), callee)).toBe(false);
    expect(callee.refusedCounts.name).toBe(1);
  });

  test('a caller talks only to the member it means: one member cannot stand in the place of another', async () => {
    const caller = member(trusting('a'), { members: view(['a', 'b', 'c'], 'c') });
    expect(await answered(caller, member(trusting('b')))).toBe(false);
    expect(caller.refusedCounts.name).toBe(1);
  });

  test('a member that leaves the view is cut off although its connection was open', async () => {
    const names = ['a', 'b'];
    const callee = member(trusting('b'), { members: view(names) });
    const caller = member(trusting('a'));
    expect(await answered(caller, callee)).toBe(true);
    callee.review();
    expect(await ask(caller, callee)).toBe(true);
    names.shift();
    callee.review();
    expect(await ask(caller, callee)).toBe(false);
    expect(callee.refusedCounts.name).toBeGreaterThanOrEqual(1);
  });

  test('a frame written by an attacker on the way ends the connection', async () => {
    const callee = member(trusting('b'));
    await callee.listen((frame, reply) => reply(frame));
    const port = Number(callee.address.split(':')[1]);
    const altered = await new Promise<string>((resolve) => {
      const bare = connect(port, '127.0.0.1');
      const secured = connectTls({
        ...trusting('a'),
        socket: bare,
        servername: '',
        checkServerIdentity: () => undefined,
      });
      secured.on('error', (error) => resolve(error.message));
      secured.on('close', () => resolve('closed'));
      secured.on('secureConnect', () => {
        // A record of application data without a valid seal, as an attacker on the way could write it.
        bare.write(Buffer.concat([Buffer.from([23, 3, 3, 0, 32]), Buffer.alloc(32, 1)]));
      });
    });
    expect(altered).toMatch(/bad record mac|closed/);
  });

  test('certificates of another authority: both trusted for a while, then only the new one, and no call is lost', async () => {
    const both = (who: string): PeerTls => ({
      ...(tls[who] as PeerTls),
      ca: `${tls['a']?.ca}${tls['next a']?.ca}`,
    });
    const limits = { farewellMs: 1500 };
    const caller = member(tls['a'] as PeerTls, { limits });
    const callee = member(tls['b'] as PeerTls, { limits });
    await callee.listen((frame, reply) => setTimeout(() => reply(frame), 5));
    const calls: Promise<boolean>[] = [];
    const traffic = setInterval(() => calls.push(ask(caller, callee)), 1);
    const steps = ['', 'next '].flatMap((prefix) => [
      () => callee.renew({ secrets: [], tls: both(`${prefix}b`) }),
      () => caller.renew({ secrets: [], tls: both(`${prefix}a`) }),
    ]);
    for (const step of steps) {
      step();
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    callee.renew({ secrets: [], tls: tls['next b'] as PeerTls });
    caller.renew({ secrets: [], tls: tls['next a'] as PeerTls });
    await new Promise((resolve) => setTimeout(resolve, 1700));
    clearInterval(traffic);
    const answers = await Promise.all(calls);
    expect(answers.length).toBeGreaterThan(10);
    expect(answers.filter((one) => !one)).toEqual([]);
    // A member with only the old certificates is not let in any more.
    expect(await ask(member(trusting('a')), callee)).toBe(false);
  });

  test('a peer that was let in with a certificate that is not trusted any more is cut off a little later', async () => {
    const callee = member(tls['b'] as PeerTls, { limits: { farewellMs: 20 } });
    const caller = member(tls['a'] as PeerTls);
    expect(await answered(caller, callee)).toBe(true);
    callee.renew({ secrets: [], tls: tls['next b'] as PeerTls });
    await expect.poll(() => ask(caller, callee)).toBe(false);
    expect(await ask(caller, callee)).toBe(false);
  });
});
