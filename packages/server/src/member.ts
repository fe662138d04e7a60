/**
 * One member: wires the parts together, starts, drains and stops them. The only file that knows them all. Runs on the
 * `Env` it is given; production and the simulator differ in nothing else.
 */
import {
  CarillonError,
  type DiskError,
  type Env,
  type Numbering,
  NumberSource,
  openNumbering,
  sleep,
  type Timing,
  VersionClock,
} from '@carillon/core';
import { Access } from './access/access.ts';
import { rateOf } from './access/rate-limit.ts';
import { createRouter } from './api/routes/create-router.ts';
import type { ReadRings } from './api/routes/locks.ts';
import type { Route, Router } from './api/router.ts';
import type { MemberControl } from './request/service.ts';
import { Cluster } from './cluster/cluster.ts';
import type { ViewSource } from './cluster/sources/source.ts';
import type { Config } from './config/config.ts';
import { Writing } from './request/change.ts';
import { Coordinator, type CoordinatorParts } from './request/coordinator.ts';
import { type Awakening, DiskCare } from './cluster/disk/disk-care.ts';
import { Metrics } from './metrics/metrics.ts';
import { Batches } from './pop/sending/batches.ts';
import { createPopper } from './pop/create-popper.ts';
import { Destinations } from './pop/sending/destinations.ts';
import { History } from './pop/outcome/history.ts';
import type { Popper } from './pop/popper.ts';
import { Signers } from './callback/signers.ts';
import { Deadlines } from './replication/deadlines.ts';
import { createHandler } from './cluster/peer-handler.ts';
import { createInbox } from './replication/inbox.ts';
import { Replica } from './replication/replica.ts';
import { NamespaceRates } from './access/namespace-rates.ts';
import { QuotaTable } from './quotas/quota-table.ts';
import { FullBoxes, isBoxFull, refuseMore, refuseRecord, type RoomParts } from './quotas/room.ts';
import { ClientIds } from './request/client-ids.ts';
import { Setting, type SettingParts } from './request/set.ts';
import { hedgeMs } from './replication/write.ts';
import { Journal } from './store/journal/journal.ts';
import { Store } from './store/store.ts';

/** How far ahead of its clock a member reserves numbers, so that none repeats after a restart. */
const reserveMs = 60_000;
const housekeepingMs = 5000;
const markMs = 60_000;
const drainPollMs = 100;
const deadLetterRetentionMs = 30 * 86_400_000;
/** Sets wait outside while this much is appended and not yet synced. */
const backlogBytesMax = 64 * 1024 * 1024;
/** A batched callback that has grown to this leaves without more. */
const batchLengthMax = 1024 * 1024;

export interface MemberOptions {
  /** Stays the same over restarts. */
  readonly name: string;
  readonly env: Env;
  readonly config: Config;
  readonly source: ViewSource;
  readonly release: { readonly version: string; readonly runtime: string };
  /** The disk failed: nothing that was not synced can be trusted, so the member must not go on. */
  readonly onFailed: (error: unknown) => void;
  /** Everything was handed on: the process may end. */
  readonly onDrained?: () => void;
  /** Authentication and permissions; default: every caller may do everything. */
  readonly access?: Access;
  /** Reads lock rings in etcd; default: none can be seen. */
  readonly readRings?: ReadRings | null;
  /** Quotas of namespaces; default: as configured, for ever. */
  readonly quotas?: QuotaTable;
  /** Maps the numbers that clients see to the numbers that members keep; the same at all members. Default: without a key. */
  readonly numbering?: Numbering;
  /** Beside the API: the dashboard. */
  readonly routes?: (control: MemberControl, metrics: Metrics) => readonly Route[];
}

export class Member {
  private readonly options: MemberOptions;
  readonly metrics: Metrics;
  readonly store = new Store();
  private readonly history: History;
  private readonly versions = new VersionClock();
  private readonly cluster: Cluster;
  private readonly ids: ClientIds;
  private journal: Journal | null = null;
  private readonly diskCare: DiskCare;
  private replica: Replica;
  private readonly quotas: QuotaTable;
  private readonly room: RoomParts;
  private readonly signers: Signers;
  private readonly destinations: Destinations;
  private popper: Popper;
  private readonly writing: Writing;
  private numbers = new NumberSource(0);
  /** How far back this member remembers. */
  private historySinceMs: number;
  private awakening: Awakening = { awaySinceMs: null, onMended: null };
  private phase: 'starting' | 'serving' | 'draining' | 'stopping' = 'starting';
  private draining: Promise<void> | null = null;
  private stopHousekeeping: () => void = () => {};
  readonly router: Router;

