/** The binary as a real process; the commands themselves are tested without one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { release } from './index.ts';
import { run } from './run.ts';
import { recordingIo } from './testing/world.ts';

const main = join(import.meta.dirname, 'main.ts');
const { PATH, NODE_COMPILE_CACHE } = process.env;

function start(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['--conditions=source', main, ...args], {
    env: { PATH, NODE_COMPILE_CACHE, ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, out, err }));
  });
  return { child, ended, text: () => out + err };
}

test('results go to standard output, the exit code is 0', async () => {
  expect(await start(['--version']).ended).toEqual({ code: 0, out: `${release}\n`, err: '' });
});

test('wrong usage is one line on the error side, without colour in a pipe, and exit code 2', async () => {
  const { code, out, err } = await start(['set', '10s'], { TERM: 'xterm-256color' }).ended;
  expect([code, out]).toEqual([2, '']);
  expect(err).toBe(
    'carillon set: The URL to call is missing: name it last, as in npx carillon set 10s http://host/path.\n',
  );
});

test('output that is not read to the end is no failure', async () => {
  const { child, ended } = start(['completion', 'fish']);
  child.stdout.destroy();
  expect((await ended).code).toBe(0);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends listen tidily, with 0', async (signal) => {
  const { child, ended, text } = start(['listen', '--port', '0']);
  await expect.poll(text, { timeout: 20_000 }).toContain('Listening at');
  child.kill(signal);
  expect((await ended).code).toBe(0);
});

test('a member serves, says how to try it, and ends with 0 on SIGTERM', async () => {
  const { child, ended, text } = start(['serve', '--memory', '--listen', '127.0.0.1:0']);
  await expect.poll(text, { timeout: 20_000 }).toContain('curl -i http://127.0.0.1:');
  const url = /curl -i (http:\/\/[\d.:]+)/.exec(text())?.[1] ?? '';
  expect(text()).toContain(`Carillon serves at ${url}, timers`);
  expect(await (await fetch(`${url}/ping`)).text()).toBe('OK');
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
});

test.each(['address', 'peer'])(
  'serve at a taken port (%s) says so in one line, logs nothing and leaves no data behind',
  async (which) => {
    const [taken, spare] = [createServer(), createServer()];
    for (const server of [taken, spare]) await once(server.listen(0, '127.0.0.1'), 'listening');
    const [at, free] = [taken, spare].map(
      (one) => `127.0.0.1:${(one.address() as AddressInfo).port}`,
    );
    spare.close();
    const folder = mkdtempSync(join(tmpdir(), 'carillon-taken-'));
    const [data, members] = [join(folder, 'data'), join(folder, 'members.json')];
    const own = { name: 'a', address: free, peer: free, [which]: at };
    writeFileSync(members, JSON.stringify({ members: [own] }));
    const flags = ['serve', '--data', data, '--members', members, '--name', 'a'];
    const { code, out, err } = await start(flags).ended;
    taken.close();
    expect([code, out, existsSync(data)]).toEqual([1, '', false]);
    expect(err).toMatch(/^[^\n]+\n$/);
    expect(err).toContain(`${at} is taken by another program.`);
    rmSync(folder, { recursive: true });
  },
);

test('an option that is wrong stops serve with a sentence for each mistake', async () => {
  const args = ['serve', '--log-level', 'loud', '--limits-body-bytes-max', 'much'];
  const { code, err } = await start(args).ended;
  expect(code).toBe(2);
  expect(err.trimEnd().split('\n')).toHaveLength(2);
});

test('variables of other commands do not disturb a member', async () => {
  const env = { CARILLON_SERVER: 'http://x', CARILLON_TOKEN: 'hush', CARILLON_DATA: '/data' };
  const { code, out } = await start(['config', 'print'], env).ended;
  expect(code).toBe(0);
  expect(out).toMatch(/^data +\/data +environment CARILLON_DATA$/m);
  expect(out).not.toContain('hush');
});

test('serve writes its log as JSON into a pipe, and as lines for people on a terminal', async () => {
  const flags = ['serve', '--memory', '--listen', '127.0.0.1:0'];
  const piped = start(flags);
  await vi.waitUntil(() => piped.text().includes('The member serves.'), { timeout: 20_000 });
  piped.child.kill('SIGTERM');
  const { out } = await piped.ended;
  expect(JSON.parse(out.split('\n')[0] ?? '')).toMatchObject({ level: 30 });

  const io = recordingIo({}, true, false);
  const ended = run([...flags], io, release);
  await vi.waitUntil(() => io.outLines.some((line) => line.includes('The member serves.')), {
    timeout: 20_000,
  });
  io.abort();
  expect(await ended).toBe(0);
  // oxlint-disable-next-line no-control-regex -- colours are looked for
  const plain = io.outLines.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''));
  expect(plain.join('\n')).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3}  info   The member serves\.  listen=127/m,
  );
  expect(plain.filter((line) => line.startsWith('{'))).toEqual([]);
});

test('serve --json has one line with url and address, the port filled in, and a log beside it has none', async () => {
  const flags = ['serve', '--memory', '--listen', '127.0.0.1:0', '--json'];
  for (const level of ['silent', 'debug']) {
    const { child, ended, text } = start([...flags, '--log-level', level]);
    await vi.waitUntil(() => text().includes('"pid"'), { timeout: 20_000 });
    child.kill('SIGTERM');
    const { out } = await ended;
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const told = lines.filter((line) => 'url' in line);
    expect(told).toEqual([
      {
        name: '127.0.0.1:0',
        url: `http://${String(told[0]?.['address'])}`,
        address: expect.stringMatching(/^127\.0\.0\.1:[1-9]\d+$/),
        pid: child.pid,
      },
    ]);
    expect(lines.length === 1).toBe(level === 'silent');
  }
});

test('a member that must not start so says which command to type, as it is called here', async () => {
  const data = mkdtempSync(join(tmpdir(), 'carillon-start-'));
  const io = recordingIo();
  const args = ['serve', '--listen', '0.0.0.0:0', '--data', data];
  expect(await run(args, io, release)).toBe(2);
  rmSync(data, { recursive: true });
  expect(io.errLines.join('\n')).toContain('Make one (npx carillon token create --name NAME');
});

test('serve says that it waits where etcd does not answer', async () => {
  const args = ['serve', '--memory', '--listen', '127.0.0.1:0', '--name', 'n0'];
  const { child, ended, text } = start([...args, '--etcd', 'http://127.0.0.1:1']);
  await vi.waitFor(
    () => expect(text()).toContain('Waiting for etcd at http://127.0.0.1:1.'),
    60_000,
  );
  child.kill('SIGKILL');
  await ended;
});

test('an error of lock is a sentence, without the name of the library', async () => {
  const args = ['lock', 'k', '--etcd', 'http://127.0.0.1:1', '--', 'true'];
  const { code, err } = await start(args).ended;
  expect(code).toBe(1);
  expect(err).toBe('No etcd listens at http://127.0.0.1:1. --etcd names another.\n');
});
