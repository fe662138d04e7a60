/**
 * Partitions made by a firewall, in a network namespace of their own: `partitions.test.ts` starts this
 * file under `unshare -n` and reads its report. Three etcds; packets between them, or from one client, are
 * dropped without a word, as a real partition does.
 */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Lock, Ring } from '@carillon/ring';
import { etcdForTests } from '../../scripts/etcd.ts';
import { EtcdCluster } from '../../scripts/etcd-cluster.ts';

const slots = 64;
const reset = ['-j', 'REJECT', '--reject-with', 'tcp-reset'];

export interface PartitionReport {
  /** The only etcd that A knows led and is cut off from its peers: when A's lock was lost, when B got it. */
  readonly isolatedLeader: { readonly lostAtMs: number; readonly grantedAtMs: number };
  /** The etcd that A uses is cut off from its peers; A knows the others too. */
  readonly isolatedEtcd: { readonly lost: boolean; readonly leftMs: number };
  /** A cannot reach any etcd. */
  readonly isolatedClient: { readonly lostAtMs: number; readonly grantedAtMs: number };
  /** After all of them, whether every slot is owned once again. */
  readonly healed: boolean;
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

function heal(): void {
  firewall('-F', 'OUTPUT');
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

type Race = PartitionReport['isolatedClient'];

async function main(): Promise<PartitionReport> {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  const paths = etcdForTests();
  if (paths === null) throw new Error('no etcd');
  const cluster = await EtcdCluster.start({ paths, size: 3, gidOf, sideDoor: true });
  const open: Open = async (id, prefix, endpoints, ttlMs = 3000) => {
    const ring = await Ring.open({ endpoints, prefix, ttlMs, slots, drainMs: 300 });
    // After a partition the etcds may still be electing; joining then fails and is simply tried again.
    for (let tries = 1; ; tries++) {
      try {
        await ring.addMember(id);
        return ring;
      } catch (error) {
        if (tries === 10) throw error;
        await sleep(500);
      }
    }
  };
  const isolatedLeader = await leaderCutOff(cluster, open);
  const isolatedEtcd = await etcdCutOff(cluster, open);
  const a = await open('a', 'client', cluster.sideEndpoints);
  const b = await open('b', 'client', cluster.endpoints);
  await owning(slots, a, b);
  const isolatedClient = await race({ a, b }, () => {
    for (let i = 0; i < 3; i++) {
      for (const side of ['--dport', '--sport']) {
        firewall('-A', 'OUTPUT', '-p', 'tcp', side, String(cluster.sidePortOf(i)), '-j', 'DROP');
      }
    }
  });
  heal();
  const healed = await owning(slots, a, b);
  await Promise.all([a.close(), b.close()]);
  await cluster.stop();
  return { isolatedLeader, isolatedEtcd, isolatedClient, healed };
}

type Open = (id: string, prefix: string, endpoints: string[], ttlMs?: number) => Promise<Ring>;

async function leaderCutOff(cluster: EtcdCluster, open: Open): Promise<Race> {
  const leader = cluster.leader();
  const others = cluster.endpoints.filter((_, i) => i !== leader);
  const a = await open('a', 'leader', [cluster.endpoints[leader] as string]);
  const b = await open('b', 'leader', others);
  await owning(slots, a, b);
  const times = await race({ a, b }, () => isolate(cluster, leader));
  heal();
  await owning(slots, a, b);
  await Promise.all([a.close(), b.close()]);
  return times;
}

async function etcdCutOff(
  cluster: EtcdCluster,
  open: Open,
): Promise<PartitionReport['isolatedEtcd']> {
  const ring = await open('a', 'etcd', cluster.endpoints, 5000);
  await owning(slots, ring);
  const lock = await ring.lock('k');
  const follower = (cluster.leader() + 1) % 3;
  // The client starts at the first endpoint; cut that one off, be it leader or not, then a follower.
  isolate(cluster, 0);
  await sleep(6000);
  heal();
  await sleep(2000);
  isolate(cluster, follower);
  await sleep(6000);
  heal();
  const report = { lost: lock.lost.aborted, leftMs: lock.remainingMs() };
  await lock.release();
  await ring.close();
  return report;
}

console.log(JSON.stringify(await main()));
