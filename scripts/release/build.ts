/**
 * Builds `dist` of all packages that are published, with the dashboard that the server package carries, and the command
 * in the form in which it is installed.
 */
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { buildDashboard, newest } from '../dashboard.ts';
import { bundleCommand } from './bundled-command.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Does nothing where all is built and newer than its sources: several test files call this at once, and one must not
 * take away the command that another is about to pack.
 */
export async function buildPackages(): Promise<void> {
  await buildDashboard();
  const tsc = join(root, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['-b', 'packages/cli'], { cwd: root, stdio: 'inherit' });
  const folder = join(root, 'packages/cli/dist/command');
  const origins = [
    join(root, 'package-lock.json'),
    join(import.meta.dirname, 'bundled-command.ts'),
    ...globSync(join(root, 'packages/*/src')),
  ];
  if (newest(join(folder, 'main.js')) >= Math.max(...origins.map(newest))) return;
  bundleCommand(folder, 'installed');
}

if (import.meta.main) await buildPackages();
