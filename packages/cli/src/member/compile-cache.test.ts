import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compileCacheFolder } from './compile-cache.ts';

test.each([
  [{ HOME: '/home/ann' }, '/home/ann/.cache/carillon'],
  [{ HOME: '/home/ann', XDG_CACHE_HOME: '/caches' }, '/caches/carillon'],
  [
    { HOME: '/home/ann', CACHE_DIRECTORY: '/var/cache/carillon:/var/cache/b' },
    '/var/cache/carillon',
  ],
  [{ HOME: '/home/ann', XDG_CACHE_HOME: 'caches' }, '/home/ann/.cache/carillon'],
  [{ HOME: '/' }, null],
  [{}, null],
  [{ HOME: '/home/ann', NODE_COMPILE_CACHE: '/elsewhere' }, null],
  [{ HOME: '/home/ann', NODE_DISABLE_COMPILE_CACHE: '1' }, null],
])('%j: compiled modules are kept in %s', (env, folder) => {
  expect(compileCacheFolder(env)).toBe(folder);
});

function helpWithin(home: string): string {
  const main = join(import.meta.dirname, '../main.ts');
  const { PATH } = process.env;
  const args = ['--conditions=source', '--no-warnings', main, 'get', '--help'];
  return spawnSync(process.execPath, args, { env: { PATH, HOME: home }, encoding: 'utf8' }).stdout;
}

function homeFolder(): string {
  const home = mkdtempSync(join(tmpdir(), 'carillon-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return home;
}

test('a command leaves its compiled modules in the folder, which no other user can read', () => {
  const home = homeFolder();
  expect(helpWithin(home)).toContain('carillon get');
  expect(readdirSync(join(home, '.cache/carillon')).length).toBeGreaterThan(0);
});

test('a folder that others can write to is left alone', () => {
  const home = homeFolder();
  const folder = join(home, '.cache/carillon');
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o777);
  expect(helpWithin(home)).toContain('carillon get');
  expect(readdirSync(folder)).toEqual([]);
});

test('a home that cannot be written to is no failure', () => {
  const home = join(homeFolder(), 'file/missing');
  expect(helpWithin(join('/dev/null', home))).toContain('carillon get');
  expect(existsSync(home)).toBe(false);
});