  private constructor(options: MemberOptions) {
    this.options = options;
    const { env, name } = options;
    this.metrics = new Metrics(options.release);
    this.history = new History(options.config.history);
    this.historySinceMs = env.clock.now();
    this.diskCare = this.createDiskCare();
    this.cluster = new Cluster(
      {
        self: name,
        env,
        metrics: this.metrics,
        release: options.release.version,
        historySinceMs: () => this.historySinceMs,
        busy: (number) => this.popper.calling(number),
        disk: this.diskCare.report,
        factorDefault: options.config.defaultFactor,
        peerQueueLengthMax: options.config.limits.peerQueueLengthMax,
      },
      (hi, lo) => this.store.rangeOf(hi, lo),
    );
    this.ids = new ClientIds(options.numbering ?? openNumbering, () => this.cluster.view);
    this.quotas = options.quotas ?? new QuotaTable(options.config);
    this.replica = this.createReplica();
    this.room = { quotas: this.quotas, usage: this.replica.usage, limits: options.config.limits };
    this.signers = new Signers(options.config.callbacks.signingSecrets);
    this.destinations = this.createDestinations();
    this.popper = this.createPopper();
    const requestParts = this.requestParts();
    this.writing = new Writing(requestParts);
    this.router = this.createRouter(requestParts);
    this.metrics.timers.read(() => this.timerCounts());
    const boxes = new FullBoxes(this.room);
    this.metrics.letterBoxesFull.read(() => boxes.count());
    this.metrics.overdue.read(() => this.popper.waitingCount);
    this.metrics.primaries.read(() => this.replica.primaries);
    this.metrics.primaryLetters.read(() => this.replica.primaryLetters);
    this.metrics.journalBytes.read(() => this.journal?.snapshots.segmentBytes ?? 0);
    this.metrics.journalRecords.read(() => this.journal?.recordCount ?? 0);
  }

  /** Recovers the records on disk, joins the others, and begins to pop. */
  static async start(options: MemberOptions): Promise<Member> {
    const member = new Member(options);
    await member.recover();
    await options.source.start((spec) => member.cluster.membership.apply(spec));
    await options.env.network?.listen(
      createInbox(options.name, options.env, createHandler(member.readParts())),
    );
    member.cluster.start(member.replica, member.awakening);
    member.phase = 'serving';
    member.popper.wakeUp();
    member.housekeep();
    await options.source.ready();
    return member;
  }

  get name(): string {
    return this.options.name;
  }

  /** Records that this member still has to hand on. */
  get remaining(): number {
    return this.cluster.remaining;
  }

  /** Callbacks under way. */
  get busy(): number {
    return this.popper.activeCount;
  }

  /** Starts due pops before other work: the listener calls it ahead of each request. */
  readonly poll = (): void => this.popper.poll();

  /** Hands every record to other members; resolves when none is left here. A member that cannot stays. Twice is once. */
  drain(): Promise<void> {
    this.draining ??= this.handOver().finally(() => {
      this.draining = null;
    });
    return this.draining;
  }

  private async handOver(): Promise<void> {
    const { env, config } = this.options;
    if (!this.hasOthers()) {
      throw new CarillonError(
        'conflict',
        'There is no other active member that could take the timers.',
      );
    }
    this.phase = 'draining';
    this.cluster.membership.leave();
    await this.tellSource('leave');
    const untilMs = env.clock.now() + config.shutdown.drainLimitMs;
    while (this.cluster.remaining > 0) {
      if (env.clock.now() > untilMs || !this.hasOthers()) return this.stay();
      await sleep(env.clock, drainPollMs);
    }
    this.options.onDrained?.();
  }

  /** Whether there is a member to take the timers. Two members that drain at the same moment find that there is none. */
  private hasOthers(): boolean {
    const { name } = this.options;
    return this.cluster.view.members.some((m) => m.name !== name && m.phase === 'active');
  }

  /** Takes part again, because a drain did not come to its end. */
  private async stay(): Promise<never> {
    const { remaining } = this.cluster;
    this.phase = 'serving';
    this.cluster.membership.stay();
    await this.tellSource('ready');
    throw new CarillonError('overloaded', `${remaining} timers could not be handed on in time.`);
  }

  /** The others hear of it from this member itself too: a source that does not answer holds up nothing. */
  private async tellSource(what: 'leave' | 'ready'): Promise<void> {
    const { env, source } = this.options;
    try {
      await source[what]();
    } catch (error) {
      env.log.warn('The source of the view was not told.', { what, reason: String(error) });
    }
  }

