/** The data folder of a member belongs to it alone: to this name, in this cluster, and to no other user of the machine. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
