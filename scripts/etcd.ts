/**
 * Finds the etcd that tests and benchmarks run on, or gets one: from PATH; else installed as a Debian package when
 * root; else the same packages unpacked into `.cache/`. Run alone it prints where etcd is. A machine that cannot have
 * one skips the tests in sight; with CI set that is a failure.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { installDebian, missing, run } from './debian.ts';

export interface EtcdPaths {
  readonly etcd: string;
  readonly etcdctl: string;
}

const cache = join(import.meta.dirname, '..', '.cache', 'etcd');
const packages = ['etcd-server', 'etcd-client'];

/** Where etcd is; null when there is none and none can be had. */
export function findEtcd(): EtcdPaths | null {
  return onPath() ?? unpacked() ?? installed() ?? downloaded();
}

/** As `findEtcd`; with CI set, a missing etcd is an error. */
export function etcdForTests(): EtcdPaths | null {
  const paths = findEtcd();
  if (paths === null) missing({ programs: ['etcd'], packages, tests: 'a real etcd' });
  return paths;
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
  return installDebian(packages) ? onPath() : null;
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

if (import.meta.main) console.log(etcdForTests()?.etcd ?? 'no etcd');
