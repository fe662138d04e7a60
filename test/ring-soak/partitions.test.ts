/** Partitions by a firewall in a network namespace of their own; needs root, `unshare` and `iptables`. */
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { etcdForTests } from '../../scripts/etcd.ts';
import type { KeptReport, LostReport } from './partitions.ts';

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

async function reportOf(kind: 'lost' | 'kept'): Promise<unknown> {
  const words = ['-n', process.execPath, '--conditions=source', '--no-warnings', script, kind];
  const { stdout } = await promisify(execFile)('unshare', words, { timeout: 100_000 });
  return JSON.parse(stdout);
}

describe.skipIf(!possible())('ring: partitions', () => {
  test.concurrent('a client whose etcd, or which itself, is cut off loses its lock before another gets it; then every slot is owned again', async () => {
    const report = (await reportOf('lost')) as LostReport;
    for (const { lostAtMs, grantedAtMs } of [report.isolatedLeader, report.isolatedClient]) {
      expect(lostAtMs).toBeGreaterThan(0);
      expect(grantedAtMs).toBeGreaterThan(lostAtMs);
    }
    expect(report.healed).toBe(true);
  });

  test.concurrent('a client whose etcd is cut off from its peers moves on and keeps its lock, also through an election', async () => {
    const report = (await reportOf('kept')) as KeptReport;
    for (const { lost, leftMs } of [report.isolatedFollower, report.isolatedLeader]) {
      expect(lost).toBe(false);
      expect(leftMs).toBeGreaterThan(0);
    }
  });
});
