/**
 * This member among the others: the present view, who answers, and what keeps every record where it belongs.
 * Puts the parts of this folder together; each of them has one job and knows the others only through this.
 */
import { type Cancel, type Env, type Network, State, type TimerRecord } from '@carillon/core';
import type { ClusterView, MemberView } from '../metrics/status.ts';
import { LoadMeter } from '../metrics/load.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { Digests } from '../replication/digests.ts';
import { sameNames } from '../timer/merge.ts';
import { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Instant } from '../timer/schedule.ts';
import { type Numbered, protocol } from '../replication/wire.ts';
import type { Hello } from '../replication/wire-hello.ts';
import { Compare } from './compare.ts';
import { desiredReplicas, possibleHolders } from './desired.ts';
import type { DiskReport } from './disk-report.ts';
import { Doubt } from './doubt.ts';
import { HandOff } from './hand-off.ts';
import { Mending } from './mending.ts';
import { isTold, Missed, tellMissed } from './missed.ts';
import { Presence } from './presence.ts';
import { Rejoining } from './rejoining.ts';
import { Resync } from './resync.ts';
import { Vanished } from './vanished.ts';
import { type Phase, View, type ViewMember, type ViewSpec } from './view.ts';

const tickMs = 5000;
const compareMs = 60_000;
/** After a resync, so that what went wrong on the way is found soon. */
const checkAfterResyncMs = 3000;
const absentMs = 30_000;
const nobody: readonly string[] = [];

export interface ClusterParts {
  readonly self: string;
  readonly env: Env;
  readonly metrics: Metrics;
  readonly release: string;
  /** False only in scenarios that show what happens without it: copies are then moved by updates alone. */
  readonly repair: boolean;
  /** Since when this member's memory reaches back, on the monotonic clock. */
  readonly historySinceMs: () => number;
  /** Whether a callback for the timer is under way here. */
  readonly busy: (number: Numbered) => boolean;
  readonly disk: DiskReport;
}

/** What a member knows of itself when it starts. */
export interface Awakening {
  /** When it was last there, on the monotonic clock, if its records may be out of date; null: they are not. */
  readonly awaySinceMs: number | null;
  /** Called when everything that it has lost to damage was fetched, and nothing is in doubt; null: it has lost nothing. */
  readonly onMended: ((asked: number) => void) | null;
}

export class Cluster {
  private readonly parts: ClusterParts;
  private spec: ViewSpec | null = null;
  private current: View;
  private readonly boot: number;
  private readonly load: LoadMeter;
  private leaving = false;
  readonly digests: Digests;
  readonly peers: Peers | null;
  private replica: Replica | null = null;
  private others: Others | null = null;
  private doubt: Doubt | null = null;
  private mending: Mending | null = null;
  private readonly rejoining: Rejoining;
  private readonly vanished = new Vanished();
  private stopTicking: Cancel = () => {};
  private nextCompareMs = 0;

  constructor(parts: ClusterParts, rangeOf: (hi: number, lo: number) => number) {
    this.parts = parts;
    const { env, self } = parts;
    this.boot = env.random.u32();
    this.rejoining = new Rejoining(env.clock);
    this.load = new LoadMeter(parts.metrics, env.clock);
    this.current = new View({ source: 'none', revision: 0, members: [] });
    this.digests = new Digests(self, rangeOf);
    this.peers = env.network === null ? null : this.createPeers(env.network);
  }

  get view(): View {
    return this.current;
  }

  /** Both clocks; the wall clock corrected by the median of the cluster's. */
  instant(): Instant {
    const { clock } = this.parts.env;
    return {
      nowMs: clock.now(),
      wallMs: clock.wall() + (this.others?.presence.medianOffsetMs() ?? 0),
    };
  }

  /** Who should hold a record now. */
  desired(record: TimerRecord): readonly string[] {
    return desiredReplicas(this.current, record, record.factor, (name) => this.isAbsent(name));
  }

  /**
   * The other members that hold a record or should: asked before a pop, told after it. `widely`: also all others that
   * may have come to hold it while this member and the other replicas were away, or went by another view.
   */
  othersOf(record: TimerRecord, widely = false): readonly string[] {
    if (this.peers === null) return nobody;
    const { self } = this.parts;
    const { current } = this;
    const names = record.replicas.filter(
      (name) => name !== self && current.member(name) !== undefined,
    );
    const { hi, lo, factor } = record;
    for (const name of widely ? possibleHolders(current, record) : current.place(hi, lo, factor)) {
      if (name !== self && !names.includes(name)) names.push(name);
    }
    return names;
  }

