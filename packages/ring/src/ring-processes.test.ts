/** The fault table with real processes: workers that are stopped and killed, three etcds that are too. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { etcdForTests } from '../../../scripts/etcd.ts';
import { EtcdCluster } from '../../../scripts/etcd-cluster.ts';
import { Ring } from './ring.ts';
import type { WorkerEvent, WorkerOptions } from './testing/worker.ts';
import { nowMs, WorkerProcess } from './testing/worker-process.ts';

const paths = etcdForTests();
const ttlMs = 2000;
const marginMs = 300;
/** Time for a loaded machine to start and schedule processes, on top of the bounds of the fault table. */
const slackMs = 1500;
const slots = 64;
let prefixes = 0;

describe.skipIf(paths === null)('ring: real processes', () => {
  let cluster: EtcdCluster;
  const workers: WorkerProcess[] = [];
  const rings: Ring[] = [];

  beforeAll(async () => {
    if (paths !== null) cluster = await EtcdCluster.start({ paths, size: 3 });
  }, 60_000);

  // A test that failed may have left an etcd stopped.
  afterEach(() => cluster?.restore());
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    await Promise.all(rings.map((ring) => ring.close()));
    await cluster?.stop();
  });

  async function startWorker(prefix: string, options: Partial<WorkerOptions> = {}) {
    const { endpoints } = cluster;
    const member = `w${workers.length}`;
    const worker = new WorkerProcess({ endpoints, prefix, member, ttlMs, slots, ...options });
    workers.push(worker);
    await worker.until('ready');
    return worker;
  }

  async function openRing(prefix: string, given: { ttlMs?: number } = {}): Promise<Ring> {
    const { endpoints } = cluster;
    const ring = await Ring.open({ endpoints, prefix, ttlMs, slots, drainMs: 300, ...given });
    rings.push(ring);
    return ring;
  }

  /** A worker that holds "k", and a ring here that waits for it. */
  async function holderAndWaiter(options: { ttlMs?: number } = {}) {
    const prefix = `processes-${prefixes++}`;
    const worker = await startWorker(prefix, options);
    worker.send({ do: 'lock', key: 'k' });
    const granted = await worker.until('granted');
    const ring = await openRing(prefix);
    await ring.addMember('waiter');
    const waiting = ring.lock('k').then((lock) => ({ lock, atMs: nowMs() }));
    // Closing the ring rejects a wait that is still open at the end of a test.
    waiting.catch(() => {});
    return { worker, granted, waiting, ring };
  }

  const validAfter = (worker: WorkerProcess, atMs: number): WorkerEvent[] =>
    worker.events.filter(
      (event) => event.kind === 'pulse' && event.leftMs > 0 && event.atMs > atMs,
    );

  describe.concurrent('SIGSTOP', () => {
    test('for half of T: the lock stays', async () => {
      const longTtlMs = 8000;
      const { worker } = await holderAndWaiter({ ttlMs: longTtlMs });
      worker.signal('SIGSTOP');
      await sleep(longTtlMs / 2);
      const goneOnMs = worker.signal('SIGCONT');
      await sleep(1000);
      expect(worker.events.some((event) => event.kind === 'lost')).toBe(false);
      expect(validAfter(worker, goneOnMs + 200).length).toBeGreaterThan(0);
    });

    test.each([
      ['T − margin − 200 ms', ttlMs - marginMs - 200],
      ['T − margin + 200 ms', ttlMs - marginMs + 200],
    ])('for %s: at no moment two believers', async (_name, pauseMs) => {
      const { worker, granted, waiting } = await holderAndWaiter();
      worker.signal('SIGSTOP');
      await sleep(pauseMs);
      worker.signal('SIGCONT');
      await sleep(2500);
      const lost = worker.events.some((event) => event.kind === 'lost');
      if (!lost) await worker.kill();
      const { lock, atMs } = await waiting;
      expect(validAfter(worker, atMs)).toEqual([]);
      expect(lock.token).toBeGreaterThan(BigInt(granted.token));
    });

    test.each([
      ['T + 1 s', ttlMs + 1000],
      ['3 T', 3 * ttlMs],
    ])(
      'for %s: others take over, the stopped one knows at once and comes back',
      async (_name, pauseMs) => {
        const { worker, granted, waiting, ring } = await holderAndWaiter();
        const stoppedAtMs = worker.signal('SIGSTOP');
        const [{ lock, atMs }] = await Promise.all([waiting, sleep(pauseMs)]);
        expect(atMs - stoppedAtMs).toBeLessThan(ttlMs + 1000 + slackMs);
        worker.signal('SIGCONT');
        const lost = await worker.until('lost');
        const first = await worker.until('pulse', ({ gapMs }) => gapMs > ttlMs / 2);
        expect(first.leftMs).toBeLessThanOrEqual(0);
        expect(lost.atMs - first.atMs).toBeLessThan(50);
        expect(validAfter(worker, atMs)).toEqual([]);
        // The newer lock has the larger token, so a store that compares tokens refuses late writes of the stopped
        // worker.
        expect(lock.token).toBeGreaterThan(BigInt(granted.token));
        const back = (): boolean => ring.view.members.length === 2;
        for (let i = 0; i < 600 && !back(); i++) await sleep(10);
        expect(back()).toBe(true);
      },
    );
  });

  test('kill -9: the waiting lock is granted within T + 1 s', async () => {
    const { worker, granted, waiting } = await holderAndWaiter();
    const killedAtMs = worker.signal('SIGKILL');
    const { lock, atMs } = await waiting;
    expect(atMs - killedAtMs).toBeLessThan(ttlMs + 1000 + slackMs);
    expect(lock.token).toBeGreaterThan(BigInt(granted.token));
  });

  test('close: the process ends by itself within a second', async () => {
    const worker = await startWorker(`processes-${prefixes++}`);
    worker.send({ do: 'lock', key: 'k' });
    await worker.until('granted');
    worker.send({ do: 'release', key: 'k' });
    worker.send({ do: 'close' });
    const { atMs } = await worker.until('closed');
    expect(await worker.exited).toBe(0);
    expect(nowMs() - atMs).toBeLessThan(1000 + slackMs);
  });

  test('an etcd that hangs, and the leader killed: no lock is lost (T = 5 s)', async () => {
    const prefix = `processes-${prefixes++}`;
    const ring = await openRing(prefix, { ttlMs: 5000 });
    await ring.addMember('a');
    const lock = await ring.lock('k');
    const leader = cluster.leader();
    const follower = (leader + 1) % 3;
    cluster.pause(follower);
    await sleep(4000);
    cluster.resume(follower);
    await sleep(1000);
    const leaderNow = cluster.leader();
    await cluster.kill(leaderNow);
    await sleep(6000);
    expect(lock.lost.aborted).toBe(false);
    expect(lock.remainingMs()).toBeGreaterThan(0);
    cluster.launch(leaderNow);
    await cluster.ready();
    await lock.release();
  });

  test('worker and etcd leader killed together: taken over within 2 T, an election and a second', async () => {
    const { worker, waiting } = await holderAndWaiter();
    const leader = cluster.leader();
    const killedAtMs = worker.signal('SIGKILL');
    await cluster.kill(leader);
    const { atMs } = await waiting;
    expect(atMs - killedAtMs).toBeLessThan(2 * ttlMs + 2000 + 1000 + slackMs);
    cluster.launch(leader);
    await cluster.ready();
  });

  test('all of etcd away, shortly: nothing is lost; longer: everything is, and granted again soon after', async () => {
    const prefix = `processes-${prefixes++}`;
    const ring = await openRing(prefix, { ttlMs: 5000 });
    await ring.addMember('a');
    const lock = await ring.lock('k');
    await sleep(1500);
    for (let i = 0; i < 3; i++) cluster.pause(i);
    await sleep(1500);
    for (let i = 0; i < 3; i++) cluster.resume(i);
    await sleep(4500);
    expect(lock.lost.aborted).toBe(false);
    const awayAtMs = nowMs();
    for (let i = 0; i < 3; i++) cluster.pause(i);
    await new Promise((resolve) => lock.lost.addEventListener('abort', resolve));
    expect(nowMs() - awayAtMs).toBeLessThan(5000 - 500 + 500);
    expect(ring.tryLock('other')).toBeNull();
    const again = ring.lock('k');
    for (let i = 0; i < 3; i++) cluster.resume(i);
    await cluster.ready();
    const quorumAtMs = nowMs();
    expect((await again).token).toBeGreaterThan(lock.token);
    // The old lease has to end or be revoked first; then 2 s are the promise.
    expect(nowMs() - quorumAtMs).toBeLessThan(2000 + slackMs);
  });
});