  /** Finishes requests and callbacks in flight, within the configured limit, and closes everything. */
  async stop(): Promise<void> {
    const { env, config, source } = this.options;
    this.phase = 'stopping';
    this.stopHousekeeping();
    this.diskCare.stop();
    this.popper.stop();
    const untilMs = env.clock.now() + config.shutdown.limitMs;
    while (this.popper.activeCount > 0 && env.clock.now() < untilMs) await sleep(env.clock, 10);
    this.cluster.stop();
    // Results of pops that are still to be replicated go out first: without them other members would pop again.
    while (this.cluster.peers?.owed === true && env.clock.now() < untilMs)
      await sleep(env.clock, 10);
    await source.stop();
    await env.network?.close();
    await this.destinations.close();
    await this.journal?.close();
  }

  private async recover(): Promise<void> {
    const { disk, clock, log } = this.options.env;
    if (disk === null) return;
    this.journal = await Journal.open({
      disk,
      clock,
      log,
      identity: this.identity,
      replay: {
        put: (record) => this.replica.restore(record),
        drop: (hi, lo) => this.replica.forget(hi, lo),
      },
      onFailed: (error: DiskError) => this.options.onFailed(error),
      onSync: (tookMs) => this.metrics.journalSync.observe(tookMs),
    });
    const { marked } = this.journal;
    const { historySinceMs, awakening } = await this.diskCare.begin(disk, this.journal);
    this.historySinceMs = historySinceMs;
    this.awakening = awakening;
    // No mark before this member is among the others: one whose start fails now is still away.
    this.numbers = new NumberSource(marked);
  }

  /** Whose records are on its disk. */
  private get identity(): string {
    const { config, name } = this.options;
    return `${config.cluster.name}/${name}`;
  }

  private createDiskCare(): DiskCare {
    const { env, config } = this.options;
    return new DiskCare({
      clock: env.clock,
      log: env.log,
      metrics: this.metrics,
      identity: this.identity,
      scrubIntervalMs: config.scrubIntervalMs,
      tombstoneRetentionMs: config.tombstoneRetentionMs,
      reserveMs,
    });
  }

  private createReplica(): Replica {
    const { name, env, config } = this.options;
    return new Replica({
      self: name,
      clock: env.clock,
      instant: () => this.cluster.instant(),
      store: this.store,
      journal: () => this.journal,
      digests: this.cluster.digests,
      versions: this.versions,
      retention: {
        tombstoneMs: config.tombstoneRetentionMs,
        idempotentMs: config.idempotencyRetentionMs,
        deadLetterMs: deadLetterRetentionMs,
      },
      desired: (record) => this.cluster.desired(record),
      onTaken: (record) => this.diskCare.taken(record),
      onChange: (handle, record) => this.popper.changed(handle, record),
      onSaved: (record, wanted) => this.cluster.changed(record, wanted),
    });
  }

  private createPopper(): Popper {
    const { name, env, config } = this.options;
    const { store, replica, metrics, history, cluster } = this;
    const own = { self: name, env, store, replica, metrics, history };
    return createPopper({
      ...own,
      cluster: {
        peers: cluster.peers,
        instant: () => cluster.instant(),
        idOf: (record) => this.ids.of(record),
        othersOf: (record, widely) => cluster.othersOf(record, widely || cluster.viewsDiffer),
        holds: (handle, slept, stale) => cluster.holds(handle, slept, stale),
        tell: (record) => cluster.tell(record),
        keep: (record, done) => this.writing.keep(record, done),
        end: (record) => cluster.end(record),
      },
      batches: this.createBatches(),
      limits: {
        activeCountMax: config.limits.popQueueLengthMax + config.callbacks.inFlightMax,
        callbackTimeoutMs: config.callbacks.timeoutMs,
        retry: config.retry,
      },
      isBoxFull: (namespace) => isBoxFull(this.room, namespace),
      keepsAnswers: (namespace) => this.quotas.of(namespace).keepAnswers,
    });
  }

  private createBatches(): Batches {
    const { env, config } = this.options;
    return new Batches({
      clock: env.clock,
      destinations: this.destinations,
      instant: () => this.cluster.instant(),
      signer: (namespace) => this.signers.of(namespace),
      limits: { countMax: config.callbacks.batchCountMax, lengthMax: batchLengthMax },
      queueLengthMax: config.limits.popQueueLengthMax / 2,
    });
  }

  private createDestinations(): Destinations {
    const { env, config } = this.options;
    const { inFlightMax, inFlightPerDestinationMax, timeoutMs } = config.callbacks;
    const destinations = new Destinations({
      clock: env.clock,
      callbacks: env.callbacks,
      inFlightMax,
      inFlightPerDestinationMax,
      usualLimitMs: timeoutMs,
      shareOf: (namespace) => this.quotas.of(namespace).callbackShare,
      // Never full: the popper takes no more than this from the wheel.
      queueLengthMax: config.limits.popQueueLengthMax,
    });
    this.metrics.callbacksInFlight.read(() => destinations.inFlight);
    this.metrics.callbacksQueued.read(() => destinations.queued);
    this.metrics.breakersOpen.read(() => destinations.breakersOpen);
    return destinations;
  }