  /** This member may be out of date then, and others may have changed what it holds without having told it. */
  get viewsDiffer(): boolean {
    return this.others?.presence.differs(this.current.id) ?? false;
  }

  /** Begins to look after the records of `replica`. */
  start(replica: Replica, { awaySinceMs, onMended }: Awakening): void {
    this.replica = replica;
    this.rejoining.start();
    if (this.peers === null) return onMended?.(0);
    this.others = this.createOthers(replica, this.peers);
    this.parts.metrics.missedRecords.read(() => this.repair().missedRecords);
    this.parts.metrics.underReplicated.read(() => this.repair().underReplicated);
    this.others.presence.start();
    if (awaySinceMs !== null) this.doubt = this.createDoubt(replica, this.peers, awaySinceMs);
    this.tick();
    if (this.spec !== null) this.rejoining.settled(this.current, () => this.resync());
    if (onMended !== null) this.mend(this.others, onMended);
  }

  /**
   * Whether a due pop must wait because its record may have changed or ended meanwhile. `slept`: it fell due before this
   * member was there; `stale`: or so soon after that others may not have told yet what they know.
   */
  holds(handle: number, slept: boolean, stale: boolean): boolean {
    // What fell due before the start has probably been popped: wait until somebody can say so.
    if (slept && this.others?.presence.acquainted === false) return true;
    const listed = stale ? (this.replica?.store.replicasOf(handle) ?? nobody) : nobody;
    if (this.rejoining.awaits(this.current, listed)) return true;
    return this.doubt !== null && (this.replica?.isDoubtful(handle) ?? false) && this.doubt.holds();
  }

  stop(): void {
    this.stopTicking();
    this.rejoining.stop();
    this.doubt?.stop();
    this.mending?.stop();
    this.others?.presence.stop();
    this.others?.resync.stop();
  }

  apply(spec: ViewSpec): void {
    this.spec = spec;
    this.refresh();
  }

  /** From now on this member hands its records on. */
  leave(): void {
    this.leaving = true;
    this.refresh();
  }

  /** … and from now on it keeps them after all. */
  stay(): void {
    this.leaving = false;
    this.refresh();
  }

  /** Looks at every record anew, as after a change of the view. Alone there is nowhere to move one. */
  resync(): void {
    if (this.parts.repair) this.others?.resync.start();
  }

  /** Records that are still this member's to give away. */
  get remaining(): number {
    const { live = 0, dead = 0 } = this.replica?.store.counts ?? {};
    return live + dead;
  }

  /** A record came in or moved on: see that it is where it belongs. */
  changed(record: TimerRecord): void {
    if (this.others === null) return;
    // A former replica learns of a change: it keeps its copy until the present ones have theirs.
    if (!record.replicas.includes(this.parts.self)) this.others.handOff.add(record);
    if (!this.parts.repair) return;
    if (!sameNames(record.replicas, this.desired(record))) this.others.resync.noteIrregular(record);
  }

  /** Sends a new state of a record to the other replicas; what they miss they get later. */
  tell(record: TimerRecord): void {
    const { peers, others } = this;
    if (peers === null || others === null) return;
    for (const name of this.othersOf(record)) {
      peers.send(name, { type: 'store', mode: 'any', record }, (answer) => {
        this.parts.metrics.copies.add(copyResult(answer?.type));
        if (!isTold(answer)) others.missed.add(name, record);
      });
    }
  }

  /** Some members did not confirm a record; `holders` did. */
  missed(record: TimerRecord, names: readonly string[], holders: readonly string[]): void {
    const [holder] = holders;
    if (holder === undefined || this.peers === null) return;
    if (holders.includes(this.parts.self)) return this.noteMissed(record, names);
    tellMissed(this.peers, { number: record, names, holders });
  }

  noteMissed(number: Numbered, names: readonly string[]): void {
    const { others, current } = this;
    if (others === null) return;
    const known = names.filter((name) => current.member(name) !== undefined);
    for (const name of known) others.missed.add(name, number);
    others.missed.pushAll();
  }

  /** A tombstone's or dead letter's time is over. */
  end(record: TimerRecord): void {
    const { replica } = this;
    if (replica === null) return;
    if (record.state === State.dead) {
      const ended = {
        ...record,
        state: State.tombstone,
        dueMs: this.instant().nowMs,
        body: new Uint8Array(0),
      };
      replica.write(ended);
      this.tell(ended);
    } else if (this.others === null) replica.drop(record);
    else this.others.handOff.bury(record);
  }

