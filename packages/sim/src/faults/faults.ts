/** Faults as data, and how each is done to a cluster and undone again. */
import { SeededRandom } from '@carillon/core/testing';
import type { Manner } from '../world/receivers.ts';
import { wellMannered } from '../world/receivers.ts';
import type { Rot } from '../rot/rot.ts';
import type { SimCluster } from '../sim-cluster.ts';

/** Every fault begins at `atMs` and is over `forMs` later, or when the run heals. */
export type Fault = { readonly atMs: number; readonly forMs: number } & (
  | {
      readonly kind: 'crash';
      readonly member: string;
      readonly power: boolean;
      readonly wipe: boolean;
      /** The member never comes back. */
      readonly stays: boolean;
    }
  /** The member is told to stop, and finishes its work first. */
  | { readonly kind: 'restart'; readonly member: string }
  /** All of them at once; they come back one after the other. */
  | { readonly kind: 'blackout' }
  | { readonly kind: 'pause'; readonly member: string }
  /** No processor for spans of up to `spanMs`, again and again, at the latest `gapMs` after the one before. */
  | {
      readonly kind: 'stall';
      readonly member: string;
      readonly spanMs: number;
      readonly gapMs: number;
      readonly seed: number;
    }
  /** Frames from one member to the other are lost. */
  | { readonly kind: 'cut'; readonly from: string; readonly to: string }
  /** Two sides that cannot talk to each other. */
  | { readonly kind: 'split'; readonly side: readonly string[] }
  | {
      readonly kind: 'rough';
      readonly lossRatio: number;
      readonly duplicateRatio: number;
      readonly overtakeRatio: number;
      readonly slowRatio: number;
      readonly slowMs: number;
    }
  | { readonly kind: 'client-loss'; readonly ratio: number }
  | { readonly kind: 'receiver'; readonly receiver: string; readonly manner: Manner }
  | { readonly kind: 'hide'; readonly receiver: string; readonly member: string }
  /** The wall clock is set; it stays so. */
  | { readonly kind: 'step'; readonly member: string; readonly byMs: number }
  | { readonly kind: 'disk-full'; readonly member: string }
  /** The next sync fails, and the member with it. */
  | { readonly kind: 'disk-fails'; readonly member: string }
  /**
   * The disk is damaged: while the member is down, which it then is for as long as the fault lasts, or while it runs.
   */
  | {
      readonly kind: 'rot';
      readonly member: string;
      readonly down: boolean;
      readonly power: boolean;
      readonly rots: readonly Rot[];
    }
  | {
      readonly kind: 'join';
      readonly member: string;
      /** In a file: so long with the phase `joining`. */
      readonly joiningMs?: number;
    }
  | { readonly kind: 'drain'; readonly member: string }
  | { readonly kind: 'etcd-away' }
  | { readonly kind: 'etcd-compacts' }
  | { readonly kind: 'etcd-cut'; readonly member: string }
);

/** Actions on the cluster as a whole; `etcd` is null where members are listed by hand. */
export interface Operator {
  join(member: string, joiningMs: number): void;
  drain(member: string): void;
  readonly etcd: {
    away: boolean;
    compact(): void;
    cut(member: string): () => void;
    /** Whether the member can reach it. */
    reaches(member: string): boolean;
  } | null;
}

type Undo = () => void;

/** Begins the fault; the returned function ends it. */
export function inflict(fault: Fault, cluster: SimCluster, operator: Operator): Undo {
  const { world } = cluster;
  world.trace.note(world.nowMs, `fault ${JSON.stringify(fault)}`);
  switch (fault.kind) {
    case 'crash':
      if (!fault.stays) return crash(cluster, fault.member, fault);
      crash(cluster, fault.member, fault);
      return nothing;
    case 'restart':
      return stopAndStart(cluster, fault.member);
    case 'blackout':
      return blackout(cluster);
    case 'pause':
      cluster.member(fault.member).pause();
      return () => cluster.member(fault.member).resume();
    case 'stall':
      return stall(cluster, fault);
    case 'cut':
      return cluster.cables.cut(fault.from, fault.to);
    case 'split':
      return split(cluster, fault.side);
    case 'rough':
      return rough(cluster, fault);
    case 'client-loss':
      cluster.clientLossRatio = fault.ratio;
      return () => {
        cluster.clientLossRatio = 0;
      };
    case 'receiver':
      cluster.receivers.behave(fault.receiver, fault.manner);
      return () => cluster.receivers.behave(fault.receiver, wellMannered);
    case 'hide':
      return cluster.receivers.hide(fault.receiver, fault.member);
    case 'step':
      return step(cluster, fault.member, fault.byMs);
    case 'disk-full':
      return diskFull(cluster, fault.member);
    case 'disk-fails':
      return diskFails(cluster, fault.member);
    case 'rot':
      return rotDisk(cluster, fault);
    case 'join':
      operator.join(fault.member, fault.joiningMs ?? 0);
      return nothing;
    case 'drain':
      operator.drain(fault.member);
      return nothing;
    case 'etcd-away':
    case 'etcd-compacts':
    case 'etcd-cut':
      return etcdFault(fault, operator);
  }
}

