/** Builds `dist` of all packages that are published, and the dashboard that the server package carries. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildDashboard } from '../dashboard.ts';

const root = join(import.meta.dirname, '../..');

/** Does nothing where all is built, as after `npm run types`. */
export async function buildPackages(): Promise<void> {
  await buildDashboard();
  const tsc = join(root, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['-b', 'packages/cli'], { cwd: root, stdio: 'inherit' });
}
