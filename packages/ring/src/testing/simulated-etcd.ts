/**
 * An etcd in memory, on the clock it is given: the same port as the real client, with the faults that a network and a
 * cluster can have. Deterministic: the same clock and the same seed give the same run.
 *
 * It models delay both ways, answers lost after the call acted, calls that act after their caller gave up, clients
 * cut off, watches that break and lose changes under way, compaction, leases that end exactly at their TTL (the
 * earliest moment that a real etcd may choose), and a cluster that is away and comes back with a new leader, which
 * gives every lease its full time again.
 */
import type { Cancel, Clock } from '@carillon/core';
import { SeededRandom } from '@carillon/core/testing';
import { type Etcd, EtcdError, type RangeAnswer, type Txn } from '../etcd/etcd.ts';
import type { TxnAnswer, WatchHandlers } from '../etcd/etcd.ts';
import { type Batch, only, SimulatedStore } from './simulated-store.ts';

export interface SimulatedEtcdOptions {
  readonly clock: Clock;
  readonly seed?: number;
  /** Delay of one way, drawn evenly from 0 to this. Default 1. */
  readonly delayMsMax?: number;
  /** The shortest TTL it grants, as etcd has one. Default 1000. */
  readonly ttlMsMin?: number;
}

export class SimulatedEtcd {
  readonly store: SimulatedStore;
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly ttlMsMin: number;
  delayMsMax: number;
  /** Calls that arrived, by verb. */
  readonly calls = { range: 0, txn: 0, grant: 0, keepAlive: 0, revoke: 0, watch: 0 };
  private readonly clients = new Set<SimulatedClient>();
  private awayNow = false;
  private cancelExpiry: Cancel = () => {};

  constructor(options: SimulatedEtcdOptions) {
    this.clock = options.clock;
    this.random = new SeededRandom(options.seed ?? 1);
    this.delayMsMax = options.delayMsMax ?? 1;
    this.ttlMsMin = options.ttlMsMin ?? 1000;
    this.store = new SimulatedStore((batch) => {
      for (const client of this.clients) client.onBatch(batch);
    });
  }

  /** A client for one process; `deliver` runs each message that reaches it, now or when the process runs again. */
  connect(
    deliver: (fn: () => void) => void = (fn) => fn(),
    clock: Clock = this.clock,
  ): SimulatedClient {
    const client = new SimulatedClient(this, clock, deliver);
    this.clients.add(client);
    return client;
  }

  forget(client: SimulatedClient): void {
    this.clients.delete(client);
  }

  /** True while there is no quorum: nothing is answered, no lease ends. */
  get away(): boolean {
    return this.awayNow;
  }

  set away(away: boolean) {
    if (this.awayNow && !away) this.store.extendAll(this.clock.now());
    this.awayNow = away;
    if (away) for (const client of this.clients) client.breakWatches();
    this.armExpiry();
  }

  /** Forgets history up to now; watches that fell behind will have to read again. */
  compact(): void {
    this.store.compact();
  }

  armExpiry(): void {
    this.cancelExpiry();
    if (this.awayNow || this.store.leases.size === 0) return;
    const next = Math.min(...[...this.store.leases.values()].map((lease) => lease.expiresAtMs));
    this.cancelExpiry = this.clock.at(next, () => {
      for (const id of this.store.expired(this.clock.now())) this.store.revoke(id);
      this.armExpiry();
    });
  }
}

interface SimulatedWatch {
  readonly prefix: string;
  readonly handlers: WatchHandlers;
  /** Batches before this one are not for this watch. */
  fromRevision: number;
  /** When the last thing sent arrives: later ones never overtake it. */
  arrivesAtMs: number;
  broken: boolean;
  open: boolean;
}

export class SimulatedClient implements Etcd {
  private readonly etcd: SimulatedEtcd;
  private readonly clock: Clock;
  private readonly deliver: (fn: () => void) => void;
  private readonly watches = new Set<SimulatedWatch>();
  private closed = false;
  private cutNow = false;
  /** The part of acted-upon calls whose answer never comes back. */
  answerLossRatio = 0;
  /** The part of calls that arrive only after a second or so, often after their caller gave up. */
  lateRatio = 0;

  constructor(etcd: SimulatedEtcd, clock: Clock, deliver: (fn: () => void) => void) {
    this.etcd = etcd;
    this.clock = clock;
    this.deliver = deliver;
  }

  /** True: nothing passes, in neither direction. */
  get cut(): boolean {
    return this.cutNow;
  }

  set cut(cut: boolean) {
    this.cutNow = cut;
    if (cut) this.breakWatches();
  }

  range(prefix: string, limitMs: number): Promise<RangeAnswer> {
    return this.call('range', limitMs, () => {
      const { store } = this.etcd;
      return { revision: store.revision, entries: store.range(prefix) };
    });
  }

  txn(txn: Txn, limitMs: number): Promise<TxnAnswer> {
    return this.call('txn', limitMs, () => this.etcd.store.txn(txn));
  }

  grantLease(id: bigint, ttlMs: number, limitMs: number): Promise<number> {
    return this.call('grant', limitMs, () => {
      const granted = Math.max(this.etcd.ttlMsMin, Math.ceil(ttlMs / 1000) * 1000);
      return this.etcd.store.grant(id, granted, this.etcd.clock.now());
    });
  }