  hello(): Hello {
    const { replica } = this;
    return {
      release: this.parts.release,
      protocolMin: protocol.min,
      protocolMax: protocol.max,
      viewId: this.current.id,
      boot: this.boot,
      historyMs: this.parts.env.clock.now() - this.parts.historySinceMs(),
      leaving: this.leaving,
      full: replica?.full ?? false,
      disk: this.parts.disk.state,
      wallMs: this.parts.env.clock.wall(),
      timers: replica?.store.counts.live ?? 0,
      primaries: replica?.primaries ?? 0,
      load: this.load.now(),
    };
  }

  heardHello(from: string, hello: Hello): void {
    this.others?.presence.heard(from, hello);
  }

  get compare(): Compare | null {
    return this.others?.compare ?? null;
  }

  describe(): ClusterView {
    const { current, others } = this;
    const idle = { running: false, checked: 0, total: 0, moved: 0 };
    return {
      viewId: current.id,
      revision: current.revision,
      source: current.source,
      members: current.members.map((member) => this.describeMember(member.name)),
      resync: others?.resync.progress ?? idle,
      repair: this.repair(),
      damage: this.parts.disk.view(),
    };
  }

  private repair(): ClusterView['repair'] {
    const { others } = this;
    const underReplicated = (others?.handOff.size ?? 0) + (others?.resync.irregularCount ?? 0);
    return { missedRecords: others?.missed.size ?? 0, underReplicated };
  }

  private describeMember(name: string): MemberView {
    const member = this.current.member(name);
    const self = name === this.parts.self;
    const hello = self ? this.hello() : (this.others?.presence.lastHello(name) ?? null);
    return {
      name,
      address: member?.address ?? '',
      phase: this.shownPhase(name),
      weight: member?.weight ?? 0,
      labels: member?.labels ?? {},
      self,
      reachable: self || !(this.peers?.silent(name) ?? false),
      clockOffsetMs: self ? 0 : (this.others?.presence.offsetMs(name) ?? null),
      timers: hello?.timers ?? null,
      primaries: hello?.primaries ?? null,
      disk: hello?.disk ?? null,
      load: hello?.load ?? null,
    };
  }

  /** The source's view, with what members say of themselves laid over it. */
  private refresh(): void {
    const { spec } = this;
    if (spec === null) return;
    const { env, metrics } = this.parts;
    const members = spec.members.map((member) => ({ ...member, phase: this.phaseOf(member) }));
    const before = this.current.id;
    this.vanished.update(this.current.members, members, env.clock.now());
    this.current = new View({ ...spec, members, vanished: this.vanished.members });
    const view = this.current;
    if (view.id !== before) {
      env.log.info('The view has changed.', {
        viewId: view.id,
        source: view.source,
        members: members.map(({ name }) => `${name} ${this.shownPhase(name)}`),
      });
    }
    metrics.viewMembers.set(view.members.length);
    const present = new Set(view.members.map(({ name }) => name));
    this.peers?.retain(new Set([...present, ...view.vanished.map(({ name }) => name)]));
    this.others?.missed.retain(present);
    // Nothing is moved for members that will be back in a moment.
    this.rejoining.settled(view, () => this.resync());
  }

  /**
   * What a member does: it leaves as soon as it says so. One that joins by a members file takes part as soon as it answers;
   * with etcd it says itself when it is ready.
   */
  private phaseOf({ name, phase }: ViewMember): Phase {
    const self = name === this.parts.self;
    const presence = this.others?.presence;
    if (self ? this.leaving : presence?.leaving(name) === true) return 'leaving';
    if (phase !== 'joining' || this.spec?.source !== 'static') return phase;
    return self || (presence?.lastHello(name) ?? null) !== null ? 'active' : 'joining';
  }

  /** What people are told of it: who takes part and is called joining by the members file is still being given its timers. */
  private shownPhase(name: string): Phase | 'gone' {
    const phase = this.current.member(name)?.phase;
    if (phase !== 'active') return phase ?? 'gone';
    return this.spec?.members.find((member) => member.name === name)?.phase ?? phase;
  }