function nothing(): void {}

function crash(
  cluster: SimCluster,
  name: string,
  how: { readonly power: boolean; readonly wipe: boolean },
): Undo {
  const member = cluster.member(name);
  if (!member.up) return nothing;
  member.resume();
  member.crash(how);
  return () => member.start();
}

function stopAndStart(cluster: SimCluster, name: string): Undo {
  const member = cluster.member(name);
  if (member.member === null || member.paused) return nothing;
  void member.stop();
  return () => member.start();
}

/** After a span without a processor a member has at least this long to catch up. */
const breathMs = 100;

function stall(cluster: SimCluster, fault: Fault & { kind: 'stall' }): Undo {
  const { world } = cluster;
  const random = new SeededRandom(fault.seed);
  let over = false;
  const next = (): void => {
    if (over) return;
    const spanMs = random.unit() * fault.spanMs;
    cluster.member(fault.member).stall(spanMs);
    world.after(spanMs + breathMs + random.unit() * fault.gapMs, next);
  };
  next();
  return () => {
    over = true;
  };
}

function blackout(cluster: SimCluster): Undo {
  const undo = [...cluster.members.keys()].map((name, i) => {
    const restart = crash(cluster, name, { power: true, wipe: false });
    return () => void cluster.world.after(i * 700, restart);
  });
  return () => {
    for (const restart of undo) restart();
  };
}

function split(cluster: SimCluster, side: readonly string[]): Undo {
  const names = [...cluster.members.keys()];
  const others = names.filter((name) => !side.includes(name));
  const mends = side.flatMap((a) =>
    others.flatMap((b) => [cluster.cables.cut(a, b), cluster.cables.cut(b, a)]),
  );
  return () => {
    for (const mend of mends) mend();
  };
}

function rough(cluster: SimCluster, fault: Fault & { kind: 'rough' }): Undo {
  const { cables } = cluster;
  const { lossRatio, duplicateRatio, overtakeRatio, slowRatio, slowMs } = fault;
  Object.assign(cables, { lossRatio, duplicateRatio, overtakeRatio, slowRatio, slowMs });
  return () => {
    Object.assign(cables, {
      lossRatio: 0,
      duplicateRatio: 0,
      overtakeRatio: 0,
      slowRatio: 0,
      slowMs: 0,
    });
  };
}

function step(cluster: SimCluster, name: string, byMs: number): Undo {
  const { world, faults } = cluster;
  cluster.member(name).clock.wallOffsetMs += byMs;
  faults.note(name, 'clock', `a step of ${byMs} ms`, world.nowMs);
  return nothing;
}

function diskFull(cluster: SimCluster, name: string): Undo {
  const member = cluster.member(name);
  const { world, faults } = cluster;
  const disk = member.storage;
  if (disk === null) return nothing;
  disk.capacityBytes = disk.usedBytes;
  const end = faults.begin(name, 'disk', 'a full disk', world.nowMs);
  return () => {
    // A crash meanwhile put another object in its place.
    const { storage } = member;
    if (storage !== null) storage.capacityBytes = Number.POSITIVE_INFINITY;
    end(world.nowMs);
  };
}

function diskFails(cluster: SimCluster, name: string): Undo {
  const member = cluster.member(name);
  const { world, faults } = cluster;
  const disk = member.storage;
  if (disk === null || !member.up) return nothing;
  disk.syncsFail = true;
  const end = faults.begin(name, 'disk', 'a failing disk', world.nowMs);
  return () => {
    disk.syncsFail = false;
    end(world.nowMs);
    member.start();
  };
}

function rotDisk(cluster: SimCluster, fault: Fault & { kind: 'rot' }): Undo {
  const { member: name, down, power, rots } = fault;
  const { world, faults } = cluster;
  const undo = down ? crash(cluster, name, { power, wipe: false }) : nothing;
  cluster.member(name).rot(rots);
  faults.note(name, 'rot', 'damage on its disk', world.nowMs);
  return undo;
}

function etcdFault(
  fault: Fault & { kind: 'etcd-away' | 'etcd-compacts' | 'etcd-cut' },
  { etcd }: Operator,
): Undo {
  if (etcd === null) return nothing;
  if (fault.kind === 'etcd-cut') return etcd.cut(fault.member);
  if (fault.kind === 'etcd-compacts') {
    etcd.compact();
    return nothing;
  }
  etcd.away = true;
  return () => {
    etcd.away = false;
  };
}
