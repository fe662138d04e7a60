/**
 * The data folder of a member belongs to it alone: to this name, in this cluster, and to no other user of the machine.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliProcess, type Ended } from './cli-process.ts';

let parent: string;
let folder: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'carillon-folder-'));
  folder = join(parent, 'data');
});
afterEach(() => rmSync(parent, { recursive: true }));

function serve(name: string, cluster: string): CliProcess {
  const who = ['--name', name, '--cluster', cluster, '--log-level', 'warn'];
  return new CliProcess(['serve', '--json', ...who, '--listen', '127.0.0.1:0', '--data', folder]);
}

/** Starts a member, and ends it as soon as it serves. */
async function once(name: string, cluster: string): Promise<Ended> {
  const member = serve(name, cluster);
  await member.line((line) => 'url' in line);
  return member.kill('SIGTERM');
}

test('a folder of another cluster, or of another member, is refused in one sentence, and nothing in it is touched', async () => {
  expect(await once('a', 'production')).toEqual({ code: 0, signal: null });
  const before = readdirSync(folder).toSorted();
  for (const [name, cluster] of [
    ['a', 'staging'],
    ['b', 'production'],
  ] as const) {
    const stranger = serve(name, cluster);
    expect(await stranger.ended).toEqual({ code: 1, signal: null });
    expect(stranger.errors.join('\n')).toContain(
      `belongs to production/a, not to ${cluster}/${name}. Each member needs a folder of its own.`,
    );
    expect(readdirSync(folder).toSorted()).toEqual(before);
  }
  expect(await once('a', 'production')).toEqual({ code: 0, signal: null });
});

test('no other user of the machine can look into it', async () => {
  await once('a', 'production');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folder)) {
    expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
  }
});

/**
 * A folder that release 0.1 wrote before it was killed: a snapshot, and a journal with a letter and two timers behind
 * it.
 */
function copyFolderOf01(): void {
  const from = join(import.meta.dirname, 'folder-of-0.1');
  mkdirSync(folder, { mode: 0o700 });
  for (const name of readdirSync(from)) {
    const bytes = readFileSync(join(from, name));
    const isZipped = name.endsWith('.gz');
    const target = join(folder, isZipped ? name.slice(0, -3) : name);
    writeFileSync(target, isZipped ? gunzipSync(bytes) : bytes, { mode: 0o600 });
  }
}

const dueInDecades = ['every new year', 'one shot', 'replaced often', 'set after the snapshot'];
const cancelledId = '6879fd266b5200002900000801000001-2';

async function textsIn(url: string, list: 'timers' | 'dead-letters'): Promise<string[]> {
  const answer = (await (await fetch(`${url}/${list}`)).json()) as Record<
    string,
    { callback: { http: { opaque: string } } }[]
  >;
  return (answer[list] ?? []).map(({ callback }) => callback.http.opaque).toSorted();
}

test('a folder of release 0.1 is read as it is, and everything is there again after the next start', async () => {
  copyFolderOf01();
  for (const _ of ['first start', 'second start']) {
    const member = serve('127.0.0.1:7399', 'carillon');
    const { url } = (await member.line((line) => 'url' in line)) as { url: string };
    const timers = await textsIn(url, 'timers');
    const letters = await textsIn(url, 'dead-letters');
    expect(timers).toEqual(expect.arrayContaining(dueInDecades));
    expect(letters).toContain('given up');
    // Their callbacks fail, so the day on which the test runs decides in which list they are.
    // One that is given up between the two answers is in both.
    const all = new Set([...timers, ...letters]);
    expect([...all]).toEqual(expect.arrayContaining(['ten days', 'tried again']));
    expect(all.size).toBe(7);
    expect((await fetch(`${url}/timers/${cancelledId}`)).status).toBe(404);
    const { damage } = (await (await fetch(`${url}/cluster`)).json()) as { damage: unknown };
    expect(damage).toBeNull();
    expect(await member.kill('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
  }
});
