/**
 * The published form: the archives of `npm run pack`, unpacked as an install would, run by a plain Node without
 * `--conditions=source`. Sources that run here may still be broken there: a file left out, a `.ts` in an import.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { build, type Rolldown } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPackages } from './release/build.ts';
import { packPackages } from './release/pack.ts';
import { type PackageManifest, publishedExports } from './release/published-form.ts';
import { publishedFolders } from './release/stage.ts';

const root = join(import.meta.dirname, '..');
const manifests = publishedFolders.map((folder) => {
  const text = readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8');
  return JSON.parse(text) as PackageManifest;
});
const names = manifests.map(({ name }) => name);
const home = mkdtempSync(join(tmpdir(), 'carillon-published-'));
const archives = new Map<string, string>();

beforeAll(async () => {
  await buildPackages();
  for (const { name, archive } of packPackages(home, 'publish')) {
    archives.set(name, archive);
    const target = installed(name);
    mkdirSync(target, { recursive: true });
    execFileSync('tar', ['-xzf', archive, '-C', target, '--strip-components=1']);
  }
  linkDependencies();
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

function installed(name: string): string {
  return join(home, 'node_modules', name);
}

/** Third-party packages are the ones installed here; only ours are unpacked. */
function linkDependencies(): void {
  for (const name of manifests.flatMap(({ dependencies }) => Object.keys(dependencies))) {
    if (names.includes(name) || existsSync(installed(name))) continue;
    mkdirSync(dirname(installed(name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), installed(name));
  }
}

function run(...given: string[]): string {
  return execFileSync(process.execPath, given, { cwd: home, encoding: 'utf8', env: { PATH: '' } });
}

const entries = manifests.flatMap(({ name, exports }) =>
  Object.keys(publishedExports(exports)).map((subpath) => name + subpath.slice(1)),
);

test.each(entries)('%s can be imported', (entry) => {
  const script = `const it = await import(${JSON.stringify(entry)}); console.log(typeof it);`;
  expect(run('--input-type=module', '--eval', script)).toBe('object\n');
});

test('the client that Node loads keeps connections of its own; other runtimes load the one with fetch', () => {
  const resolve = (...conditions: string[]) =>
    run(
      ...conditions.map((condition) => `--conditions=${condition}`),
      '--input-type=module',
      '--eval',
      "console.log(import.meta.resolve('@carillon/client'))",
    );
  expect(resolve()).toMatch(/\/dist\/node\/index\.js\n$/);
  expect(resolve('workerd')).toMatch(/\/client\/dist\/index\.js\n$/);
});

test('npm run pack writes archives that npm refuses to publish while the repository has no address', () => {
  const pack = join(root, 'scripts/release/pack.ts');
  const folder = join(home, 'tried');
  const packed = spawnSync(process.execPath, [pack, folder], { encoding: 'utf8' });
  const files = packed.stdout.trimEnd().split('\n');
  expect([packed.status, files.length]).toEqual([0, names.length]);
  expect(packed.stderr).toMatch(/^These archives are for trying out, and npm refuses.+finds\.\n$/m);
  // npm refuses before it asks the registry, which is none here.
  const registry = ['--registry', 'http://127.0.0.1:9/', '--//127.0.0.1:9/:_authToken=none'];
  const given = ['publish', ...registry, '--fetch-retries', '0', files[0] ?? ''];
  const published = spawnSync('npm', given, { cwd: home, encoding: 'utf8' });
  expect([published.status, published.stderr]).toEqual([1, expect.stringContaining('EPRIVATE')]);
});

test('npm run pack without a folder says how to name one, in a sentence', () => {
  const pack = join(root, 'scripts/release/pack.ts');
  const packed = spawnSync(process.execPath, [pack], { encoding: 'utf8' });
  expect([packed.status, packed.stdout, packed.stderr]).toEqual([
    2,
    '',
    'Name the folder to write to, as in npm run pack -- FOLDER.\n',
  ]);
});

const carillon = join(home, 'node_modules/carillon/bin/carillon.js');

test('carillon --help lists the commands', () => {
  expect(run(carillon, '--help')).toMatch(/serve .*Run a member/);
});

test('the command is started from a few files, with the licences of the packages in them', () => {
  const files = filesOf('carillon').filter((file) => file.startsWith('dist/command/'));
  expect(files).toContain('dist/command/main.js');
  // Without the modules that only the command is made of.
  expect(filesOf('carillon')).not.toContain('dist/main.js');
  const licences = textOf('carillon', 'dist/command/LICENSES.md');
  const inside = manifests.flatMap(({ dependencies }) => Object.keys(dependencies));
  for (const name of inside.filter((one) => !names.includes(one))) {
    expect(licences).toMatch(new RegExp(`^## ${name} - [\\d.]+ \\(`, 'm'));
  }
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

test('a copy of a built clone without the pinned Node runs the built files', () => {
  const copy = join(home, 'copy/packages/cli');
  for (const folder of ['bin', 'src', 'dist']) mkdirSync(join(copy, folder), { recursive: true });
  const launcher = join(copy, 'bin/carillon.js');
  copyFileSync(join(root, 'packages/cli/bin/carillon.js'), launcher);
  writeFileSync(join(copy, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(copy, 'src/main.ts'), '');
  expect(() => run(launcher)).toThrow('run "npm ci" first');
  writeFileSync(join(copy, 'dist/main.js'), "console.log('built');");
  expect(run(launcher)).toBe('built\n');
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

// A CommonJS project is told so by TypeScript: the packages are ESM only, and said to be.
test('the types of all packages resolve for ESM and for bundlers', () => {
  expect(run(join(import.meta.dirname, 'release/check-types.ts'), ...archives.values())).toBe('');
});

/** Files of a package as they are installed, from its folder. */
function filesOf(name: string): string[] {
  const found = readdirSync(installed(name), {
    recursive: true,
    encoding: 'utf8',
    withFileTypes: true,
  });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed(name).length + 1));
}

function textOf(name: string, file: string): string {
  return readFileSync(join(installed(name), file), 'utf8');
}

describe.each(names)('%s', (name) => {
  test('names its purpose and its origin', () => {
    const manifest = JSON.parse(textOf(name, 'package.json')) as Record<string, unknown>;
    expect(manifest).toMatchObject({
      license: 'Apache-2.0',
      homepage: expect.stringMatching(/^https:/) as unknown,
      repository: { directory: expect.stringMatching(/^packages\//) as unknown },
      keywords: expect.arrayContaining([expect.any(String)]) as unknown,
    });
    expect(textOf(name, 'LICENSE')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'));
    expect(textOf(name, 'README.md')).toMatch(/\bESM only\b/);
  });

  test('has entries with types first, a default last, and none that leads into the sources', () => {
    const { exports } = JSON.parse(textOf(name, 'package.json')) as PackageManifest;
    const files = filesOf(name).map((file) => `./${file}`);
    for (const entry of Object.values(exports)) {
      const conditions = Object.keys(entry);
      expect([conditions[0], conditions.at(-1)]).toEqual(['types', 'default']);
      expect(conditions).not.toContain('source');
      expect(files).toEqual(expect.arrayContaining(Object.values(entry)));
    }
  });

  test('carries no tests, no sources, no maps, and doubles at /testing alone', () => {
    const { exports } = manifests.find((one) => one.name === name) as PackageManifest;
    const files = filesOf(name);
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => /\.(test|contract)\.|\.map$|^src\//.test(file))).toEqual([]);
    expect(files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([]);
    const doubles = files.filter((file) => /(^|\/)testing\//.test(file));
    if (!('./testing' in exports)) expect(doubles).toEqual([]);
    const built = files.filter((file) => /\.(js|d\.ts)$/.test(file) && !file.includes('dashboard'));
    expect(built.filter((file) => textOf(name, file).includes('sourceMappingURL'))).toEqual([]);
  });

  test('has a README whose links lead out of the repository', () => {
    const links = [...textOf(name, 'README.md').matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to);
    expect(links.filter((to) => !/^(https:|#)/.test(to as string))).toEqual([]);
  });

  test('passes publint', async () => {
    const { messages } = await publint({ pkgDir: installed(name), strict: true, pack: false });
    expect(messages).toEqual([]);
  });

  test('cannot be published from the clone, in its other form', () => {
    expect(manifests.find((one) => one.name === name)?.private).toBe(true);
  });
});

/** Bytes of everything that `import * as it from NAME` brings into a browser, minified and zipped. */
async function bundled(name: string): Promise<number> {
  const entry = join(home, `${name.replace('/', '-')}.mjs`);
  writeFileSync(entry, `export * from ${JSON.stringify(name)};\n`);
  const result = await build({
    configFile: false,
    root: home,
    logLevel: 'warn',
    build: { write: false, minify: true, lib: { entry, formats: ['es'] } },
  });
  const [output] = result as Rolldown.RolldownOutput[];
  return gzipSync((output as Rolldown.RolldownOutput).output[0].code).length;
}

/** Raise a limit on purpose, with a reason in the commit. */
test.each([
  { name: '@carillon/client', bytesMax: 18_000 },
  { name: '@carillon/placement', bytesMax: 28_000 },
])('$name takes at most $bytesMax bytes of a page', async ({ name, bytesMax }) => {
  expect(await bundled(name)).toBeLessThanOrEqual(bytesMax);
});
