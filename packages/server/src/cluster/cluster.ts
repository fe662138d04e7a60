/**
 * This member among the others: creates, starts and stops the parts that know about them. The view is in
 * `membership.ts`; where a record belongs, and which members to ask before a pop, in `holders.ts`; news of records for
 * other members in `record-news.ts`; the parts that move and compare records in `repair.ts`; the cluster as this member
 * sees it in `cluster-state.ts`, and as operators see it in `cluster-report.ts`.
 */
import type { Env, Network } from '@carillon/core';
import { LoadMeter } from '../metrics/load.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { Digests } from '../replication/digests.ts';
import { FrameDelays } from '../replication/frame-delays.ts';
import { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import type { DelayOf } from '../replication/wire/frame.ts';
import type { Hello } from '../replication/wire/hello.ts';
import { ClusterReport } from './cluster-report.ts';
import { ClusterState } from './cluster-state.ts';
import type { Compare } from './compare.ts';
import type { Awakening } from './disk/disk-care.ts';
import type { DiskReport } from './disk/disk-report.ts';
import { Holders } from './holders.ts';
import { Membership } from './membership.ts';
import { RecordNews } from './record-news.ts';
import { Repair } from './repair.ts';
import { Rejoining } from './view/rejoining.ts';
import type { View } from './view/view.ts';

export interface ClusterParts {
  readonly self: string;
  readonly env: Env;
  readonly metrics: Metrics;
  readonly release: string;
  /** Since when this member's memory reaches back, on the monotonic clock. */
  readonly historySinceMs: () => number;
  /** Whether a callback for the timer is under way here. */
  readonly busy: (number: Numbered) => boolean;
  readonly disk: DiskReport;
  /** Replicas of a timer whose client names no factor. */
  readonly factorDefault: number;
  /** Messages that wait for one peer; messages beyond that are left to repair. */
  readonly peerQueueLengthMax: number;
  readonly tombstoneRetentionMs: number;
}

export class Cluster {
  private readonly parts: ClusterParts;
  readonly membership: Membership;
  readonly digests: Digests;
  /** null: alone. */
  readonly peers: Peers | null;
  private readonly delays = new FrameDelays();
  readonly state: ClusterState;
  readonly holders: Holders;
  readonly news: RecordNews;
  readonly report: ClusterReport;
  private readonly rejoining: Rejoining;
  private replica: Replica | null = null;
  /** null: alone, or not started yet. */
  private repair: Repair | null = null;

  constructor(parts: ClusterParts, rangeOf: (hi: number, lo: number) => number) {
    this.parts = parts;
    const { env, self, metrics } = parts;
    const { clock, log } = env;
    this.rejoining = new Rejoining(clock);
    this.membership = new Membership({
      ...parts,
      clock,
      log,
      lastHello: (name) => this.repair?.presence.lastHello(name) ?? null,
      onRefreshed: (view) => this.viewRefreshed(view),
      onLeaves: () => this.repair?.presence.sayHello(),
    });
    this.digests = new Digests(self, rangeOf);
    this.peers = env.network === null ? null : this.createPeers(env.network);
    const own = {
      ...parts,
      clock,
      isAlone: this.peers === null,
      rejoining: this.rejoining,
      membership: this.membership,
      peers: this.peers,
      replica: () => this.replica,
      repair: () => this.repair,
    };
    this.state = new ClusterState(own);
    this.holders = new Holders({ ...own, state: this.state });
    this.news = new RecordNews({ ...own, holders: this.holders });
    const load = new LoadMeter(metrics, clock);
    this.report = new ClusterReport({ ...own, boot: env.random.u32(), load });
  }

  get view(): View {
    return this.membership.view;
  }

  get compare(): Compare | null {
    return this.repair?.compare ?? null;
  }

  /**
   * Records that are still this member's to give away. Ended timers are among them: this member may be the only one
   * that knows of a cancel, or of a key that was used.
   */
  get remaining(): number {
    return this.replica?.store.size ?? 0;
  }

  /** Timers, ended ones among them, that are not known to be with all members that should hold them. */
  get underReplicated(): number {
    return this.repair?.counts.underReplicated ?? 0;
  }

  /** Begins to look after the records of `replica`. */
  start(replica: Replica, { awaySinceMs, onMended }: Awakening): void {
    this.replica = replica;
    this.rejoining.start();
    if (this.peers === null) return onMended?.(0);
    this.repair = this.createRepair(replica, this.peers);
    this.repair.start(awaySinceMs);
    if (this.membership.isKnown) this.rejoining.settled(this.view, () => this.resync());
    if (onMended !== null) this.repair.mend(onMended);
  }

  stop(): void {
    this.rejoining.stop();
    this.repair?.stop();
  }

  /** Looks at every record anew, as after a change of the view. Alone there is nowhere to move one. */
  resync(): void {
    this.repair?.resync.start();
  }

  /** How long a frame from another member was on its way. */
  readonly delayOf: DelayOf = (from, written, read) => this.delays.of(from, written, read);

  heardHello(from: string, hello: Hello): void {
    this.repair?.presence.heard(from, hello);
  }

  private viewRefreshed(view: View): void {
    this.parts.metrics.viewMembers.set(view.members.length);
    this.state.noteView(view);
    const present = new Set(view.members.map(({ name }) => name));
    const known = new Set([...present, ...view.vanished.map(({ name }) => name)]);
    this.peers?.retain(known);
    this.delays.retain(known);
    this.repair?.unconfirmed.retain(present);
    // Nothing is moved for members that will be back in a moment.
    this.rejoining.settled(view, () => this.resync());
  }

  private createPeers(network: Network): Peers {
    const { self, env, metrics } = this.parts;
    return new Peers({
      self,
      clock: env.clock,
      log: env.log,
      network,
      addressOf: (name) => this.view.peerOf(name),
      queueLengthMax: this.parts.peerQueueLengthMax,
      delayOf: this.delayOf,
      onBack: (name) => this.repair?.unconfirmed.push(name),
      onFrame: (answered) => metrics.peerCalls.add(answered ? 'answered' : 'unanswered'),
    });
  }

  private createRepair(replica: Replica, peers: Peers): Repair {
    return new Repair({
      ...this.parts,
      replica,
      peers,
      digests: this.digests,
      membership: this.membership,
      desired: (record) => this.holders.desired(record),
      othersOf: (record) => this.holders.othersOf(record),
      onUnconfirmed: (number, names) => this.news.noteUnconfirmed(number, names),
      onTrusted: (record) => this.news.changed(record),
      hello: () => this.report.hello(),
    });
  }
}
