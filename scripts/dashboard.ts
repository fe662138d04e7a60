/**
 * Builds the dashboard where members look for it, unless the built files are newer than all their sources. `npm ci`
 * and `npm start` run this, so a fresh clone has a dashboard without a further command; --force builds always.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const home = join(root, 'packages/dashboard');
const built = join(root, 'packages/server/dist/dashboard/index.html');
const origins = [
  join(home, 'src'),
  join(home, 'index.html'),
  join(home, 'docs.html'),
  join(home, 'vite.config.ts'),
  join(root, 'packages/core/src'),
  join(root, 'packages/placement/src'),
  join(root, 'package-lock.json'),
];

/** Whether anything had to be done. */
export async function buildDashboard(force = false): Promise<boolean> {
  if (!force && newest(built) >= Math.max(...origins.map(newest))) return false;
  const before = process.env['NODE_ENV'];
  // Tests run with another one, and vite would build for development.
  process.env['NODE_ENV'] = 'production';
  try {
    const { build } = await import('vite');
    await build({ configFile: join(home, 'vite.config.ts'), logLevel: 'warn' });
  } finally {
    if (before === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = before;
  }
  return true;
}

/** The time of the last change at or below a path; 0 where there is nothing. */
export function newest(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** An install without development dependencies is none to build in; its members serve without a dashboard. */
function canBuild(): boolean {
  return existsSync(join(root, 'node_modules/vite'));
}

if (import.meta.main) {
  const force = process.argv.includes('--force');
  if (!force && !canBuild()) console.log('vite is not installed: the dashboard is left as it is.');
  else if (await buildDashboard(force)) console.log('The dashboard is built.');
}
