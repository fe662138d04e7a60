/** The origin of the figures: the machine, and the versions of everything that took part. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import type { Machine } from './page/section.ts';
import { program, versionOf } from './systems/install.ts';
import type { System } from './systems/system.ts';

/** npm packages and Debian programs behind each peer. */
const behind: Readonly<Record<string, { readonly package: string; readonly program: string }>> = {
  bullmq: { package: 'bullmq', program: 'redis-server' },
  'bullmq-noaof': { package: 'bullmq', program: 'redis-server' },
  'pg-boss': { package: 'pg-boss', program: 'postgres' },
  graphile: { package: 'graphile-worker', program: 'postgres' },
};

export async function machineOf(systems: readonly System[]): Promise<Machine> {
  const versions: Record<string, string> = { node: process.versions.node };
  for (const { name } of systems) {
    const used = behind[name];
    if (used === undefined) continue;
    versions[used.package] = packageVersion(used.package);
    const found = await program(used.program, used.program);
    if ('path' in found) versions[used.program] = await versionOf(found.path);
  }
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown processor',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    os: `${type()} ${release().split('-', 1)[0]}`,
    versions,
  };
}

/** Read from the file: not every package lets its package.json be imported. */
function packageVersion(name: string): string {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  for (const folder of folders) {
    try {
      const text = readFileSync(join(folder, name, 'package.json'), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      // Not in this folder: the next one up may have it.
    }
  }
  return '?';
}
