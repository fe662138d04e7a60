/** Programs that the peers run on: found on this machine, or installed with apt-get when that is allowed. */
import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Where Debian puts programs that are usually not on the PATH. */
const folders = [
  ...(process.env['PATH'] ?? '').split(':'),
  ...globSync('/usr/lib/postgresql/*/bin').toSorted(byVersion),
];

export type Found = { readonly path: string } | { readonly missing: string };

/** Installs the Debian package that has the program, once, if it is not here. */
export async function program(name: string, debianPackage: string): Promise<Found> {
  const path = find(name);
  if (path !== null) return { path };
  if (process.getuid?.() !== 0 || find('apt-get') === null) {
    return { missing: `${name} is not here; install it with: apt-get install ${debianPackage}` };
  }
  console.error(`Installing ${debianPackage} …`);
  try {
    await install(debianPackage);
  } catch (error) {
    return { missing: `${debianPackage} cannot be installed: ${firstLine(error)}` };
  }
  const installed = find(name) ?? found(globSync(`/usr/lib/postgresql/*/bin/${name}`));
  return installed === null
    ? { missing: `${debianPackage} is installed, but there is no ${name}` }
    : { path: installed };
}

/** A fresh machine may not have read the lists of packages yet. */
async function install(debianPackage: string): Promise<void> {
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  const args = ['install', '-y', '--no-install-recommends', debianPackage];
  try {
    await run('apt-get', args, options);
  } catch {
    await run('apt-get', ['update'], options);
    await run('apt-get', args, options);
  }
}

export async function versionOf(path: string): Promise<string> {
  const { stdout } = await run(path, ['--version']);
  return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? '?';
}

function find(name: string): string | null {
  return found(folders.map((folder) => join(folder, name)));
}

function found(paths: readonly string[]): string | null {
  return paths.find((path) => existsSync(path)) ?? null;
}

function byVersion(a: string, b: string): number {
  return b.localeCompare(a, 'en', { numeric: true });
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
