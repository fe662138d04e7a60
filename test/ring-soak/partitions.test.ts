/** Partitions by a firewall in a network namespace of their own; needs root, `unshare` and `iptables`. */
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { etcdForTests } from '../../scripts/etcd.ts';
import type { PartitionReport } from './partitions.ts';

const script = join(import.meta.dirname, 'partitions.ts');

function possible(): boolean {
  if (etcdForTests() === null) return false;
  try {
    execFileSync('unshare', ['-n', 'iptables', '-w', '-L', 'OUTPUT'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('No network namespace or no iptables here: the partition tests are skipped.');
    return false;
  }
}

describe.skipIf(!possible())('ring: partitions', () => {
  let report: PartitionReport;

  beforeAll(async () => {
    const words = ['-n', process.execPath, '--conditions=source', '--no-warnings', script];
    const { stdout } = await promisify(execFile)('unshare', words, { timeout: 100_000 });
    report = JSON.parse(stdout) as PartitionReport;
  }, 110_000);

  test('the leader, cut off from its peers, cannot keep a lock alive: lost here before it is granted there', () => {
    const { lostAtMs, grantedAtMs } = report.isolatedLeader;
    expect(lostAtMs).toBeGreaterThan(0);
    expect(grantedAtMs).toBeGreaterThan(lostAtMs);
  });

  test('an etcd that is cut off from its peers: the client moves on, no lock is lost (T = 5 s)', () => {
    expect(report.isolatedEtcd.lost).toBe(false);
    expect(report.isolatedEtcd.leftMs).toBeGreaterThan(0);
  });

  test('a client that is cut off loses its lock before anybody else gets it', () => {
    const { lostAtMs, grantedAtMs } = report.isolatedClient;
    expect(lostAtMs).toBeGreaterThan(0);
    expect(grantedAtMs).toBeGreaterThan(lostAtMs);
  });

  test('afterwards every slot is owned again', () => {
    expect(report.healed).toBe(true);
  });
});
