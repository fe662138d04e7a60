import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Carillon } from '@carillon/client';
import { loadConfig, parseTokens, startMember } from '@carillon/server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { release } from '../../index.ts';
import { run } from '../../run.ts';
import { fakeMember, recordingIo } from '../../testing/world.ts';

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-token-'));
  file = join(folder, 'deep', 'tokens.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function cli(args: readonly string[], env: Record<string, string> = {}) {
  const io = recordingIo(env);
  const code = await run(['token', ...args], io, release);
  return { code, out: io.outLines, err: io.errLines };
}

async function made(...args: string[]): Promise<Record<string, string>> {
  const { code, out } = await cli(['create', '--name', 'ops', '--tokens', file, '--json', ...args]);
  expect(code).toBe(0);
  return JSON.parse(out[0] ?? '') as Record<string, string>;
}

describe('carillon token', () => {
  test('create prints the token once and keeps a digest of it in a file that only its owner can read', async () => {
    const wish = ['--name', 'billing', '--scope', 'write', '--namespace', 'team-a'];
    const { code, out, err } = await cli(['create', ...wish, '--tokens', file]);
    expect(code).toBe(0);
    expect(out).toEqual([expect.stringMatching(/^carillon_[0-9a-f]{12}_[\w-]{43}$/)]);
    expect(err.join()).toContain('only time');
    const kept = readFileSync(file, 'utf8');
    expect(kept).not.toContain((out[0] ?? '').slice(-43));
    expect(parseTokens(kept).tokens).toMatchObject([
      { name: 'billing', scope: 'write', namespace: 'team-a', until: null },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700);
    expect(existsSync(`${file}.part`)).toBe(false);
  });

  test('a token is for the default namespace, one of an admin for all', async () => {
    expect(await made('--scope', 'read')).toMatchObject({ namespace: 'default', until: null });
    expect(await made('--scope', 'admin')).toMatchObject({ namespace: '*' });
    expect(await made('--scope', 'admin', '--namespace', 'a')).toMatchObject({ namespace: 'a' });
    const { created = '', until = '' } = await made('--scope', 'read', '--expires', '90d');
    expect(Date.parse(until) - Date.parse(created)).toBe(90 * 86_400_000);
  });

  test('list shows names and scopes, neither tokens nor digests', async () => {
    const { id = '', token = '' } = await made('--scope', 'write', '--expires', '1h');
    const [{ digest } = { digest: '?' }] = parseTokens(readFileSync(file, 'utf8')).tokens;
    for (const json of [[], ['--json']]) {
      const { code, out } = await cli(['list', '--tokens', file, ...json]);
      expect(code).toBe(0);
      expect(out.join('\n')).toContain(id);
      expect(out.join('\n')).not.toContain(token.slice(-43));
      expect(out.join('\n')).not.toContain(digest);
    }
  });

  test('list and revoke of a file that was named and is not there are wrong usage; by default it may be missing', async () => {
    const none = join(folder, 'none');
    for (const action of [['list'], ['revoke', 'a']]) {
      const { code, err } = await cli([...action, '--tokens', none]);
      expect([code, err.join()]).toEqual([2, expect.stringContaining(`There is no file ${none}`)]);
    }
    const { code, err } = await cli(['list', '--data', folder]);
    expect([code, err.join()]).toEqual([0, expect.stringContaining('There are no tokens in')]);
  });

  test('revoke takes out the named token, and fails for one that is not there', async () => {
    const first = await made('--scope', 'read');
    const second = await made('--scope', 'read');
    const gone = await cli(['revoke', String(first['id']), '--tokens', file]);
    expect([gone.code, gone.out]).toEqual([0, [`${first['id']} revoked.`]]);
    expect(parseTokens(readFileSync(file, 'utf8')).tokens).toMatchObject([{ id: second['id'] }]);
    const again = await cli(['revoke', String(first['id']), '--tokens', file]);
    expect([again.code, again.err.join()]).toEqual([1, expect.stringContaining('No token')]);
  });

  test('a new file gets a number key, which stays; one that has none gets none', async () => {
    const key = () => parseTokens(readFileSync(file, 'utf8')).numberKey;
    const { id = '' } = await made('--scope', 'read');
    const first = key();
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    await made('--scope', 'read');
    await cli(['revoke', id, '--tokens', file]);
    expect(key()).toBe(first);
    rmSync(file);
    await made('--scope', 'read');
    expect(key()).not.toBe(first);
    writeFileSync(file, '{"tokens": []}');
    await made('--scope', 'read');
    expect(key()).toBeNull();
  });

  test('the tokens file is the one that a member with the same flags finds', async () => {
    await cli(['create', '--name', 'a', '--scope', 'read', '--data', folder]);
    expect(existsSync(join(folder, 'tokens.json'))).toBe(true);
    const env = { CARILLON_AUTH_TOKENS: file, CARILLON_TOKEN: 'x', CARILLON_NAMESPACE: 'y' };
    await cli(['create', '--name', 'a', '--scope', 'read'], env);
    expect(existsSync(file)).toBe(true);
    const config = join(folder, 'c.yaml');
    writeFileSync(config, `auth: { tokens: ${join(folder, 'third.json')} }`);
    await cli(['create', '--name', 'a', '--scope', 'read', '--config', config]);
    expect(existsSync(join(folder, 'third.json'))).toBe(true);
  });

  test.each([
    [['create', '--scope', 'read'], /--name/],
    [['create', '--name', 'a\u0007', '--scope', 'read'], /--name/],
    [['create', '--name', 'a'], /--scope with one of read, write, admin/],
    [['create', '--name', 'a', '--scope', 'root'], /--scope/],
    [['create', '--name', 'a', '--scope', 'read', '--namespace', 'A'], /--namespace/],
    [
      ['create', '--name', 'a', '--scope', 'read', '--expires', 'soon'],
      /--expires must be a duration such as 30m, 12h or 90d/,
    ],
    [['create', '--name', 'a', '--scope', 'read', '--expires', '99999999999d'], /--expires/],
    [['create', '--name', 'a', '--scope', 'read', 'more'], /too much/],
    [['revoke'], /by their id/],
    [['drop'], /create, list or revoke/],
  ])('%j is not understood, and nothing is written', async (args, why) => {
    const { code, err } = await cli([...args, '--tokens', file]);
    expect([code, err.join()]).toEqual([2, expect.stringMatching(why)]);
    expect(existsSync(file)).toBe(false);
  });

  test('revoke of a token that is not there makes neither file nor folder', async () => {
    const { code, err } = await cli(['revoke', 'abc', '--data', join(folder, 'deep')]);
    expect([code, err]).toEqual([1, [expect.stringContaining('has the id abc.')]]);
    expect(existsSync(join(folder, 'deep'))).toBe(false);
  });

  test('a broken file is left alone, and so is one that another command is changing', async () => {
    await made('--scope', 'read');
    writeFileSync(file, '{');
    const broken = await cli(['create', '--name', 'a', '--scope', 'read', '--tokens', file]);
    expect([broken.code, broken.err.join()]).toEqual([1, expect.stringContaining('not JSON')]);
    expect([readFileSync(file, 'utf8'), existsSync(`${file}.part`)]).toEqual(['{', false]);
    writeFileSync(`${file}.part`, '');
    const busy = await cli(['create', '--name', 'a', '--scope', 'read', '--tokens', file]);
    expect([busy.code, busy.err.join()]).toEqual([1, expect.stringContaining('remove it')]);
  });
});

describe('a member with tokens', () => {
  test('lets in a client with a token, by flag, file or environment; with a revoked one not any more', async () => {
    const { token = '', id = '' } = await made('--scope', 'write', '--namespace', 'team-a');
    const flags = { listen: '127.0.0.1:0', durability: 'memory', 'log-level': 'silent' };
    const loaded = loadConfig({ flags: { ...flags, 'auth-tokens': file } });
    if (!loaded.ok) throw new Error(loaded.problems.join(' '));
    const end = (): void => {};
    const member = await startMember({ config: loaded.config, onFailed: end, onDrained: end });
    try {
      const url = `http://${member.address}`;
      const secret = join(folder, 'secret');
      writeFileSync(secret, `${token}\n`);
      const ask = async (args: string[], env: Record<string, string> = {}) => {
        const io = recordingIo({ CARILLON_SERVER: url, ...env });
        return { code: await run(args, io, release), err: io.errLines.join() };
      };
      const set = ['set', '1h', 'http://127.0.0.1:1/'];
      expect(await ask(set)).toMatchObject({ code: 1, err: expect.stringContaining('(401)') });
      expect((await ask([...set, '--token', token])).code).toBe(0);
      expect((await ask([...set, '--token-file', secret])).code).toBe(0);
      expect((await ask(set, { CARILLON_TOKEN: token })).code).toBe(0);
      const elsewhere = await ask([...set, '--token', token, '--namespace', 'team-b']);
      expect(elsewhere).toMatchObject({ code: 1, err: expect.stringContaining('"team-a" only') });
      const missing = await ask([...set, '--token-file', join(folder, 'none')]);
      expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('cannot be read') });
      const client = new Carillon({ members: [url], token, refresh: null });
      const found: string[] = [];
      for await (const timer of client.list()) found.push(timer.id);
      expect(found).toHaveLength(3);
      await cli(['revoke', id, '--tokens', file]);
      await member.reload();
      expect((await ask([...set, '--token', token])).err).toContain('(401)');
    } finally {
      await member.stop();
    }
  });

  test('a member that others would reach without a token does not start: exit 2 and the ways out', async () => {
    const io = recordingIo();
    const args = ['serve', '--listen', '0.0.0.0:0', '--memory', '--data', folder];
    expect(await run(args, io, release)).toBe(2);
    expect(io.errLines.join()).toMatch(/carillon token create .*--insecure-no-auth/);
  });
});

