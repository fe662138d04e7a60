/** `carillon lock` and `carillon ring status` as processes, on a real etcd. T = 2 s. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ring } from '@carillon/ring';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { etcdForTests } from '../../../../../scripts/etcd.ts';
import { EtcdCluster } from '../../../../../scripts/etcd-cluster.ts';

const paths = etcdForTests();
const main = process.env['BUNDLED_COMMAND'] ?? join(import.meta.dirname, '../../main.ts');
/** The bound is T + 1 s; a loaded machine starts and schedules late. */
const handOverMsMax = 2000 + 1000 + 2000;

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  out: string;
  err: string;
}

describe.skipIf(paths === null)('carillon lock', () => {
  let cluster: EtcdCluster;
  const started: Started[] = [];

  beforeAll(async () => {
    if (paths !== null) cluster = await EtcdCluster.start({ paths });
  }, 60_000);

  afterEach(() => {
    for (const { child } of started.splice(0)) child.kill('SIGKILL');
  });
  afterAll(() => cluster?.stop());

  function carillon(...words: string[]): Started {
    const child = spawn(
      process.execPath,
      ['--conditions=source', '--no-warnings', main, ...words],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, CARILLON_ETCD: cluster.endpoints.join(), NO_COLOR: '1' },
      },
    );
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const one: Started = { child, ended, out: '', err: '' };
    child.stdout?.on('data', (chunk: Buffer) => (one.out += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (one.err += chunk.toString()));
    started.push(one);
    return one;
  }

  function lock(ring: string, ...command: string[]): Started {
    return carillon('lock', 'demo', '--ring', ring, '--ttl', '2s', '--', ...command);
  }

  async function says(one: Started, what: string): Promise<void> {
    for (let i = 0; i < 3000 && !`${one.out}${one.err}`.includes(what); i++) await sleep(10);
    expect(`${one.out}${one.err}`).toContain(what);
  }

  test('runs the command with the token, passes its exit code on, leaves nothing behind', async () => {
    const first = lock('plain', 'sh', '-c', 'echo "token $CARILLON_LOCK_TOKEN"; exit 7');
    expect(await first.ended).toBe(7);
    const second = lock('plain', 'sh', '-c', 'echo "token $CARILLON_LOCK_TOKEN"');
    expect(await second.ended).toBe(0);
    const tokens = [first, second].map(({ out }) => BigInt(/token (\d+)/.exec(out)?.[1] ?? '0'));
    expect(tokens[1]).toBeGreaterThan(tokens[0] ?? 0n);
    expect(cluster.contents()).toEqual({ keys: ['plain/config'], leases: 0 });
  });

  test('the second waits; kill -9 of the first hands over within the bound', async () => {
    const first = lock('crash', 'sh', '-c', 'echo first; exec sleep 20');
    await says(first, 'first');
    const second = lock('crash', 'echo', 'second');
    await says(second, 'waiting for "demo"');
    expect(second.out).toBe('');
    const killedAtMs = performance.now();
    first.child.kill('SIGKILL');
    expect(await second.ended).toBe(0);
    expect(second.out).toBe('second\n');
    expect(performance.now() - killedAtMs).toBeLessThan(handOverMsMax);
  });

  test('stopped by a signal, the first ends its command and hands over at once', async () => {
    const first = lock('signal', 'sh', '-c', 'echo first; exec sleep 20');
    await says(first, 'first');
    const second = lock('signal', 'echo', 'second');
    await says(second, 'waiting');
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(128 + 15);
    expect(await second.ended).toBe(0);
  });

  test('a service with the library and the command contend for one key: each waits for the other', async () => {
    const ring = await Ring.open({ endpoints: cluster.endpoints, prefix: 'shared', ttlMs: 2000 });
    try {
      await ring.addMember('service');
      const first = await ring.lock('demo');
      const command = lock('shared', 'sh', '-c', 'echo "inside $CARILLON_LOCK_TOKEN"; sleep 1');
      await new Promise<void>((resolve) => {
        first.revoking.addEventListener('abort', () => resolve(), { once: true });
      });
      expect(command.out).toBe('');
      const again = ring.lock('demo');
      await first.release();
      await says(command, 'inside');
      const second = await again;
      expect(await command.ended).toBe(0);
      const token = BigInt(/inside (\d+)/.exec(command.out)?.[1] ?? 0);
      expect(token).toBeGreaterThan(first.token);
      expect(second.token).toBeGreaterThan(token);
      await second.release();
    } finally {
      await ring.close();
    }
  });

  test('locks on other keys do not wait for each other', async () => {
    const others = ['a', 'b', 'c', 'd'].map((key) =>
      carillon(
        'lock',
        key,
        '--ring',
        'many',
        '--ttl',
        '2s',
        '--',
        'sh',
        '-c',
        'echo inside; exec sleep 60',
      ),
    );
    for (const one of others) await says(one, 'inside');
    // All of them at the same time.
    expect(others.map(({ child }) => child.exitCode)).toEqual([null, null, null, null]);
    for (const { child } of others) child.kill('SIGTERM');
    await Promise.all(others.map(({ ended }) => ended));
  });

  test('a wait that is interrupted ends with 130 and leaves nothing', async () => {
    const first = lock('wait', 'sh', '-c', 'echo first; exec sleep 20');
    await says(first, 'first');
    const second = lock('wait', 'echo', 'second');
    await says(second, 'waiting');
    second.child.kill('SIGINT');
    expect(await second.ended).toBe(130);
    first.child.kill('SIGTERM');
    await first.ended;
    const keys = cluster.contents().keys.filter((key) => key.startsWith('wait/'));
    expect(keys).toEqual(['wait/config']);
  });

  test('a lost lock stops the command', async () => {
    const first = lock('lost', 'sh', '-c', 'echo first; exec sleep 20');
    await says(first, 'first');
    const [member] = cluster
      .ctl(['get', 'lost/m/', '--prefix', '--keys-only'])
      .split('\n')
      .filter(Boolean);
    cluster.ctl(['del', member ?? '']);
    expect(await first.ended).toBe(1);
    expect(first.err).toContain('was lost, sh was stopped');
  });

  test('ring status shows members and slots, for people and for programs', async () => {
    const none = carillon('ring', 'status', '--ring', 'nobody');
    expect(await none.ended).toBe(1);
    expect(none.out).toContain('There is no ring "nobody"');
    const first = lock('shown', 'sh', '-c', 'echo first; exec sleep 20');
    await says(first, 'first');
    const text = carillon('ring', 'status', '--ring', 'shown');
    expect(await text.ended).toBe(0);
    expect(text.out).toMatch(/16384 slots by rendezvous.*\n.* active {2}weight 0 {2}1 slot /);
    const json = carillon('ring', 'status', '--ring', 'shown', '--json');
    expect(await json.ended).toBe(0);
    const [member] = (JSON.parse(json.out) as { members: { id: string }[] }).members;
    const held = { key: 'demo', holder: member?.id, token: expect.stringMatching(/^\d+$/) };
    expect(JSON.parse(json.out)).toMatchObject({
      ring: 'shown',
      'free-slots': 16_383,
      locks: [{ ...held, waiters: [] }],
    });
    const second = lock('shown', 'echo', 'second');
    await says(second, 'waiting');
    const both = carillon('ring', 'status', '--ring', 'shown');
    expect(await both.ended).toBe(0);
    expect(both.out).toMatch(/lock demo {2}held by \S+ {2}token \d+ {2}waiting: \S+$/m);
    first.child.kill('SIGTERM');
    await first.ended;
    await second.ended;
  });

  test.each([
    [['lock', 'demo'], 'carillon lock KEY -- COMMAND'],
    [['lock', 'demo', '--ttl', 'soon', '--', 'true'], '--ttl must be a duration'],
    [['lock', 'demo', '--ttl', '10ms', '--', 'true'], '--ttl must be from 1s to 1h, not 10ms.'],
    [['lock', 'demo', '--ttl', '2h', '--', 'true'], '--ttl must be from 1s to 1h, not 2h.'],
    [['lock', '', '--', 'true'], 'KEY must be a text of 1 to 1024 characters, not one of 0.'],
    [['lock', 'x'.repeat(1025), '--', 'true'], 'KEY must be a text of 1 to 1024 characters'],
    [['lock', 'demo', '--etcd', 'localhost', '--', 'true'], 'must look like http://127.0.0.1:2379'],
    [['lock', 'demo', '--ring', 'x/', '--', 'true'], '--ring must be a name'],
    [['ring'], 'carillon ring status'],
    [['ring', 'status', '--etcd-cert', 'x.pem'], '--etcd-cert and --etcd-key go together'],
    [['ring', 'status', '--etcd-ca', '/no/such/file'], '--etcd-ca must be a file that can be read'],
    [['ring', 'status', '--etcd-user', 'ada'], '--etcd-user needs a password'],
    [['ring', 'status', '--etcd-password-file', 'x'], 'goes with --etcd-user'],
  ])('%j is refused with a sentence', async (words, sentence) => {
    const one = carillon(...words);
    expect(await one.ended).toBe(2);
    expect(one.err).toContain(sentence);
  });

  test('where no etcd listens, both commands say so in one sentence', async () => {
    const nowhere = ['--etcd', '127.0.0.1:1'];
    for (const one of [
      carillon('lock', 'demo', ...nowhere, '--', 'true'),
      carillon('ring', 'status', ...nowhere),
    ]) {
      expect(await one.ended).toBe(1);
      expect(one.err).toBe('No etcd listens at 127.0.0.1:1. --etcd names another.\n');
    }
  });

  test('a command that does not exist: 127, as in a shell', async () => {
    const one = lock('none', '/no/such/program');
    expect(await one.ended).toBe(127);
    expect(one.err).toBe('carillon lock: There is no program "/no/such/program".\n');
  });

  test('a command that cannot be run: 126, as in a shell', async () => {
    const one = lock('none', import.meta.dirname);
    expect(await one.ended).toBe(126);
    expect(one.err).toMatch(/^carillon lock: The program ".+" cannot be started: .+ run it\.\n$/);
  });

  test('a server that is no etcd is called one, and its address is named', async () => {
    const web = createServer((_, response) => response.end('welcome'));
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const { port } = web.address() as AddressInfo;
    const one = carillon('ring', 'status', '--etcd', `127.0.0.1:${port}`);
    expect(await one.ended).toBe(1);
    web.close();
    expect(one.err).toBe(
      `etcd at http://127.0.0.1:${port}: the server there does not speak HTTP/2 as etcd does (Protocol error). --etcd names another.\n`,
    );
  });
});

describe.skipIf(paths === null)('carillon lock on an etcd with TLS and passwords', () => {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    if (paths === null) return;
    cluster = await EtcdCluster.start({ paths, tls: true });
    cluster.ctl(['user', 'add', 'root:rosebud', '--interactive=false']);
    cluster.ctl(['user', 'grant-role', 'root', 'root']);
    cluster.ctl(['auth', 'enable']);
  }, 60_000);

  afterAll(async () => {
    await cluster?.stop();
  });

  function status(password: string) {
    const words = ['ring', 'status', '--etcd', cluster.endpoints.join(), '--ring', 'safe'];
    const safe = ['--etcd-ca', cluster.certificateOf(0), '--etcd-user', 'root'];
    const env = { PATH: process.env['PATH'], NO_COLOR: '1', CARILLON_ETCD_PASSWORD: password };
    const given = ['--conditions=source', '--no-warnings', main, ...words, ...safe];
    return spawnSync(process.execPath, given, { env, encoding: 'utf8' });
  }

  test('the flags and the variable open it; a wrong password is said to be one', () => {
    expect(status('rosebud').stdout).toContain('There is no ring "safe"');
    expect(status('wrong').stderr).toMatch(/authentication failed|invalid user/);
  });
});
