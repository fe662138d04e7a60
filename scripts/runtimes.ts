/**
 * The JavaScript runtimes that the packages promise to run on, beside the Node that runs the tests: from npm, each in
 * its own folder below `.cache/`, at one exact version. A machine that cannot have one skips its tests in sight; with
 * CI set that is a failure.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './debian.ts';

export interface Runtime {
  /** As in the names of tests. */
  readonly name: string;
  readonly kind: 'node' | 'bun' | 'deno';
  readonly version: string;
}

export const runtimes: readonly Runtime[] = [
  { name: 'Node 22', kind: 'node', version: '22.23.3' },
  { name: 'Node 26', kind: 'node', version: '26.10.0' },
  { name: 'Bun', kind: 'bun', version: '1.4.4' },
  { name: 'Deno', kind: 'deno', version: '2.9.6' },
];

/** The least release in `engines`. It does not take TypeScript, as the examples are, so that it runs members alone. */
export const leastRuntime: Runtime = { name: 'Node 22.2', kind: 'node', version: '22.2.0' };

const cache = join(import.meta.dirname, '..', '.cache', 'runtimes');

/** The program of a runtime; null when it is missing and cannot be installed. */
export function runtimeForTests({ name, kind, version }: Runtime): string | null {
  const folder = join(cache, `${kind}-${version}`);
  const program = join(folder, 'node_modules/.bin', kind);
  if (run(program, ['--version'])) return program;
  const problem = install(folder, `${kind}@${version}`);
  if (problem === null && run(program, ['--version'])) return program;
  const message = `${name} is missing, npm install ${kind}@${version} says: ${problem ?? 'done, but it does not start'}`;
  if ((process.env['CI'] ?? '') !== '') throw new Error(message);
  console.warn(`${message} Until then its tests are skipped.`);
  return null;
}

/** The complaint of npm, or null. */
function install(folder: string, what: string): string | null {
  mkdirSync(folder, { recursive: true });
  // The packages fetch the program for this machine when they are installed.
  const manifest = { private: true, allowScripts: { node: true, bun: true, deno: true } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  try {
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', what], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
      timeout: 10 * 60_000,
    });
    return null;
  } catch (error) {
    return (error as { stderr?: string }).stderr ?? String(error);
  }
}

// `setup.ts` names one.
if (import.meta.main) {
  const named = [leastRuntime, ...runtimes].find(({ name }) => name === process.argv[2]);
  if (named !== undefined) runtimeForTests(named);
}
