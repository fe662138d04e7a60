/** A ring whose etcd dies and starts again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { etcdForTests } from '../../../scripts/etcd.ts';
import { EtcdCluster } from '../../../scripts/etcd-cluster.ts';
import { Ring } from './ring.ts';

const paths = etcdForTests();
const opened: { end(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.end();
});

test.skipIf(paths === null)(
  'ten restarts of etcd: no lock is lost, no lease or watch is left over',
  async () => {
    if (paths === null) return;
    const cluster = await EtcdCluster.start({ paths });
    opened.push({ end: () => cluster.stop() });
    const { endpoints } = cluster;
    const ring = await Ring.open({ endpoints, prefix: 'restarts', ttlMs: 10_000, slots: 64 });
    opened.push({ end: () => ring.close() });
    await ring.addMember('a');
    const lock = await ring.lock('k');
    for (let i = 0; i < 10; i++) {
      await cluster.kill(0);
      cluster.launch(0);
      await cluster.ready();
      await sleep(100);
    }
    await sleep(3500);
    expect(lock.lost.aborted).toBe(false);
    expect(ring.connected).toBe(true);
    await lock.release();
    await ring.close();
    expect(cluster.contents()).toEqual({ keys: ['restarts/config'], leases: 0 });
  },
);