  private requestParts(): SettingParts & CoordinatorParts {
    const { config } = this.options;
    return {
      ...this.readParts(),
      hedges: new Deadlines(this.options.env.clock, hedgeMs),
      view: () => this.cluster.view,
      metrics: this.metrics,
      versions: this.versions,
      numbers: { next: (wallMs: number, member: number) => this.nextNumber(wallMs, member) },
      factorDefault: config.defaultFactor,
      instant: () => this.cluster.instant(),
      onUnconfirmed: (record, names, holders) => this.cluster.unconfirmed(record, names, holders),
      refuseSet: (namespace, timing) => this.refuseSet(namespace, timing),
      refuseRecord: (namespace) => refuseRecord(this.room, namespace),
    };
  }

  private createRouter(parts: SettingParts & CoordinatorParts): Router {
    const { env, config, onFailed, release, routes } = this.options;
    const control: MemberControl = {
      cluster: () => this.cluster.report.describe(),
      drain: () => this.drain(),
      resync: () => this.cluster.resync(),
      unready: () => this.unready(),
    };
    return createRouter({
      access: this.options.access ?? this.openAccess(),
      routes: routes?.(control, this.metrics) ?? [],
      readRings: this.options.readRings ?? null,
      strict: (namespace) => this.quotas.of(namespace).strict,
      service: new Coordinator(parts, this.writing),
      sets: new Setting(parts, this.writing),
      control,
      metrics: this.metrics,
      log: env.log,
      clock: env.clock,
      config,
      version: release.version,
      bug: onFailed,
    });
  }

  /** Access for a member without tokens: every caller may do everything. */
  private openAccess(): Access {
    const { clock } = this.options.env;
    const namespaceRates = new NamespaceRates(this.quotas);
    return new Access({ clock, rate: rateOf(this.options.config.limits), namespaceRates });
  }

  private readParts() {
    const { env, name } = this.options;
    const { cluster, popper, replica, history, ids } = this;
    const { peers } = cluster;
    return { self: name, clock: env.clock, replica, peers, cluster, popper, history, ids };
  }

  /** A number that was never given out before, not even before a restart with a clock that went back. */
  private nextNumber(wallMs: number, member: number): { hi: number; lo: number } {
    const { journal } = this;
    if (
      journal !== null &&
      Math.max(wallMs, this.numbers.usedMs) > journal.marked - reserveMs / 2
    ) {
      journal.mark(Math.max(wallMs, this.numbers.usedMs) + reserveMs);
    }
    return this.numbers.next(wallMs, member);
  }

  private refuseSet(namespace: string, timing: Timing): CarillonError | null {
    if (this.phase === 'stopping')
      return new CarillonError('stopping', 'This member is stopping; ask another one.');
    if (this.replica.full) {
      return new CarillonError(
        'disk_full',
        'The disk of this member is full; pops and cancels go on, new timers cannot be stored.',
      );
    }
    if ((this.journal?.backlogBytes ?? 0) > backlogBytesMax) {
      return new CarillonError('overloaded', 'The disk cannot keep up with the writes.');
    }
    return refuseMore(this.room, namespace, timing);
  }

  private unready(): string | null {
    if (this.phase === 'starting') return 'The member is starting.';
    if (this.phase === 'draining') return 'The member hands its timers on and will leave.';
    if (this.phase === 'stopping') return 'The member is stopping.';
    return this.replica.full ? 'The disk is full.' : null;
  }

  private timerCounts() {
    const { live, dead, tombstone } = this.store.counts;
    const { retrying } = this.replica;
    return { pending: live - retrying, retrying, dead, tombstone };
  }

  private housekeep(): void {
    const { clock, log } = this.options.env;
    const { journal } = this;
    const failed = (error: unknown): void =>
      log.error('The upkeep of the journal failed.', { reason: String(error) });
    if (journal?.snapshots.pays(this.store.rowBytes) === true) {
      journal.snapshots
        .take(this.store.records())
        .then((done) => done && this.metrics.snapshots.add(), failed);
    }
    if (this.cluster.isOfOneRelease) journal?.beginNewestForm().catch(failed);
    journal?.note().catch(failed);
    // So that a later start knows how long this member was away.
    if (journal !== null && clock.wall() > journal.marked - reserveMs + markMs) {
      journal.mark(clock.wall() + reserveMs);
      journal.commit(() => undefined);
    }
    const nextMs = clock.now() + housekeepingMs;
    this.stopHousekeeping = clock.at(nextMs, () => {
      this.metrics.eventLoopLag.observe(clock.now() - nextMs);
      this.housekeep();
    });
  }
}
