/** The operator of the cluster: adds members, drains them, and keeps the list of members or the etcd they meet in. */
import type { Clock } from '@carillon/core';
import { Membership } from '@carillon/ring';
import { type SimulatedClient, SimulatedEtcd } from '@carillon/ring/testing';
import {
  EtcdSource,
  type Phase,
  type ViewMember,
  type ViewSource,
} from '@carillon/server/internal';
import { FaultLog } from './world/fault-log.ts';
import type { Operator } from './faults/faults.ts';
import type { Process } from './world/process.ts';
import type { SimCluster } from './sim-cluster.ts';
import { viewMember } from './world/views.ts';
import { epochMs, type World } from './world/world.ts';

const ttlMs = 5000;
/** Time until a member that comes back is in the view of all others. */
const lingerMs = 5000;

/** Members are listed by hand; a drained one is taken off the list when it is empty. */
export class StaticOperator implements Operator {
  readonly etcd = null;
  private readonly cluster: SimCluster;

  constructor(cluster: SimCluster) {
    this.cluster = cluster;
  }

  begin(names: readonly string[]): void {
    const { views } = this.cluster;
    views.change(names.map((name) => views.memberOf(name)));
  }

  /** First as joining, where that takes its time. */
  join(name: string, joiningMs: number): void {
    const { cluster } = this;
    const { views, world } = cluster;
    if (cluster.members.has(name)) return;
    cluster.add(name).start();
    const list = (phase: Phase): void => {
      const others = views.members.filter((member) => member.name !== name);
      views.change([...others, { ...views.memberOf(name), phase }]);
    };
    world.after(500, () => list(joiningMs > 0 ? 'joining' : 'active'));
    if (joiningMs === 0) return;
    world.after(500 + joiningMs, () => {
      // The member may have been drained meanwhile.
      if (views.members.some((member) => member.name === name)) list('active');
    });
  }

  drain(name: string): void {
    const { views } = this.cluster;
    void this.cluster
      .member(name)
      .drain()
      .then((left) => {
        if (left) views.change(views.members.filter((member) => member.name !== name));
      });
  }

  get activeNames(): readonly string[] {
    return this.cluster.views.members.map(({ name }) => name);
  }
}

/** Members meet in etcd: a member that stops renewing its lease is gone from the view. */
export class EtcdOperator implements Operator {
  readonly etcd: Operator['etcd'];
  private readonly cluster: SimCluster;

  constructor(cluster: SimCluster, meeting: EtcdMeeting) {
    this.cluster = cluster;
    this.etcd = meeting;
    meeting.faults = cluster.faults;
    meeting.describe = (name) => cluster.views.memberOf(name);
  }

  begin(): void {}

  join(name: string): void {
    if (!this.cluster.members.has(name)) this.cluster.add(name).start();
  }

  drain(name: string): void {
    void this.cluster.member(name).drain();
  }

  get activeNames(): readonly string[] {
    const names = this.cluster.healthy.map(({ name }) => name);
    return names.filter((name) => this.etcd?.reaches(name) === true);
  }
}

/** One simulated etcd and its clients. */
export class EtcdMeeting {
  private readonly etcd: SimulatedEtcd;
  private readonly clients = new Map<string, SimulatedClient>();
  private readonly world: World;
  private ends: ((toMs: number) => void)[] = [];
  /** Log in which an unreachable etcd is noted as a fault. */
  faults = new FaultLog();
  /** How a member is listed. */
  describe: (name: string) => ViewMember = (name) => viewMember(name);

  constructor(world: World, seed: number) {
    this.world = world;
    this.etcd = new SimulatedEtcd({ clock: trueClock(world), seed });
  }

  get away(): boolean {
    return this.etcd.away;
  }

  set away(away: boolean) {
    this.etcd.away = away;
    const { nowMs } = this.world;
    if (away) {
      const names = [...this.clients.keys()];
      this.ends = names.map((name) => this.faults.begin(name, 'view', 'etcd is away', nowMs));
      return;
    }
    const { ends } = this;
    this.ends = [];
    this.world.after(lingerMs, () => {
      for (const end of ends) end(this.world.nowMs);
    });
  }

  compact(): void {
    this.etcd.compact();
  }

  reaches(name: string): boolean {
    return this.clients.get(name)?.cut === false;
  }

  /** Cuts a member off from etcd; the returned function mends that. */
  cut(name: string): () => void {
    const client = this.clients.get(name);
    if (client === undefined) return () => {};
    client.cut = true;
    // To the others it is gone, and it hears of no view: as good as cut off from them.
    const end = this.faults.begin(name, 'network', 'cut off from etcd', this.world.nowMs);
    return () => {
      client.cut = false;
      this.world.after(lingerMs, () => end(this.world.nowMs));
    };
  }

  source(process: Process, random: { u32(): number; unit(): number }): ViewSource {
    const before = this.clients.get(process.name);
    if (before !== undefined) this.etcd.forget(before);
    const client = this.etcd.connect((fn) => process.arrive(fn), process);
    this.clients.set(process.name, client);
    const { phase: _, ...self } = this.describe(process.name);
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    return new EtcdSource({
      self,
      open: () =>
        Membership.open({ etcd: client, clock: process, random, log, prefix: 'sim/', ttlMs }),
      close: async () => this.etcd.forget(client),
      joinWaitMs: 3 * ttlMs,
      clock: process,
    });
  }
}

function quiet(): void {}

function trueClock(world: World): Clock {
  return {
    now: () => world.nowMs,
    wall: () => Math.floor(epochMs + world.nowMs),
    at: (atMs, fn) => {
      const event = world.at(atMs, fn);
      return () => {
        event.fn = null;
      };
    },
    soon: (fn) => void world.after(0, fn),
  };
}
