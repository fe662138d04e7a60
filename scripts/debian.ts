/**
 * Programs that the tests call and that a Debian package brings. Root gets the package installed; anybody else gets a
 * sentence, and the tests that need the program are skipped in sight. With CI set a missing program is a failure: a
 * skip would go unnoticed there.
 */
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface Tool {
  /** The names under which it may be on PATH, the first one preferred. */
  readonly programs: readonly string[];
  readonly packages: readonly string[];
  /** As in "the tests of … are skipped". */
  readonly tests: string;
}

export const tools = {
  iptables: { programs: ['iptables'], packages: ['iptables'], tests: 'partitions' },
  ip: { programs: ['ip'], packages: ['iproute2'], tests: 'net-splits' },
  openssl: { programs: ['openssl'], packages: ['openssl'], tests: 'TLS' },
  nginx: { programs: ['nginx'], packages: ['nginx'], tests: 'nginx in front' },
  haproxy: { programs: ['haproxy'], packages: ['haproxy'], tests: 'haproxy in front' },
  promtool: { programs: ['promtool'], packages: ['prometheus'], tests: 'alert rules' },
  systemdAnalyze: {
    programs: ['systemd-analyze'],
    packages: ['systemd'],
    tests: 'the unit for systemd',
  },
} as const satisfies Readonly<Record<string, Tool>>;

const installMsMax = 10 * 60_000;

/** Where the program is; null when it is missing and cannot be installed. */
export function findTool(tool: Tool): string | null {
  return onPath(tool.programs) ?? (installDebian(tool.packages) ? onPath(tool.programs) : null);
}

/** As `findTool`, but with CI set a missing program is an error. */
export function toolForTests(tool: Tool): string | null {
  const path = findTool(tool);
  if (path !== null) return path;
  missing(tool);
  return null;
}

/** Says that a program is missing; with CI set by an error. */
export function missing({ programs, packages, tests }: Tool): void {
  const message = `${programs[0]} is missing: install it (Debian: apt-get install ${packages.join(' ')}) and run again.`;
  if ((process.env['CI'] ?? '') !== '') throw new Error(message);
  console.warn(`${message} Until then the tests of ${tests} are skipped.`);
}

/** False: not root, no apt-get, or the installation failed. */
export function installDebian(packages: readonly string[]): boolean {
  if (process.getuid?.() !== 0 || !run('apt-get', ['--version'])) return false;
  const install = ['--quiet', 'install', '--yes', '--no-install-recommends', ...packages];
  // The lists of a machine that was just made are empty or old.
  return (
    run('apt-get', install) || (run('apt-get', ['--quiet', 'update']) && run('apt-get', install))
  );
}

/** Whether the command ended with 0. */
export function run(command: string, given: readonly string[], cwd?: string): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', ETCDCTL_API: '3' };
  const options: ExecFileSyncOptions = { stdio: 'ignore', timeout: installMsMax, env };
  if (cwd !== undefined) options.cwd = cwd;
  try {
    execFileSync(command, given, options);
    return true;
  } catch {
    return false;
  }
}

/** Debian keeps programs for root in `sbin`, which is not on the PATH of other users. */
function onPath(names: readonly string[]): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  for (const name of names) {
    for (const folder of folders) if (isExecutable(join(folder, name))) return join(folder, name);
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