describe('namespaces', () => {
  test('go along as a header; an export tells its own, an import goes where its lines came from', async () => {
    const timer = {
      id: '00000000000000010000000000000002-2',
      timing: { interval: 3600 },
      callback: { http: { uri: 'http://r/', opaque: '' } },
      reliability: { 'replication-factor': 2 },
      set: '2026-01-01T00:00:00.000Z',
      sequence: 0,
      'next-due': '2036-01-01T00:00:00.000Z',
    };
    const member = await fakeMember(({ method, path }) => {
      if (path === '/whoami') return { body: { auth: true, namespace: 'team-a' } };
      if (method === 'PUT') return { headers: { location: '/timers/1-2' } };
      if (path.startsWith('/timers?')) return { body: { timers: [timer], cursor: null } };
      return { status: 404, body: {} };
    });
    try {
      const io = recordingIo({ CARILLON_SERVER: member.url });
      const out = join(folder, 'all.ndjson');
      expect(await run(['export', out], io, release)).toBe(0);
      expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({ namespace: 'team-a' });
      const sent = async (...more: string[]) => {
        member.asked.length = 0;
        expect(await run(['import', out, ...more], io, release)).toBe(0);
        const put = member.asked.find(({ method }) => method === 'PUT');
        return put?.headers['carillon-namespace'];
      };
      expect(await sent()).toBe('team-a');
      expect(await sent('--namespace', 'team-b')).toBe('team-b');
      const env = recordingIo({ CARILLON_SERVER: member.url, CARILLON_NAMESPACE: 'team-c' });
      await run(['list'], env, release);
      expect(member.asked.at(-1)?.headers['carillon-namespace']).toBe('team-c');
    } finally {
      member.close();
    }
  });
});
