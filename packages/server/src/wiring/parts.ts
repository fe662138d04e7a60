/**
 * The parts of a member, connected: each part declares its needs, and they are met here. The parts know nothing of
 * the phases of a member; `member.ts` starts, drains and stops them.
 */
import {
  Deadlines,
  NumberSource,
  OpenNumbering,
  State,
  VersionClock,
  type TimerRecord,
} from '@carillon/core';
import { Signers } from '../callback/signers.ts';
import { Cluster } from '../cluster/cluster.ts';
import { DiskCare } from '../cluster/disk/disk-care.ts';
import { Telling } from '../events/telling.ts';
import type { HistoryLog } from '../history/log.ts';
import { Metrics } from '../metrics/metrics.ts';
import { createPopper } from '../pop/create-popper.ts';
import { History } from '../pop/outcome/history.ts';
import type { Popper } from '../pop/popper.ts';
import { Batches } from '../pop/sending/batches.ts';
import { Destinations } from '../pop/sending/destinations.ts';
import { QuotaTable } from '../quotas/quota-table.ts';
import { FullBoxes, isBoxFull, refuseRecord, type RoomParts } from '../quotas/room.ts';
import { Replica } from '../replication/replica.ts';
import { hedgeMs } from '../replication/write.ts';
import { RecordChanges } from '../request/change.ts';
import { ClientIds } from '../request/client-ids.ts';
import type { CoordinatorParts } from '../request/coordinator.ts';
import type { HistoryParts } from '../request/history.ts';
import { letterSubject, noteChange } from '../request/noting.ts';
import type { SetParts } from '../request/set.ts';
import type { Journal } from '../store/journal/journal.ts';
import { Store } from '../store/store.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { SteadyInstants } from '../timer/due-wall.ts';
import { refuseSet } from './admission.ts';
import { createHistory } from './history.ts';
import { nextNumber, reserveMs } from './numbers.ts';
import type { MemberOptions } from './options.ts';
import { createTelemetry } from './telemetry.ts';

/** A batched callback that has grown to this leaves without more. */
const batchLengthMax = 1024 * 1024;

export class Parts {
  readonly options: MemberOptions;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly history: History;
  /** null: no history is kept on disk. */
  readonly historyLog: HistoryLog | null;
  readonly versions = new VersionClock();
  private readonly instants = new SteadyInstants();
  readonly diskCare: DiskCare;
  readonly cluster: Cluster;
  readonly ids: ClientIds;
  readonly quotas: QuotaTable;
  /** null: nothing is recorded. */
  readonly telemetry: Telemetry | null;
  readonly replica: Replica;
  readonly room: RoomParts;
  readonly destinations: Destinations;
  readonly telling: Telling;
  readonly popper: Popper;
  readonly changes: RecordChanges;
  readonly requestParts: SetParts & CoordinatorParts & HistoryParts;
  /** null: before `recover`, and for good where the member has no disk. */
  journal: Journal | null = null;
  /** How far back this member remembers. */
  historySinceMs: number;
  numbers = new NumberSource(0);
  private readonly signers: Signers;

