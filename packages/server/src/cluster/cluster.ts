/**
 * This member among the others. Answers the questions that the rest of a member has about them: where a record belongs,
 * which members to ask before a pop, whether a pop must wait; and hears of every record that changes, ends or was not
 * confirmed. The view is in `membership.ts`, the parts that move and compare records in `repair.ts`, the hello and the
 * cluster as operators see it in `cluster-report.ts`.
 */
import { type Env, type Network, State, type TimerRecord } from '@carillon/core';
import { LoadMeter } from '../metrics/load.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { Digests } from '../replication/digests.ts';
import { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { UnconfirmedNews } from '../replication/write.ts';
import { protocol } from '../replication/wire/frame.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import type { Hello } from '../replication/wire/hello.ts';
import { sameNames } from '../timer/merge.ts';
import type { Instant } from '../timer/schedule.ts';
import { ClusterReport } from './cluster-report.ts';
import type { Compare } from './compare.ts';
import { desiredReplicas, otherHolders } from './view/desired.ts';
import type { Awakening } from './disk/disk-care.ts';
import type { DiskReport } from './disk/disk-report.ts';
import { Membership } from './membership.ts';
import { copyResult, isTold, tellUnconfirmed } from './unconfirmed.ts';
import { Rejoining } from './view/rejoining.ts';
import { Repair } from './repair.ts';
import type { View } from './view/view.ts';

const nobody: readonly string[] = [];
/**
 * For this long after a change of the view records may be anywhere: the other members hear of the change, and say in
 * their next hello, a second later at most, that they go by another view or move records.
 */
const settleMs = 5000;

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
  readonly report: ClusterReport;
  private readonly rejoining: Rejoining;
  /** Of the newest view: its id, and when its members have told how they stand to it. */
  private known = { viewId: '', settledMs: 0 };
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
    this.report = new ClusterReport({
      ...parts,
      clock,
      boot: env.random.u32(),
      load: new LoadMeter(metrics, clock),
      membership: this.membership,
      peers: this.peers,
      replica: () => this.replica,
      repair: () => this.repair,
    });
  }

  get view(): View {
    return this.membership.view;
  }

  get compare(): Compare | null {
    return this.repair?.compare ?? null;
  }

  /**
   * Whether every member, also one that vanished and may come back, is known to be of a release that speaks this one's
   * protocol.
   */
  get isOfOneRelease(): boolean {
    const { members, vanished } = this.view;
    const reads = ({ name }: { readonly name: string }): boolean =>
      name === this.parts.self ||
      (this.repair?.presence.lastHello(name)?.protocolMax ?? 0) >= protocol.max;
    return this.membership.isKnown && [...members, ...vanished].every(reads);
  }

  /** This member may be out of date then, and others may have changed records that it holds without having told it. */
  get viewsDiffer(): boolean {
    return this.repair?.presence.differs(this.view.id) ?? false;
  }

  /**
   * Whether a record may be with another member than the view says, as far as this member can tell: the view is new,
   * or not everybody's, or a member has records that are on their way.
   */
  get isUnsettled(): boolean {
    const { repair, view } = this;
    if (repair === null) return false;
    if (this.parts.env.clock.now() < this.known.settledMs || repair.isMoving) return true;
    return view.namesIn('leaving').length > 0 || this.viewsDiffer || repair.presence.othersMove;
  }

  /**
   * Records that are still this member's to give away. Ended timers are among them: this member may be the only one
   * that knows of a cancel, or of a key that was used.
   */
  get remaining(): number {
    return this.replica?.store.size ?? 0;
  }

  /** The highest protocol that another member speaks, as last heard; 0: not heard of. */
  readonly protocolOf = (name: string): number =>
    this.repair?.presence.lastHello(name)?.protocolMax ?? 0;

  /** Timers with fewer copies than they want. */
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

  /** Both clocks; the wall clock corrected by the median of the cluster's. */
  instant(): Instant {
    const { clock } = this.parts.env;
    const offsetMs = this.repair?.presence.medianOffsetMs() ?? 0;
    return { nowMs: clock.now(), wallMs: clock.wall() + offsetMs };
  }

  /** The members that should hold a record now. */
  desired(record: TimerRecord): readonly string[] {
    const isAbsent = (name: string): boolean => this.repair?.presence.absent(name) ?? false;
    return desiredReplicas(this.view, record, record.factor, isAbsent);
  }

  /**
   * The other members that hold a record or should: asked before a pop, told after it. `widely`: also all others that
   * may have come to hold it while this member and the other replicas were away, or went by another view.
   */
  othersOf(record: TimerRecord, widely = false): readonly string[] {
    const { self } = this.parts;
    return this.peers === null ? nobody : otherHolders(this.view, record, self, widely);
  }

  /** The members to ask before a pop; `widely`: all that may hold the record. */
  askedOf(record: TimerRecord, widely: boolean): readonly string[] {
    if (this.peers === null) return nobody;
    const strange = this.viewsDiffer || this.givesAway(record) || this.isOfAnotherView(record);
    return this.othersOf(record, widely || strange);
  }

  /**
   * Whether this member's view wants a replica that the list does not name. A client's cancel goes by that view too:
   * where the replica is gone, the cancel is with a stand-in that this member does not know of.
   */
  private isOfAnotherView({ hi, lo, factor, replicas }: TimerRecord): boolean {
    return this.view.place(hi, lo, factor).some((name) => !replicas.includes(name));
  }

  /**
   * Whether this member holds the record for members that do not all have it yet. When one of these goes down again,
   * the record may also be with its stand-in, which does not know of this member, and which the list no longer names.
   */
  givesAway({ replicas }: TimerRecord): boolean {
    return !replicas.includes(this.parts.self);
  }

  /**
   * Whether a due pop must wait because its record may have changed or ended meanwhile. `slept`: it fell due before
   * this member was there; `stale`: or so soon after that others may not have told their news yet.
   */
  holds(handle: number, slept: boolean, stale: boolean): boolean {
    // A pop that fell due before the start has probably been made: wait until another member can say so.
    if (slept && this.repair?.presence.acquainted === false) return true;
    const listed = stale ? (this.replica?.store.replicasOf(handle) ?? nobody) : nobody;
    if (this.rejoining.awaits(this.view, listed)) return true;
    return this.repair?.doubts(handle) ?? false;
  }

  /** A record came in or moved on: see that it is where it belongs. `wanted`: `desired` of it, if known already. */
  changed(record: TimerRecord, wanted?: readonly string[]): void {
    const { repair } = this;
    if (repair === null) return;
    // A former replica learns of a change: it keeps its copy until the present ones have theirs.
    if (!record.replicas.includes(this.parts.self)) repair.handOff.add(record);
    const right = wanted ?? this.desired(record);
    if (sameNames(record.replicas, right)) return;
    repair.resync.noteIrregular(record);
    this.tellUnlisted(record, right);
  }

  /**
   * A change came by way of a member with another view, which did not ask the members that this view wants. One of them
   * may hold the timer as it was, and pop it. One that does not hold it does not take it: the record moves by resync.
   */
  private tellUnlisted(record: TimerRecord, wanted: readonly string[]): void {
    const { self } = this.parts;
    for (const name of wanted) {
      if (name === self || record.replicas.includes(name)) continue;
      this.peers?.send(name, { type: 'store', mode: 'update', record }, () => undefined);
    }
  }

  /**
   * Sends a new state of a record to the other replicas; a state that one of them misses is sent again later.
   * `unlisted`: other members that have it. One that has not heard of this member yet would not ask it before it pops.
   */
  tell(record: TimerRecord, unlisted: readonly string[] = nobody): void {
    const { peers, repair } = this;
    if (peers === null || repair === null) return;
    const others = this.othersOf(record);
    for (const name of unlisted) {
      if (others.includes(name)) continue;
      peers.send(name, { type: 'store', mode: 'update', record }, () => undefined);
    }
    for (const name of others) {
      peers.send(name, { type: 'store', mode: 'any', record }, (answer) => {
        this.parts.metrics.copies.add(copyResult(answer));
        if (!isTold(answer)) repair.unconfirmed.add(name, record);
      });
    }
  }

  /**
   * Some members did not confirm a record. One holder brings them a new timer; every holder brings them a change, as
   * they would pop the timer as it was.
   */
  unconfirmed(news: UnconfirmedNews): void {
    const { peers } = this;
    if (peers === null) return;
    const others = news.holders.filter((name) => name !== this.parts.self);
    const isHolder = others.length < news.holders.length;
    if (isHolder) this.noteUnconfirmed(news.number, news.names);
    if (!news.isNew)
      for (const name of others) tellUnconfirmed(peers, { ...news, holders: [name] });
    else if (!isHolder) tellUnconfirmed(peers, news);
  }

  noteUnconfirmed(number: Numbered, names: readonly string[]): void {
    const { repair, view } = this;
    if (repair === null) return;
    for (const name of names)
      if (view.member(name) !== undefined) repair.unconfirmed.add(name, number);
    repair.unconfirmed.pushAll();
  }

  /** A tombstone's or dead letter's time is over. */
  end(record: TimerRecord): void {
    const { replica, repair } = this;
    if (replica === null) return;
    if (record.state === State.dead) {
      const { nowMs: dueMs } = this.instant();
      const ended = { ...record, state: State.tombstone, dueMs, body: new Uint8Array(0) };
      replica.write(ended);
      this.tell(ended);
    } else if (repair === null) replica.drop(record);
    else repair.handOff.bury(record);
  }

  heardHello(from: string, hello: Hello): void {
    this.repair?.presence.heard(from, hello);
  }

  private viewRefreshed(view: View): void {
    const { metrics, env } = this.parts;
    metrics.viewMembers.set(view.members.length);
    if (view.id !== this.known.viewId)
      this.known = { viewId: view.id, settledMs: env.clock.now() + settleMs };
    const present = new Set(view.members.map(({ name }) => name));
    this.peers?.retain(new Set([...present, ...view.vanished.map(({ name }) => name)]));
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
      desired: (record) => this.desired(record),
      othersOf: (record) => this.othersOf(record),
      hello: () => this.report.hello(),
    });
  }
}
