/**
 * Finds the Chromium that the dashboard is tested in, or gets one: from PATH; else the Debian package when root. Run
 * alone it prints where it is. A machine that cannot have one skips those tests in sight; with CI set that is a failure.
 */
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const minutes = 60_000;

/** For a browser that tests own: no window, no profile of anybody, no traffic of its own. */
export const chromiumFlags: readonly string[] = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Its path; null when there is none and none can be had. */
export function findChromium(): string | null {
  return onPath() ?? installed();
}

/** As `findChromium`; with CI set, a missing Chromium is an error: nobody would notice the skip there. */
export function chromiumForTests(): string | null {
  const path = findChromium();
  if (path !== null) return path;
  const message =
    'Chromium is missing: install it (Debian: apt-get install chromium) and run again.';
  if ((process.env['CI'] ?? '') !== '') throw new Error(message);
  console.warn(`${message} Until then the tests of the dashboard in a browser are skipped.`);
  return null;
}

function onPath(): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of names) if (isExecutable(join(folder, name))) return join(folder, name);
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installed(): string | null {
  if (process.getuid?.() !== 0 || !run('apt-get', ['--version'])) return null;
  run('apt-get', ['--quiet', 'update']);
  run('apt-get', ['--quiet', 'install', '--yes', '--no-install-recommends', 'chromium']);
  return onPath();
}

function run(command: string, given: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options: ExecFileSyncOptions = { stdio: 'ignore', timeout: 10 * minutes, env };
  try {
    execFileSync(command, given, options);
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) console.log(chromiumForTests() ?? 'no chromium');