  /** `isStopping`: whether the member stops, and so takes no more timers. */
  constructor(options: MemberOptions, isStopping: () => boolean) {
    this.options = options;
    const { env, name } = options;
    this.metrics = new Metrics(options.release);
    this.history = new History(options.config.history);
    this.historySinceMs = env.clock.now();
    this.store = new Store({ searchIndexes: options.config.search.indexes === 'on' });
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
        tombstoneRetentionMs: options.config.tombstoneRetentionMs,
      },
      (hi, lo) => this.store.rangeOf(hi, lo),
    );
    this.ids = new ClientIds(options.numbering ?? new OpenNumbering(), () => this.cluster.view);
    this.quotas = options.quotas ?? new QuotaTable(options.config);
    this.historyLog = createHistory(this);
    this.telemetry = createTelemetry(this);
    this.replica = this.createReplica();
    this.room = { quotas: this.quotas, usage: this.replica.usage, limits: options.config.limits };
    this.signers = new Signers(options.config.callbacks.signingSecrets);
    this.destinations = this.createDestinations();
    this.telling = this.createTelling();
    this.popper = this.createPopper();
    this.requestParts = this.createRequestParts(isStopping);
    this.changes = new RecordChanges(this.requestParts);
    this.readGauges();
  }

  /** Whose records are on its disk. */
  get identity(): string {
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
      instant: () => this.cluster.state.instant(),
      store: this.store,
      journal: () => this.journal,
      digests: this.cluster.digests,
      versions: this.versions,
      retention: {
        tombstoneMs: config.tombstoneRetentionMs,
        idempotentMs: config.idempotencyRetentionMs,
        letterMs: (namespace) => this.quotas.of(namespace).letterAgeMsMax,
      },
      leaving: () => this.cluster.membership.leaving,
      desired: (record) => this.cluster.holders.desired(record),
      // A member that is alone has no other replicas to tell apart.
      tracing: this.cluster.peers === null ? null : this.telemetry,
      onTaken: (record) => this.diskCare.taken(record),
      onChange: (handle, record) => this.popper.changed(handle, record),
      onSaved: (record, wanted) => this.cluster.news.changed(record, wanted),
    });
  }

  private createTelling(): Telling {
    const { name: self, env, config } = this.options;
    const { metrics, quotas, store, replica, ids, cluster } = this;
    return new Telling({
      self,
      env,
      metrics,
      quotas,
      store,
      replica,
      ids,
      factor: config.defaultFactor,
      instant: () => cluster.state.instant(),
      create: (record, done) => this.changes.keep(record, done, 'create'),
      read: (id, done) => this.changes.readThen(id, done),
      end: (record) => {
        this.noteDropped(record);
        cluster.news.end(record);
      },
      underReplicated: () => cluster.underReplicated,
      damage: () => this.diskCare.report.view(),
      onArmed: () => this.popper.poll(),
      recordCountMax: config.limits.pendingTimerCountMax,
    });
  }

  /** The retention of its namespace drops a letter. */
  private noteDropped(letter: TimerRecord): void {
    const { historyLog, ids, cluster } = this;
    const parts = { historyLog, ids, instant: () => cluster.state.instant() };
    const asked = { action: 'drop', actor: '', tag: '' } as const;
    noteChange(parts, letter, asked, letterSubject(ids, letter));
  }

  private createPopper(): Popper {
    const { name, env, config } = this.options;
    const { store, replica, metrics, history, cluster, telling } = this;
    const { historyLog, ids } = this;
    const own = { self: name, env, store, replica, metrics, history, historyLog };
    return createPopper({
      ...own,
      cluster: {
        peers: cluster.peers,
        instant: () => cluster.state.instant(),
        idOf: (record) => this.ids.of(record),
        numberOf: (namespace, id) => ids.parse(namespace, id),
        othersOf: (record, widely) => cluster.holders.askedOf(record, widely),
        holds: (handle, slept, stale) => cluster.holders.popWaits(handle, slept, stale),
        tell: (record, unlisted) => cluster.news.tell(record, unlisted),
        keep: (record, done) => this.changes.keep(record, done),
        end: (record) =>
          record.state === State.dead ? telling.retention.over(record) : cluster.news.end(record),
      },
      batches: this.createBatches(),
      limits: {
        activeCountMax: config.limits.popQueueLengthMax + config.callbacks.inFlightMax,
        callbackTimeoutMs: config.callbacks.timeoutMs,
        retry: config.retry,
      },
      isBoxFull: (namespace) => isBoxFull(this.room, namespace),
      keepsAnswers: (namespace) => this.quotas.of(namespace).keepAnswers,
      failing: telling.failing,
      announce: (letter, done) => telling.events.letterCame(letter, done),
      tracer: this.telemetry?.pops ?? null,
    });
  }

  private createBatches(): Batches {
    const { env, config } = this.options;
    return new Batches({
      clock: env.clock,
      destinations: this.destinations,
      instant: () => this.cluster.state.instant(),
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

  private createRequestParts(
    isStopping: () => boolean,
  ): SetParts & CoordinatorParts & HistoryParts {
    const { config } = this.options;
    return {
      ...this.readParts(),
      hedges: new Deadlines(this.options.env.clock, hedgeMs),
      view: () => this.cluster.view,
      metrics: this.metrics,
      versions: this.versions,
      numbers: { next: (wallMs: number, member: number) => nextNumber(this, wallMs, member) },
      factorDefault: config.defaultFactor,
      instant: () => this.cluster.state.instant(),
      onUnconfirmed: (news) => this.cluster.news.unconfirmed(news),
      isUnsettled: () => this.cluster.state.isUnsettled,
      refuseSet: (namespace, timing) => refuseSet(this, isStopping(), namespace, timing),
      refuseRecord: (namespace) => refuseRecord(this.room, namespace),
    };
  }

  readParts() {
    const { env, name } = this.options;
    const { cluster, popper, replica, history, historyLog, ids } = this;
    const { peers } = cluster;
    const distanceMs = (): number => this.instants.distanceMs(cluster.state.instant());
    const own = { self: name, clock: env.clock, distanceMs };
    const kept = { history, historyLog };
    return { ...own, replica, peers, cluster, popper, ids, ...kept };
  }

  private readGauges(): void {
    this.metrics.timers.read(() => this.timerCounts());
    const boxes = new FullBoxes(this.room);
    this.metrics.letterBoxesFull.read(() => boxes.count());
    this.metrics.overdue.read(() => this.popper.waitingCount);
    this.metrics.primaries.read(() => this.spokenFor().timers);
    this.metrics.primaryLetters.read(() => this.spokenFor().letters);
    this.metrics.journalBytes.read(() => this.journal?.snapshots.segmentBytes ?? 0);
    this.metrics.journalRecords.read(() => this.journal?.recordCount ?? 0);
    this.metrics.historyBytes.read(() => this.historyLog?.bytes ?? 0);
    this.metrics.historyOmitted.read(() => this.historyLog?.omitted ?? 0);
  }

  private spokenFor() {
    const { peers } = this.cluster;
    return this.replica.spokenFor((name) => peers?.silent(name) ?? true);
  }

  private timerCounts() {
    const { live, dead, tombstone } = this.store.counts;
    const { retrying } = this.replica;
    return { pending: live - retrying, retrying, dead, tombstone };
  }
}
