/**
 * The lock ring on a real etcd of its own: locks inside owned slots, start, hand-over, idling; beside it a plain lock
 * in etcd (one transaction to take, one to give back) through the same client. Two rings of one process stand for two
 * processes, each with its own connection; the crash is a real process killed with SIGKILL.
 */
import { SystemClock } from '@carillon/core/system';
import { EtcdClient, Ring } from '@carillon/ring';
import { etcdForTests } from '../../scripts/etcd.ts';
import { EtcdCluster } from '../../scripts/etcd-cluster.ts';
import { crashTakeover, handOver, leave } from './ring-moves.ts';
import { Cpu, percentile, type Report, until } from './ring-measure.ts';

const slots = 1024;
const log = { debug() {}, info() {}, warn() {}, error() {} };

export async function run(report: Report): Promise<Record<string, unknown>> {
  const paths = etcdForTests();
  if (paths === null) {
    report('no etcd here: skipped');
    return { skipped: 'no etcd' };
  }
  const cluster = await EtcdCluster.start({ paths });
  const { endpoints } = cluster;
  const results: Record<string, unknown> = {};
  try {
    results['start'] = await start(endpoints, report);
    results['locks'] = await ownedLocks(endpoints, report);
    results['plainEtcd'] = await plainLocks(endpoints, report);
    results['nextHolder'] = await nextHolder(endpoints, report);
    results['handOver'] = await handOver(endpoints, report);
    results['leave'] = await leave(endpoints, report);
    results['crash'] = await crashTakeover(endpoints, report);
    results['idle'] = await idle(endpoints, report);
  } finally {
    await cluster.stop();
  }
  return results;
}

/** From nothing to a thousand held locks: open, join, claim all slots, lock. */
async function start(endpoints: string[], report: Report) {
  const tookMs: number[] = [];
  for (let i = 0; i < 5; i++) {
    const startMs = performance.now();
    const ring = await Ring.open({ endpoints, prefix: `start-${i}` });
    await ring.addMember('a');
    const locks = await Promise.all(Array.from({ length: 1000 }, (_, key) => ring.lock(`k${key}`)));
    tookMs.push(performance.now() - startMs);
    await Promise.all(locks.map((lock) => lock.release()));
    await ring.close();
  }
  const p50Ms = percentile(tookMs, 50);
  report(`1000 locks at start: ${p50Ms.toFixed(0)} ms (target 300)`);
  return { p50Ms, maxMs: Math.max(...tookMs), targetMs: 300 };
}

/** Lock and give back, one after the other, keys spread over the owned slots. */
async function ownedLocks(endpoints: string[], report: Report) {
  const ring = await Ring.open({ endpoints, prefix: 'owned' });
  await ring.addMember('a');
  await until(() => ring.ownedSlots().length === slots);
  const keys = Array.from({ length: 10_000 }, (_, i) => `key-${i}`);
  const count = 1_000_000;
  const lockAll = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      const lock = await ring.lock(keys[i % keys.length] as string);
      await lock.release();
    }
  };
  await lockAll(50_000);
  const cpu = new Cpu();
  await lockAll(count);
  const { seconds, cpuSeconds } = cpu.read();
  await ring.close();
  const perSecond = count / seconds;
  const perCpuSecond = count / cpuSeconds;
  report(
    `lock + unlock in owned slots: ${(perSecond / 1000).toFixed(0)} k/s, ${(perCpuSecond / 1000).toFixed(0)} k a second of CPU (target 200 k/s)`,
  );
  return { perSecond, perCpuSecond, targetPerSecond: 200_000 };
}

/** The cost of a lock without slots: a record in etcd for each, through the same client. */
async function plainLocks(endpoints: string[], report: Report) {
  const client = new EtcdClient({ endpoints, clock: new SystemClock(), log });
  const lease = 4242n;
  await client.grantLease(lease, 60_000, 2000);
  const cycle = async (i: number): Promise<void> => {
    const key = `plain/${i % 1000}`;
    const put = { put: key, value: 'held', lease };
    const take = { when: [{ key, createRevision: 0 }], success: [put], failure: [{ get: key }] };
    const { revision } = await client.txn(take, 2000);
    const mine = [{ key, modRevision: revision }];
    await client.txn({ when: mine, success: [{ remove: key }], failure: [] }, 2000);
  };
  const measure = async (count: number, inFlight: number) => {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count) await cycle(next++);
    };
    const cpu = new Cpu();
    await Promise.all(Array.from({ length: inFlight }, worker));
    const { seconds, cpuSeconds } = cpu.read();
    return { perSecond: count / seconds, cpuUsPerTransaction: (cpuSeconds / count / 2) * 1e6 };
  };
  await measure(300, 16);
  const one = await measure(1000, 1);
  const many = await measure(6000, 64);
  await client.revokeLease(lease, 2000);
  await client.close();
  report(
    `plain etcd lock + unlock, same client: ${one.perSecond.toFixed(0)}/s one by one, ${many.perSecond.toFixed(0)}/s with 64 in flight, ${many.cpuUsPerTransaction.toFixed(0)} µs client CPU per transaction`,
  );
  return { oneByOne: one, inFlight64: many };
}

/** From a release to the next one in line, in one process. */
async function nextHolder(endpoints: string[], report: Report) {
  const ring = await Ring.open({ endpoints, prefix: 'next' });
  await ring.addMember('a');
  const tookMs: number[] = [];
  for (let i = 0; i < 2000; i++) {
    const lock = await ring.lock('k');
    const waiting = ring.lock('k');
    const startMs = performance.now();
    void lock.release();
    const next = await waiting;
    tookMs.push(performance.now() - startMs);
    await next.release();
  }
  await ring.close();
  const p50Ms = percentile(tookMs, 50);
  const p99Ms = percentile(tookMs, 99);
  report(
    `next holder, same process: p50 ${(p50Ms * 1000).toFixed(0)} µs, p99 ${(p99Ms * 1000).toFixed(0)} µs (target 1 ms)`,
  );
  return { p50Ms, p99Ms, targetMs: 1 };
}

/** A thousand waiting keys, for ten seconds: CPU, and requests to etcd. */
async function idle(endpoints: string[], report: Report) {
  const ring = await Ring.open({ endpoints, prefix: 'idle' });
  await ring.addMember('a');
  const waiter = await Ring.open({ endpoints, prefix: 'idle' });
  await until(() => ring.ownedSlots().length === slots);
  const controller = new AbortController();
  for (let i = 0; i < 1000; i++) {
    waiter.lock(`k${i}`, { signal: controller.signal }).catch(() => {});
  }
  const callsBefore = await grpcCalls(endpoints[0] as string);
  const cpu = new Cpu();
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const { seconds, cpuSeconds } = cpu.read();
  const calls = (await grpcCalls(endpoints[0] as string)) - callsBefore;
  controller.abort();
  await Promise.all([waiter.close(), ring.close()]);
  const cpuPercent = (cpuSeconds / seconds) * 100;
  const callsPerSecond = calls / seconds;
  report(
    `idle, 1000 waiting keys: ${cpuPercent.toFixed(2)} % CPU for two rings (target < 1), ${callsPerSecond.toFixed(1)} etcd calls/s (keepalive, its proof, heartbeat)`,
  );
  return { cpuPercent, callsPerSecond, targetCpuPercent: 1 };
}

async function grpcCalls(endpoint: string): Promise<number> {
  const text = await (await fetch(`${endpoint}/metrics`)).text();
  const counts = text.matchAll(/^grpc_server_started_total\{[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
