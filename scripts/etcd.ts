/**
 * Finds the etcd that tests and benchmarks run on, or gets one: from PATH; else installed as a Debian package when
 * root; else the same packages unpacked into `.cache/`. Run alone it prints where etcd is. A machine that cannot have
 * one skips those tests in sight; with CI set that is a failure.
 */
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface EtcdPaths {
  readonly etcd: string;
  readonly etcdctl: string;
}

const cache = join(import.meta.dirname, '..', '.cache', 'etcd');
const packages = ['etcd-server', 'etcd-client'];
const minutes = 60_000;

/** Where etcd is; null when there is none and none can be had. */
export function findEtcd(): EtcdPaths | null {
  return onPath() ?? unpacked() ?? installed() ?? downloaded();
}

/** As `findEtcd`; with CI set, a missing etcd is an error: nobody would notice the skip there. */
export function etcdForTests(): EtcdPaths | null {
  const paths = findEtcd();
  if (paths !== null) return paths;
  const message =
    'etcd is missing: install it (Debian, Ubuntu: apt-get install etcd-server etcd-client) and run again.';
  if ((process.env['CI'] ?? '') !== '') throw new Error(message);
  console.warn(`${message} Until then the tests on a real etcd are skipped.`);
  return null;
}

function onPath(): EtcdPaths | null {
  const paths = { etcd: 'etcd', etcdctl: 'etcdctl' };
  return works(paths) ? paths : null;
}

function unpacked(): EtcdPaths | null {
  const paths = { etcd: join(cache, 'usr/bin/etcd'), etcdctl: join(cache, 'usr/bin/etcdctl') };
  return existsSync(paths.etcd) && works(paths) ? paths : null;
}

function installed(): EtcdPaths | null {
  if (process.getuid?.() !== 0 || !run('apt-get', ['--version'])) return null;
  run('apt-get', ['--quiet', 'update']);
  run('apt-get', ['--quiet', 'install', '--yes', '--no-install-recommends', ...packages]);
  return onPath();
}

function downloaded(): EtcdPaths | null {
  mkdirSync(cache, { recursive: true });
  if (!run('apt-get', ['--quiet', 'download', ...packages], cache)) return null;
  for (const name of readdirSync(cache)) {
    if (name.endsWith('.deb')) run('dpkg', ['-x', name, '.'], cache);
  }
  return unpacked();
}

function works(paths: EtcdPaths): boolean {
  return run(paths.etcd, ['--version']) && run(paths.etcdctl, ['version']);
}

function run(command: string, given: readonly string[], cwd?: string): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', ETCDCTL_API: '3' };
  const options: ExecFileSyncOptions = { stdio: 'ignore', timeout: 5 * minutes, env };
  if (cwd !== undefined) options.cwd = cwd;
  try {
    execFileSync(command, given, options);
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) console.log(etcdForTests()?.etcd ?? 'no etcd');
