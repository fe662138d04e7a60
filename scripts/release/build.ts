/**
 * Builds `dist` of all packages that are published, with the dashboard that the server package carries, and the command
 * in the form in which it is installed.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildDashboard } from '../dashboard.ts';
import { bundleCommand } from './bundled-command.ts';

const root = join(import.meta.dirname, '../..');

/** Where all is built, as after `npm run types`, only the command is built anew. */
export async function buildPackages(): Promise<void> {
  await buildDashboard();
  const tsc = join(root, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['-b', 'packages/cli'], { cwd: root, stdio: 'inherit' });
  bundleCommand(join(root, 'packages/cli/dist/command'), 'installed');
}

if (import.meta.main) await buildPackages();
