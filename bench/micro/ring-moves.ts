/** Time until another member has it: one key, all slots of a leaver, the lock of a crashed process. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '@carillon/core/system';
import { EtcdClient, Ring } from '@carillon/ring';
import { percentile, type Report, until } from './ring-measure.ts';

const slots = 1024;

/**
 * A key moves between processes: from the old holder's release to the new holder's grant. One transaction, and the
 * watch that tells of it; beside it the time of one transaction, most of which is etcd's write to disk.
 */
export async function handOver(endpoints: string[], report: Report) {
  const plain = await handOverMs(endpoints, false);
  const durable = await handOverMs(endpoints, true);
  const transaction = await transactionMs(endpoints);
  const line = (tookMs: number[]): string =>
    `p50 ${percentile(tookMs, 50).toFixed(1)} ms, p99 ${percentile(tookMs, 99).toFixed(1)} ms`;
  report(
    `next holder, other process: ${line(plain)}; durable: ${line(durable)} (target 5); one transaction: ${line(transaction)}`,
  );
  const of = (tookMs: number[]) => ({
    p50Ms: percentile(tookMs, 50),
    p99Ms: percentile(tookMs, 99),
  });
  return {
    plain: of(plain),
    durable: of(durable),
    transaction: of(transaction),
    inTransactions: percentile(durable, 50) / percentile(transaction, 50),
    targetMs: 5,
  };
}

async function transactionMs(endpoints: string[]): Promise<number[]> {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const client = new EtcdClient({ endpoints, clock: new SystemClock(), log });
  const put = { put: 'one-transaction', value: '', lease: 0n };
  const tookMs: number[] = [];
  for (let i = 0; i < 200; i++) {
    const startMs = performance.now();
    await client.txn({ when: [], success: [put], failure: [] }, 2000);
    tookMs.push(performance.now() - startMs);
  }
  await client.close();
  return tookMs;
}

async function handOverMs(endpoints: string[], durable: boolean): Promise<number[]> {
  const prefix = `hand-over-${durable}`;
  const a = await Ring.open({ endpoints, prefix });
  const b = await Ring.open({ endpoints, prefix });
  await a.addMember('a');
  await b.addMember('b');
  await until(() => a.ownedSlots().length + b.ownedSlots().length === slots);
  const key = keyOf(a, 'b');
  const tookMs: number[] = [];
  for (let i = 0; i < 40; i++) {
    await b.removeMember('b');
    await until(() => a.ownedSlots().length === slots);
    const lock = await a.lock(key, { durable });
    await b.addMember('b');
    // Everything but the held slot has moved.
    const waiting = b.lock(key, { durable });
    await until(
      () => lock.revoking.aborted && a.ownedSlots().length + b.ownedSlots().length === slots - 1,
    );
    // The record of the wait stands by then.
    await sleep(20);
    const startMs = performance.now();
    void lock.release();
    const next = await waiting;
    tookMs.push(performance.now() - startMs);
    await next.release();
  }
  await Promise.all([a.close(), b.close()]);
  return tookMs;
}

/** One of three members leaves in order: until its slots are owned elsewhere. */
export async function leave(endpoints: string[], report: Report) {
  const prefix = 'leave';
  const rings = await Promise.all([1, 2, 3].map(() => Ring.open({ endpoints, prefix })));
  const [leaver, ...stayers] = rings as [Ring, ...Ring[]];
  await Promise.all(rings.map((ring, i) => ring.addMember(`m${i}`)));
  const owned = (list: readonly Ring[]): number =>
    list.reduce((sum, ring) => sum + ring.ownedSlots().length, 0);
  const tookMs: number[] = [];
  for (let i = 0; i < 30; i++) {
    await until(() => owned(rings) === slots);
    const startMs = performance.now();
    await leaver.removeMember('m0');
    await until(() => owned(stayers) === slots);
    tookMs.push(performance.now() - startMs);
    await leaver.addMember('m0');
  }
  await Promise.all(rings.map((ring) => ring.close()));
  const p50Ms = percentile(tookMs, 50);
  const p99Ms = percentile(tookMs, 99);
  report(`clean leave: p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms (target 250)`);
  return { p50Ms, p99Ms, targetMs: 250 };
}

/**
 * A process that holds a lock is killed; T = 5 s. Most of the time is etcd's: the lease runs out, and etcd looks for
 * such leases twice a second. `afterLeaseMs` is the rest, from when this process sees that the member is gone to the
 * grant.
 */
export async function crashTakeover(endpoints: string[], report: Report) {
  const runs: { tookMs: number; afterLeaseMs: number }[] = [];
  for (let i = 0; i < 3; i++) runs.push(await oneTakeover(endpoints, `crash-${i}`));
  const tookMs = percentile(
    runs.map((run) => run.tookMs),
    50,
  );
  const tookMsMax = Math.max(...runs.map((run) => run.tookMs));
  const afterLeaseMs = Math.max(...runs.map((run) => run.afterLeaseMs));
  report(
    `crash take-over, T = 5 s: ${(tookMs / 1000).toFixed(2)} s, at most ${(tookMsMax / 1000).toFixed(2)} s (target T + 1); after the end of the lease ${afterLeaseMs.toFixed(0)} ms at most`,
  );
  return { tookMs, tookMsMax, afterLeaseMs, ttlMs: 5000, targetMs: 6000 };
}

async function oneTakeover(endpoints: string[], prefix: string) {
  const main = join(import.meta.dirname, '../../packages/cli/src/main.ts');
  const words = ['--conditions=source', main, 'lock', 'crash', '--ring', prefix];
  const child = spawn(
    process.execPath,
    [...words, '--etcd', endpoints.join(), '--ttl', '5s', '--', 'sh', '-c', 'echo held; sleep 15'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const ring = await Ring.open({ endpoints, prefix });
  await ring.addMember('next');
  const waiting = ring.lock('crash');
  await sleep(1000);
  let leftMs = 0;
  ring.on('member', ({ kind }) => {
    if (kind === 'left') leftMs = performance.now();
  });
  const startMs = performance.now();
  child.kill('SIGKILL');
  const lock = await waiting;
  const endMs = performance.now();
  const took = { tookMs: endMs - startMs, afterLeaseMs: endMs - leftMs };
  await lock.release();
  await ring.close();
  return took;
}

function keyOf(ring: Ring, id: string): string {
  for (let i = 0; ; i++) if (ring.ownerOf(`key-${i}`) === id) return `key-${i}`;
}
