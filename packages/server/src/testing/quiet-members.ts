/**
 * Members without HTTP, disk and pops, for tests of the parts in between: real replicas, clusters and requests, linked
 * by a network in memory where a message takes 1 ms. Time moves only when told to.
 */
import {
  type CarillonError,
  Deadlines,
  NumberSource,
  OpenNumbering,
  type TimerRecord,
  VersionClock,
} from '@carillon/core';
import { FakeCallbacks, MemoryHub, SeededRandom, VirtualClock } from '@carillon/core/testing';
import { Cluster } from '../cluster/cluster.ts';
import { DiskReport } from '../cluster/disk/disk-report.ts';
import { createHandler } from '../cluster/peer-handler.ts';
import type { ViewMember } from '../cluster/view/view.ts';
import { Metrics } from '../metrics/metrics.ts';
import { History } from '../pop/outcome/history.ts';
import type { Popper } from '../pop/popper.ts';
import { Digests } from '../replication/digests.ts';
import { createInbox } from '../replication/inbox.ts';
import { Replica, type ReplicaOptions } from '../replication/replica.ts';
import { hedgeMs, type UnconfirmedNews } from '../replication/write.ts';
import { RecordChanges } from '../request/change.ts';
import { ClientIds } from '../request/client-ids.ts';
import { Coordinator } from '../request/coordinator.ts';
import { Sets } from '../request/set.ts';
import { Store } from '../store/store.ts';
import { silentLog } from './one-member.ts';

const retention = { tombstoneMs: 3_600_000, idempotentMs: 3_600_000, letterMs: () => 3_600_000 };

/** A replica of member `a` in memory; the view asks for `a` and `b` unless told otherwise. */
export function replicaOf(options: Partial<ReplicaOptions> = {}): Replica {
  const { self = 'a' } = options;
  return new Replica({
    self,
    clock: new VirtualClock(),
    store: new Store(),
    journal: () => null,
    digests: new Digests(self, () => 0),
    versions: new VersionClock(),
    retention,
    desired: () => ['a', 'b'],
    onChange: () => undefined,
    ...options,
  });
}

export function memberOf(name: string, phase: ViewMember['phase'] = 'active'): ViewMember {
  return { name, address: `${name}:1`, peer: name, phase, weight: 1, labels: {} };
}

class QuietMember {
  readonly name: string;
  readonly metrics = new Metrics({ version: 'test', runtime: 'test' });
  readonly cluster: Cluster;
  readonly replica: Replica;
  readonly changes: RecordChanges;
  readonly sets: Sets;
  readonly coordinator: Coordinator;
  /** The reason that sets are refused with; null: they are taken. */
  refusal: CarillonError | null = null;

  constructor(name: string, clock: VirtualClock, hub: MemoryHub) {
    this.name = name;
    const random = new SeededRandom(name.charCodeAt(0));
    const network = hub.join(name);
    const callbacks = new FakeCallbacks(clock);
    const env = { clock, random, log: silentLog, disk: null, network, callbacks };
    const { metrics } = this;
    const store = new Store();
    const versions = new VersionClock();
    const cluster = new Cluster(
      {
        self: name,
        env,
        metrics,
        release: 'test',
        historySinceMs: () => 0,
        busy: () => false,
        disk: new DiskReport(() => false),
        factorDefault: 2,
        peerQueueLengthMax: 100_000,
        tombstoneRetentionMs: 3_600_000,
      },
      (hi, lo) => store.rangeOf(hi, lo),
    );
    const replica = replicaOf({
      self: name,
      clock,
      store,
      versions,
      digests: cluster.digests,
      desired: (record) => cluster.holders.desired(record),
      onSaved: (record, wanted) => cluster.news.changed(record, wanted),
    });
    const history = new History({ attemptCountMax: 9, timerCountMax: 9 });
    const { peers } = cluster;
    const distanceMs = (): number => Math.round(clock.wall() - clock.now());
    const parts = {
      self: name,
      clock,
      distanceMs,
      replica,
      peers,
      cluster,
      history,
      historyLog: null,
    };
    // Members that never pop are never asked for a claim.
    const handler = createHandler({ ...parts, popper: {} as Popper, facts: () => '{}' });
    void network.listen(createInbox(name, { ...env, delayOf: () => 0 }, handler));
    const request = {
      ...parts,
      hedges: new Deadlines(clock, hedgeMs),
      view: () => cluster.view,
      ids: new ClientIds(new OpenNumbering(), () => cluster.view),
      metrics,
      versions,
      numbers: new NumberSource(0),
      factorDefault: 2,
      instant: () => cluster.state.instant(),
      onUnconfirmed: (news: UnconfirmedNews) => cluster.news.unconfirmed(news),
      isUnsettled: () => cluster.state.isUnsettled,
      refuseSet: () => this.refusal,
      refuseRecord: () => null,
    };
    this.cluster = cluster;
    this.replica = replica;
    this.changes = new RecordChanges(request);
    this.sets = new Sets(request, this.changes);
    this.coordinator = new Coordinator(request, this.changes);
  }
}

export class QuietMembers {
  readonly clock = new VirtualClock();
  readonly hub = new MemoryHub({ clock: this.clock });
  private readonly byName = new Map<string, QuietMember>();
  private revision = 0;

  constructor(names: readonly string[]) {
    for (const name of names) this.byName.set(name, new QuietMember(name, this.clock, this.hub));
  }

  /** Starts all members, in a view of these. */
  static async start(names: readonly string[], inView = names): Promise<QuietMembers> {
    const all = new QuietMembers(names);
    all.show(inView.map((name) => memberOf(name)));
    for (const { cluster, replica } of all.byName.values()) {
      cluster.start(replica, { awaySinceMs: null, onMended: null });
    }
    await all.clock.advance(100);
    return all;
  }

  of(name: string): QuietMember {
    const member = this.byName.get(name);
    if (member === undefined) throw new Error(`There is no member ${name}.`);
    return member;
  }

  /** Every member learns of a new view. */
  show(members: readonly ViewMember[]): void {
    this.revision++;
    const spec = { source: 'static', revision: this.revision, members };
    for (const { cluster } of this.byName.values()) cluster.membership.apply(spec);
  }

  /** Lets time pass until the work is done; a second is enough for all that answers. */
  async until<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    await this.clock.advance(1000);
    return work;
  }

  /** Nothing gets to the member or from it. */
  cutOff(name: string): void {
    for (const other of this.byName.keys()) {
      this.hub.cut(name, other);
      this.hub.cut(other, name);
    }
  }

  heal(name: string): void {
    for (const other of this.byName.keys()) {
      this.hub.heal(name, other);
      this.hub.heal(other, name);
    }
  }

  /** The record's state at each member that holds it. */
  held({ hi, lo }: { readonly hi: number; readonly lo: number }): Record<string, TimerRecord> {
    const found: Record<string, TimerRecord> = {};
    for (const [name, { replica }] of this.byName) {
      const record = replica.get(hi, lo);
      if (record !== undefined) found[name] = record;
    }
    return found;
  }
}