  private createPeers(network: Network): Peers {
    const { self, env, metrics } = this.parts;
    return new Peers({
      self,
      clock: env.clock,
      log: env.log,
      network,
      addressOf: (name) => this.current.peerOf(name),
      onBack: (name) => {
        if (this.parts.repair) this.others?.missed.push(name);
      },
      onFrame: (answered) => metrics.peerCalls.add(answered ? 'answered' : 'unanswered'),
    });
  }

  private createOthers(replica: Replica, peers: Peers): Others {
    const { self, env, metrics, repair } = this.parts;
    const { clock, random } = env;
    const sent = (): void => metrics.repaired.add('sent');
    const received = (): void => metrics.repaired.add('received');
    const compare = new Compare({
      replica,
      peers,
      digests: this.digests,
      onSent: sent,
      onReceived: received,
    });
    const missed = new Missed({
      replica,
      peers,
      onOverflow: (name) => compare.start(name),
      onSent: sent,
    });
    const handOff = new HandOff({
      self,
      clock,
      replica,
      peers,
      busy: this.parts.busy,
      onMissed: (name, number) => missed.add(name, number),
      onDropped: () => metrics.resynced.add('dropped'),
      onPushed: () => metrics.resynced.add('pushed'),
    });
    const present = (name: string): boolean =>
      name === self || (this.current.member(name) !== undefined && !peers.silent(name));
    const resync = new Resync({
      self,
      clock,
      replica,
      handOff,
      desired: (record) => this.desired(record),
      present,
      lasting: (name) => this.current.member(name)?.phase === 'active',
      able: (name) => present(name) && !(name === self ? replica.full : presence.full(name)),
      onFinished: () => this.compareSoon(),
      onUnchanged: () => metrics.resynced.add('unchanged'),
    });
    const presence = new Presence({
      clock,
      random,
      peers,
      others: () => this.otherNames(),
      hello: () => this.hello(),
      absentMs: repair ? absentMs : Number.POSITIVE_INFINITY,
      onChange: () => this.refresh(),
      onMet: (name) => {
        if (this.current.member(name)?.phase === 'joining') this.refresh();
      },
      onRestart: (name) => {
        if (repair) compare.start(name);
      },
    });
    return { compare, missed, handOff, resync, presence };
  }

  private createDoubt(replica: Replica, peers: Peers, awaySinceMs: number): Doubt {
    replica.doubtAll();
    const doubt = new Doubt({
      clock: this.parts.env.clock,
      replica,
      peers,
      othersOf: (record) => this.othersOf(record).filter((name) => !this.isAbsent(name)),
      historyMs: (name) => this.others?.presence.lastHello(name)?.historyMs ?? null,
      awaySinceMs,
    });
    doubt.start();
    return doubt;
  }

  /** Fetches what this member has lost. */
  private mend({ compare }: Others, onMended: (asked: number) => void): void {
    this.mending = new Mending({
      clock: this.parts.env.clock,
      others: () => this.otherNames(),
      absent: (name) => this.isAbsent(name),
      compare: (name, done) => compare.start(name, done),
      doubtfulCount: () => this.replica?.doubtfulCount ?? 0,
      onDone: onMended,
    });
    this.mending.start();
  }

  private isAbsent(name: string): boolean {
    return this.others?.presence.absent(name) ?? false;
  }

  private otherNames(): readonly string[] {
    return this.current.members.map(({ name }) => name).filter((name) => name !== this.parts.self);
  }

  private compareSoon(): void {
    this.nextCompareMs = this.parts.env.clock.now() + checkAfterResyncMs;
  }

  /** What nobody asks for but has to happen now and then. */
  private tick(): void {
    const { env, repair } = this.parts;
    const { clock, random } = env;
    const nowMs = clock.now();
    if (repair) {
      this.others?.missed.pushAll();
      if (nowMs >= this.nextCompareMs) {
        this.nextCompareMs = nowMs + compareMs * (0.8 + 0.4 * random.unit());
        for (const name of this.otherNames())
          if (!this.peers?.silent(name)) this.compare?.start(name);
      }
    }
    this.stopTicking = clock.at(nowMs + tickMs * (0.9 + 0.2 * random.unit()), () => this.tick());
  }
}

interface Others {
  readonly compare: Compare;
  readonly missed: Missed;
  readonly handOff: HandOff;
  readonly resync: Resync;
  readonly presence: Presence;
}

function copyResult(type: string | undefined): 'stored' | 'kept' | 'refused' | 'unanswered' {
  if (type === 'stored') return 'stored';
  if (type === 'have') return 'kept';
  return type === 'refused' ? 'refused' : 'unanswered';
}