  keepAlive(id: bigint, _proofKey: string, limitMs: number): Promise<number> {
    return this.call('keepAlive', limitMs, () => this.etcd.store.renew(id, this.etcd.clock.now()));
  }

  revokeLease(id: bigint, limitMs: number): Promise<void> {
    return this.call('revoke', limitMs, () => this.etcd.store.revoke(id));
  }

  watch(prefix: string, fromRevision: number, handlers: WatchHandlers): Cancel {
    this.etcd.calls.watch++;
    const arrivesAtMs = this.etcd.clock.now();
    const watch: SimulatedWatch = {
      prefix,
      handlers,
      fromRevision,
      arrivesAtMs,
      broken: false,
      open: false,
    };
    this.watches.add(watch);
    if (this.unreachable()) this.breakWatch(watch);
    else this.later(() => this.openWatch(watch));
    return () => this.watches.delete(watch);
  }

  close(): Promise<void> {
    this.closed = true;
    this.watches.clear();
    this.etcd.forget(this);
    return Promise.resolve();
  }

  onBatch(batch: Batch): void {
    for (const watch of this.watches) {
      if (watch.broken || !watch.open || batch.revision < watch.fromRevision) continue;
      const mine = only(batch, watch.prefix);
      if (mine.changes.length > 0) this.send(watch, mine);
    }
  }

  breakWatches(): void {
    for (const watch of this.watches) this.breakWatch(watch);
  }

  private unreachable(): boolean {
    return this.cutNow || this.etcd.away;
  }

  private openWatch(watch: SimulatedWatch): void {
    if (watch.broken || !this.watches.has(watch)) return;
    if (this.unreachable()) {
      this.breakWatch(watch);
      return;
    }
    const missed = this.etcd.store.since(watch.fromRevision, watch.prefix);
    if (missed === null) {
      this.endWatch(watch, new EtcdError('compacted', 'etcd: the revision has been compacted.'));
      return;
    }
    watch.open = true;
    watch.fromRevision = Math.max(watch.fromRevision, this.etcd.store.revision + 1);
    this.arrive(watch, () => watch.handlers.onOpen());
    for (const batch of missed) this.send(watch, batch);
  }

  private send(watch: SimulatedWatch, batch: Batch): void {
    this.arrive(watch, () => watch.handlers.onChanges(batch.revision, batch.changes));
  }

  /** In order, after a delay; nothing arrives on a broken watch. */
  private arrive(watch: SimulatedWatch, fn: () => void): void {
    const { clock } = this.etcd;
    watch.arrivesAtMs = Math.max(watch.arrivesAtMs, clock.now() + this.delayMs());
    clock.at(watch.arrivesAtMs, () => {
      if (!watch.broken) this.deliver(() => this.watches.has(watch) && fn());
    });
  }

  /** The stream is dead from now on; the client finds out some time later. */
  private breakWatch(watch: SimulatedWatch): void {
    if (watch.broken) return;
    watch.broken = true;
    const { clock, random } = this.etcd;
    clock.at(clock.now() + random.unit() * 2500, () =>
      this.endWatch(watch, new EtcdError('no-answer', 'etcd: the watch was cut.')),
    );
  }

  private endWatch(watch: SimulatedWatch, error: EtcdError): void {
    this.deliver(() => {
      if (this.watches.delete(watch) && !this.closed) watch.handlers.onEnd(error);
    });
  }

  private delayMs(): number {
    return this.etcd.random.unit() * this.etcd.delayMsMax;
  }

  private later(fn: () => void): void {
    this.etcd.clock.at(this.etcd.clock.now() + this.delayMs(), fn);
  }

  /** One call: there, act, back; each leg can fail. The deadline runs on the caller's clock. */
  private call<T>(verb: keyof SimulatedEtcd['calls'], limitMs: number, act: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.closed) {
        reject(new EtcdError('not-sent', 'etcd: the client is closed.'));
        return;
      }
      const cancelDeadline = this.clock.at(this.clock.now() + limitMs, () =>
        reject(new EtcdError('no-answer', `etcd: no answer to ${verb} within ${limitMs} ms.`)),
      );
      if (this.unreachable()) return;
      const answer = (fn: () => void): void => {
        if (this.etcd.random.chance(this.answerLossRatio)) return;
        this.later(() => {
          if (this.unreachable()) return;
          this.deliver(() => {
            cancelDeadline();
            fn();
          });
        });
      };
      this.arriveAtServer(() => {
        this.etcd.calls[verb]++;
        try {
          const value = act();
          this.etcd.armExpiry();
          answer(() => resolve(value));
        } catch (error) {
          answer(() => reject(error));
        }
      });
    });
  }

  private arriveAtServer(act: () => void): void {
    const { clock, random } = this.etcd;
    const lateMs = random.chance(this.lateRatio) ? random.unit() * 4000 : 0;
    clock.at(clock.now() + this.delayMs() + lateMs, () => {
      // A call that was under way when the connection was cut may still act; a cluster without quorum takes nothing.
      if (!this.etcd.away) act();
    });
  }
}
