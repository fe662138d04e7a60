/**
 * Partitions made by a firewall, in a network namespace of their own: `partitions.test.ts` starts this
 * file under `unshare -n` with `lost` or `kept` and reads its report. Three etcds; packets between them, or from one
 * client, are dropped without a word, as a real partition does.
 */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Lock, Ring } from '@carillon/ring';
import { etcdForTests } from '../../scripts/etcd.ts';
import { EtcdCluster } from '../../scripts/etcd-cluster.ts';

const slots = 64;
const reset = ['-j', 'REJECT', '--reject-with', 'tcp-reset'];

/** Locks that cannot be kept: when A's was lost, and when B got it. */
export interface LostReport {
  /** The only etcd that A knows led and is cut off from its peers. */
  readonly isolatedLeader: Race;
  /** A cannot reach any etcd. */
  readonly isolatedClient: Race;
  /** Whether every slot is owned once again afterwards. */
  readonly healed: boolean;
}

interface Race {
  readonly lostAtMs: number;
  readonly grantedAtMs: number;
}

/** Locks that are kept: the etcd that A uses is cut off from its peers, and A knows the others too. */
export interface KeptReport {
  readonly isolatedFollower: Kept;
  readonly isolatedLeader: Kept;
}

/** A lock after its etcd was cut off for longer than its lease. */
interface Kept {
  readonly lost: boolean;
  readonly leftMs: number;
}

function firewall(...rule: string[]): void {
  execFileSync('iptables', ['-w', ...rule]);
}

/** Nothing passes between one etcd and its peers any more; clients still reach it. */
function isolate(cluster: EtcdCluster, index: number): void {
  const own = String(cluster.peerPortOf(index));
  for (let other = 0; other < cluster.size; other++) {
    if (other === index) continue;
    const port = String(cluster.peerPortOf(other));
    const from = ['-m', 'owner', '--gid-owner', String(gidOf(index))];
    // A reset ends the existing connections; packets that the peers still send on them find no listener.
    firewall('-A', 'OUTPUT', '-p', 'tcp', '--dport', port, ...from, ...reset);
  }
  firewall('-A', 'OUTPUT', '-p', 'tcp', '--dport', own, '-j', 'DROP');
  firewall('-A', 'OUTPUT', '-p', 'tcp', '--sport', own, '-j', 'DROP');
}

/** Ends the partition and waits until the etcds have connected again, which they try about every two seconds. */
async function heal(): Promise<void> {
  firewall('-F', 'OUTPUT');
  await sleep(3000);
}

function gidOf(index: number): number {
  return 4010 + index;
}

async function owning(count: number, ...rings: Ring[]): Promise<boolean> {
  for (let i = 0; i < 1500; i++) {
    if (rings.reduce((sum, ring) => sum + ring.ownedSlots().length, 0) === count) return true;
    await sleep(10);
  }
  return false;
}

function keyOf(ring: Ring, id: string): string {
  for (let i = 0; ; i++) if (ring.ownerOf(`key-${i}`) === id) return `key-${i}`;
}

/** A holds a key, B waits for it, then `cut` happens: when was it lost here and granted there? */
async function race(rings: { a: Ring; b: Ring }, cut: () => void): Promise<Race> {
  const key = keyOf(rings.b, 'a');
  const lock: Lock = await rings.a.lock(key);
  const times = { lostAtMs: 0, grantedAtMs: 0 };
  lock.lost.addEventListener('abort', () => (times.lostAtMs = performance.now()));
  const waiting = rings.b.lock(key, { timeoutMs: 30_000 });
  cut();
  const next = await waiting;
  times.grantedAtMs = performance.now();
  await next.release();
  return times;
}

async function main(kind: string | undefined): Promise<LostReport | KeptReport> {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  const paths = etcdForTests();
  if (paths === null) throw new Error('no etcd');
  const cluster = await EtcdCluster.start({ paths, size: 3, gidOf, sideDoor: true });
  try {
    return await (kind === 'kept' ? kept(cluster) : lost(cluster));
  } finally {
    await cluster.stop();
  }
}

async function lost(cluster: EtcdCluster): Promise<LostReport> {
  const isolatedLeader = await leaderCutOff(cluster);
  const a = await open('a', 'client', cluster.sideEndpoints);
  const b = await open('b', 'client', cluster.endpoints);
  await owning(slots, a, b);
  const isolatedClient = await race({ a, b }, () => {
    for (let i = 0; i < cluster.size; i++) {
      for (const side of ['--dport', '--sport']) {
        firewall('-A', 'OUTPUT', '-p', 'tcp', side, String(cluster.sidePortOf(i)), '-j', 'DROP');
      }
    }
  });
  await heal();
  const healed = await owning(slots, a, b);
  await Promise.all([a.close(), b.close()]);
  return { isolatedLeader, isolatedClient, healed };
}

async function kept(cluster: EtcdCluster): Promise<KeptReport> {
  const follower = (cluster.leader() + 1) % cluster.size;
  const isolatedFollower = await etcdCutOff(cluster, follower, 5000);
  // Two followers may need several elections of up to two seconds each to agree on a leader: 10 s are enough for three.
  const isolatedLeader = await etcdCutOff(cluster, cluster.leader(), 10_000);
  return { isolatedFollower, isolatedLeader };
}

/** After a partition the etcds may still be electing; joining then fails and is simply tried again. */
async function open(id: string, prefix: string, endpoints: string[], ttlMs = 3000): Promise<Ring> {
  const ring = await Ring.open({ endpoints, prefix, ttlMs, slots, drainMs: 300 });
  for (let tries = 1; ; tries++) {
    try {
      await ring.addMember(id);
      return ring;
    } catch (error) {
      if (tries === 10) throw error;
      await sleep(500);
    }
  }
}

async function leaderCutOff(cluster: EtcdCluster): Promise<Race> {
  const leader = cluster.leader();
  const others = cluster.endpoints.filter((_, i) => i !== leader);
  const a = await open('a', 'leader', [cluster.endpoints[leader] as string]);
  const b = await open('b', 'leader', others);
  await owning(slots, a, b);
  const times = await race({ a, b }, () => isolate(cluster, leader));
  await heal();
  await owning(slots, a, b);
  await Promise.all([a.close(), b.close()]);
  return times;
}

/** A holds a lock through the etcd at `index`, which is then cut off from its peers for longer than the lease lasts. */
async function etcdCutOff(cluster: EtcdCluster, index: number, ttlMs: number): Promise<Kept> {
  const { endpoints } = cluster;
  // The client starts at the first endpoint.
  const usedFirst = [...endpoints.slice(index), ...endpoints.slice(0, index)];
  const ring = await open('a', `etcd-${index}-${ttlMs}`, usedFirst, ttlMs);
  await owning(slots, ring);
  const lock = await ring.lock('k');
  isolate(cluster, index);
  await sleep(ttlMs + 1000);
  const report = { lost: lock.lost.aborted, leftMs: lock.remainingMs() };
  await heal();
  await lock.release();
  await ring.close();
  return report;
}

console.log(JSON.stringify(await main(process.argv[2])));
