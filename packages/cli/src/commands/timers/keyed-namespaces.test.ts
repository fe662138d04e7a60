/** Commands in other namespaces than default, at a real member whose tokens file has a number key. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hex16 } from '@carillon/core';
import { loadConfig, numberingOf, parseTokens, renderTokens, startMember } from '@carillon/server';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { release } from '../../index.ts';
import { run } from '../../run.ts';
import { recordingIo } from '../../testing/world.ts';

let folder = '';
let file = '';
let token = '';
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-keyed-'));
  file = join(folder, 'tokens.json');
  const io = recordingIo();
  await run(
    ['token', 'create', '--name', 'ops', '--scope', 'admin', '--tokens', file],
    io,
    release,
  );
  [token = ''] = io.outLines;
});
afterEach(() => rmSync(folder, { recursive: true }));

function start(): ReturnType<typeof startMember> {
  const flags = { listen: '127.0.0.1:0', 'log-level': 'silent', data: join(folder, 'data') };
  const loaded = loadConfig({ flags: { ...flags, 'auth-tokens': file, name: 'n0' } });
  if (!loaded.ok) throw new Error(loaded.problems.join(' '));
  const end = (): void => {};
  return startMember({ config: loaded.config, onFailed: end, onDrained: end });
}

/** Runs `use` with a member, and the command against it. */
async function withMember<T>(
  use: (cli: (...args: string[]) => Promise<string[]>) => Promise<T>,
): Promise<T> {
  const member = await start();
  try {
    return await use(async (...args) => {
      const io = recordingIo({ CARILLON_SERVER: member.url, CARILLON_TOKEN: token });
      expect([await run(args, io, release), io.errLines]).toEqual([0, expect.anything()]);
      return io.outLines;
    });
  } finally {
    await member.stop();
  }
}

const teamA = ['--namespace', 'team-a'];
const teamB = ['--namespace', 'team-b'];

test('set, get, list, export, import, cancel: ids of a namespace lead to its timers, also after a restart', async () => {
  const path = join(folder, 'all.ndjson');
  const id = await withMember(async (cli) => {
    const [line = ''] = await cli(
      'set',
      '1h',
      'http://127.0.0.1:9/',
      '--tag',
      'x',
      '--json',
      ...teamA,
    );
    const set = JSON.parse(line) as { id: string };
    await cli('export', path, ...teamA);
    expect(readFileSync(path, 'utf8')).toContain(set.id.slice(0, 16));
    expect(await cli('import', path, ...teamB)).toEqual([
      '1 set, 0 unchanged, 0 left out, 0 failed.',
    ]);
    return set.id;
  });
  await withMember(async (cli) => {
    for (const namespace of [teamA, teamB]) {
      const [shown = ''] = await cli('get', id, '--json', ...namespace);
      expect(JSON.parse(shown)).toMatchObject({ id: expect.stringMatching(`^${id.slice(0, 16)}`) });
      expect(await cli('list', '--json', ...namespace)).toHaveLength(1);
    }
    expect(await cli('import', path, ...teamA)).toEqual([
      '0 set, 1 unchanged, 0 left out, 0 failed.',
    ]);
    expect(await cli('cancel', '--tag', 'x', ...teamA)).toEqual(['1 cancelled.']);
    expect(await cli('list', '--json', ...teamA)).toEqual([]);
    await cli('cancel', id, ...teamB);
    expect(await cli('list', '--json', ...teamB)).toEqual([]);
  });
});

test('a chosen number of one namespace is free in another, also for a tenant that computes where it would lead without the key', async () => {
  const member = await start();
  const number = { hi: 0, lo: 1 };
  const { hi, lo } = numberingOf(null).inside('team-a', number);
  const aimed = numberingOf(null).outside('team-b', { hi, lo });
  const timing = { interval: 3600 };
  const put = async (namespace: string, id: { hi: number; lo: number }): Promise<number> => {
    const { status } = await fetch(`${member.url}/timers/${hex16(id.hi, id.lo)}-1`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'carillon-namespace': namespace },
      body: JSON.stringify({ timing, callback: { http: { uri: 'http://127.0.0.1:9/' } } }),
    });
    return status;
  };
  try {
    expect(await put('team-a', number)).toBe(200);
    expect(await put('team-b', aimed)).toBe(200);
    expect(await put('default', { hi, lo })).toBe(200);
  } finally {
    await member.stop();
  }
});

test('a member whose tokens file has another key, or none, does not start on the data of the first', async () => {
  await withMember((cli) => cli('set', '1h', 'http://127.0.0.1:9/', ...teamA));
  const kept = readFileSync(file, 'utf8');
  for (const numberKey of ['ab'.repeat(32), null]) {
    writeFileSync(file, renderTokens({ ...parseTokens(kept), numberKey }));
    await expect(start()).rejects.toThrow(/"number-key".* Bring back the tokens file/);
  }
  writeFileSync(file, kept);
  expect(await withMember((cli) => cli('list', '--json', ...teamA))).toHaveLength(1);
});

test('data that was written without a key stays without, so that members can be restarted one by one; a removed note begins to use the key', async () => {
  const kept = readFileSync(file, 'utf8');
  writeFileSync(file, renderTokens({ ...parseTokens(kept), numberKey: null }));
  const id = await withMember(async (cli) => {
    const [line = ''] = await cli('set', '1h', 'http://127.0.0.1:9/', '--json', ...teamA);
    return (JSON.parse(line) as { id: string }).id;
  });
  writeFileSync(file, kept);
  const ids = (cli: (...args: string[]) => Promise<string[]>): Promise<unknown[]> =>
    cli('list', '--json', ...teamA).then((lines) =>
      lines.map((line) => (JSON.parse(line) as { id: string }).id),
    );
  expect(await withMember(ids)).toEqual([id]);
  renameSync(join(folder, 'data', 'numbers-00000000'), join(folder, 'note'));
  const [other] = await withMember(ids);
  expect(other).toMatch(/^[0-9a-f]{32}-\d$/);
  expect(other).not.toBe(id);
});
