/**
 * The published form: what `npm pack` would upload, unpacked as an install would, run by a plain Node without
 * `--conditions=source`. Sources that run here may still be broken there: a file left out, a `.ts` in an import.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildDashboard } from './dashboard.ts';

const root = join(import.meta.dirname, '..');
const folders = ['core', 'placement', 'ring', 'server', 'client', 'cli'];
const manifests = folders.map((folder) => {
  const text = readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8');
  return JSON.parse(text) as {
    name: string;
    version: string;
    exports: Record<string, unknown>;
    dependencies: Record<string, string>;
  };
});
const home = mkdtempSync(join(tmpdir(), 'carillon-published-'));

beforeAll(async () => {
  await buildDashboard();
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-b', 'packages/cli'], {
    cwd: root,
    stdio: 'inherit',
  });
  const chosen = folders.flatMap((folder) => ['-w', `packages/${folder}`]);
  execFileSync('npm', ['pack', '--silent', '--pack-destination', home, ...chosen], { cwd: root });
  for (const { name, version } of manifests) {
    const target = join(home, 'node_modules', name);
    const archive = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
    mkdirSync(target, { recursive: true });
    execFileSync('tar', ['-xzf', join(home, archive), '-C', target, '--strip-components=1']);
  }
  linkDependencies();
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Third-party packages are the ones installed here; only ours are unpacked. */
function linkDependencies(): void {
  const ours = new Set(manifests.map(({ name }) => name));
  for (const name of manifests.flatMap(({ dependencies }) => Object.keys(dependencies))) {
    const target = join(home, 'node_modules', name);
    if (ours.has(name) || existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), target);
  }
}

function run(...given: string[]): string {
  return execFileSync(process.execPath, given, { cwd: home, encoding: 'utf8', env: { PATH: '' } });
}

const entries = manifests.flatMap(({ name, exports }) =>
  Object.keys(exports).map((subpath) => name + subpath.slice(1)),
);

test.each(entries)('%s can be imported', (entry) => {
  const script = `const it = await import(${JSON.stringify(entry)}); console.log(typeof it);`;
  expect(run('--input-type=module', '--eval', script)).toBe('object\n');
});

const carillon = join(home, 'node_modules/carillon/bin/carillon.js');

test('carillon --help lists the commands', () => {
  expect(run(carillon, '--help')).toMatch(/serve .*Run a member/);
});

test('in a clone, npx finds the command after npm ci, and it runs the sources', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8')) as {
    bin: { carillon: string };
    version: string;
  };
  const launcher = join(root, 'packages/cli', manifest.bin.carillon);
  // npm links a command at install time, if its file is there then: it must be committed.
  expect(execFileSync('git', ['ls-files', launcher], { cwd: root, encoding: 'utf8' })).not.toBe('');
  expect(run(launcher, '--version')).toBe(`${manifest.version}\n`);
});

test('carillon serve answers, and ends with 0 on SIGTERM', async () => {
  const given = [
    carillon,
    'serve',
    '--memory',
    '--listen',
    '127.0.0.1:0',
    '--log-level',
    'silent',
    '--json',
  ];
  const member = spawn(process.execPath, given, {
    cwd: home,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(member, 'exit');
  try {
    const [line] = (await once(createInterface(member.stdout), 'line')) as [string];
    const { url } = JSON.parse(line) as { url: string };
    expect(await (await fetch(`${url}/ping`)).text()).toBe('OK');
    expect(await (await fetch(`${url}/`)).text()).toMatch(/<script .*src="\.\/dashboard\/.+\.js"/);
    member.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    member.kill('SIGKILL');
  }
});

test('the server package carries the dashboard', () => {
  const folder = join(home, 'node_modules/@carillon/server/dist/dashboard');
  expect(readdirSync(folder)).toContain('index.html');
  const kinds = readdirSync(join(folder, 'dashboard')).map((name) => name.split('.').at(-1));
  expect(new Set(kinds)).toEqual(new Set(['css', 'js', 'svg']));
});

test('no package carries its tests', () => {
  const files = readdirSync(join(home, 'node_modules'), { recursive: true, encoding: 'utf8' });
  const ours = files.filter((file) => /^(@carillon\/|carillon\/)/.test(file));
  expect(ours.length).toBeGreaterThan(folders.length);
  expect(ours.filter((file) => /\.(test|contract)\./.test(file))).toEqual([]);
});
