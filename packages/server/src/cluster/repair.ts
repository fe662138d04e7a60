/**
 * The parts that bring records to the members that should hold them, put together and set going: presence, resync,
 * hand-off, unconfirmed and compare for as long as the member runs, doubt and mending after a start that calls for
 * them. Each part has one job and knows the others only through this. docs/cluster.md tells how they divide the work.
 */
import type { Cancel, Env, TimerRecord } from '@carillon/core';
import type { Metrics } from '../metrics/metrics.ts';
import type { Digests } from '../replication/digests.ts';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import type { Hello } from '../replication/wire/hello.ts';
import { Compare } from './compare.ts';
import { Doubt } from './doubt.ts';
import { HandOff } from './hand-off.ts';
import type { Membership } from './membership.ts';
import { Mending } from './mending.ts';
import { Unconfirmed } from './unconfirmed.ts';
import { Presence } from './presence.ts';
import { Resync } from './resync.ts';

const tickMs = 5000;
const compareMs = 60_000;
/** After a resync, so that records that went wrong on the way are found soon. */
const checkAfterResyncMs = 3000;
const absentMs = 30_000;
/** After the first word of another member, the time in which all that are there have been heard. */
const reunionMs = 2500;

export interface RepairParts {
  readonly self: string;
  readonly env: Env;
  readonly metrics: Metrics;
  readonly replica: Replica;
  readonly peers: Peers;
  readonly digests: Digests;
  readonly membership: Membership;
  /** Whether a callback for the timer is under way here. */
  readonly busy: (number: Numbered) => boolean;
  /** The members that should hold a record now. */
  readonly desired: (record: TimerRecord) => readonly string[];
  /** The other members that hold a record or should. */
  readonly othersOf: (record: TimerRecord) => readonly string[];
  /** These members may not have heard of a record here. */
  readonly onUnconfirmed: (number: Numbered, names: readonly string[]) => void;
  /** A record is no longer in doubt; its list may be of a former view. */
  readonly onTrusted: (record: TimerRecord) => void;
  readonly hello: () => Hello;
  /** How long the others remember that a timer has ended. */
  readonly tombstoneRetentionMs: number;
}

export class Repair {
  private readonly parts: RepairParts;
  readonly presence: Presence;
  readonly compare: Compare;
  readonly unconfirmed: Unconfirmed;
  readonly handOff: HandOff;
  readonly resync: Resync;
  private doubt: Doubt | null = null;
  private mending: Mending | null = null;
  private stopTicking: Cancel = () => {};
  private nextCompareMs = 0;

  constructor(parts: RepairParts) {
    this.parts = parts;
    this.compare = this.createCompare();
    this.unconfirmed = this.createUnconfirmed();
    this.handOff = this.createHandOff();
    this.resync = this.createResync();
    this.presence = this.createPresence();
    parts.metrics.unconfirmedRecords.read(() => this.counts.unconfirmedRecords);
    parts.metrics.underReplicated.read(() => this.counts.underReplicated);
  }

  /** `awaySinceMs`: since when this member was away, if its records may be out of date; null: they are not. */
  start(awaySinceMs: number | null): void {
    this.presence.start();
    if (awaySinceMs !== null) this.doubtSince(awaySinceMs);
    this.tick();
  }

  stop(): void {
    this.stopTicking();
    this.unconfirmed.stop();
    this.doubt?.stop();
    this.mending?.stop();
    this.presence.stop();
    this.resync.stop();
    this.compare.stop();
  }

  /** Fetches the records that damage took; `onMended`: called with the number of members asked. */
  mend(onMended: (asked: number) => void): void {
    const { env, replica, membership } = this.parts;
    this.mending = new Mending({
      clock: env.clock,
      others: () => membership.otherNames,
      absent: (name) => this.presence.absent(name),
      compare: (name, done) => this.compare.start(name, done),
      doubtfulCount: () => replica.doubtfulCount,
      onDone: onMended,
    });
    this.mending.start();
  }

  /** Whether a due pop of this record waits because the record may be out of date. */
  doubts(handle: number): boolean {
    const { doubt } = this;
    return doubt !== null && this.parts.replica.isDoubtful(handle) && doubt.holds();
  }

  get counts(): { readonly unconfirmedRecords: number; readonly underReplicated: number } {
    const underReplicated = this.handOff.size + this.resync.irregularCount;
    return { unconfirmedRecords: this.unconfirmed.size, underReplicated };
  }

  /** Whether records here are on their way to other members, or may have to be. */
  get isMoving(): boolean {
    return this.resync.progress.running || this.counts.underReplicated > 0;
  }

  private createCompare(): Compare {
    const { replica, peers, digests, metrics, env } = this.parts;
    const { clock } = env;
    const onSent = (): void => metrics.repaired.add('sent');
    const onReceived = (): void => metrics.repaired.add('received');
    return new Compare({ clock, replica, peers, digests, onSent, onReceived });
  }

  private createUnconfirmed(): Unconfirmed {
    const { replica, peers, metrics } = this.parts;
    const onSent = (): void => metrics.repaired.add('sent');
    const onOverflow = (name: string): void => this.compare.start(name);
    return new Unconfirmed({ clock: this.parts.env.clock, replica, peers, onOverflow, onSent });
  }

  private createHandOff(): HandOff {
    const { self, env, replica, peers, busy, metrics, membership } = this.parts;
    return new HandOff({
      self,
      clock: env.clock,
      replica,
      peers,
      busy,
      onUnconfirmed: (name, number) => this.unconfirmed.add(name, number),
      leavesWithout: (names) =>
        membership.leaving && names.every((name) => this.presence.absent(name)),
      onDropped: () => metrics.resynced.add('dropped'),
      onPushed: () => metrics.resynced.add('pushed'),
    });
  }

  private createResync(): Resync {
    const { self, env, replica, peers, metrics, membership, desired } = this.parts;
    const present = (name: string): boolean =>
      name === self || (membership.view.member(name) !== undefined && !peers.silent(name));
    const isFull = (name: string): boolean =>
      name === self ? replica.full : this.presence.full(name);
    return new Resync({
      self,
      clock: env.clock,
      replica,
      handOff: this.handOff,
      desired,
      present,
      lasting: (name) => membership.view.member(name)?.phase === 'active',
      able: (name) => present(name) && !isFull(name),
      onUnconfirmed: this.parts.onUnconfirmed,
      onFinished: () => {
        this.nextCompareMs = env.clock.now() + checkAfterResyncMs;
      },
      onUnchanged: () => metrics.resynced.add('unchanged'),
    });
  }

  private createPresence(): Presence {
    const { env, peers, membership, hello } = this.parts;
    return new Presence({
      clock: env.clock,
      random: env.random,
      peers,
      others: () => membership.otherNames,
      hello,
      absentMs,
      onChange: () => membership.refresh(),
      onMet: (name) => {
        if (membership.view.member(name)?.phase === 'joining') membership.refresh();
      },
      onRestart: (name) => this.compare.start(name),
      onReunited: (sinceMs) => {
        const isLong = env.clock.now() - sinceMs > this.parts.tombstoneRetentionMs / 2;
        if (isLong) this.doubtSince(sinceMs, reunionMs);
      },
    });
  }

  private doubtSince(awaySinceMs: number, afterMs = 0): void {
    const { env, replica, peers, othersOf, membership, onTrusted } = this.parts;
    const { presence } = this;
    // A member that vanished from the view, and does not answer, may never be back.
    const isGone = (name: string): boolean =>
      presence.absent(name) || (membership.view.member(name) === undefined && peers.silent(name));
    this.doubt?.stop();
    replica.doubtAll();
    this.doubt = new Doubt({
      clock: env.clock,
      replica,
      peers,
      othersOf: (record) => othersOf(record).filter((name) => !isGone(name)),
      historyMs: (name) => presence.lastHello(name)?.historyMs ?? null,
      awaySinceMs,
      onTrusted,
    });
    this.doubt.start(afterMs);
  }

  /** Work that no event asks for, but that has to happen now and then. */
  private tick(): void {
    const { clock, random } = this.parts.env;
    const nowMs = clock.now();
    this.unconfirmed.pushAll();
    if (nowMs >= this.nextCompareMs) {
      this.nextCompareMs = nowMs + compareMs * (0.8 + 0.4 * random.unit());
      this.checkAll();
    }
    this.stopTicking = clock.at(nowMs + tickMs * (0.9 + 0.2 * random.unit()), () => this.tick());
  }

  private checkAll(): void {
    const { peers, membership } = this.parts;
    for (const name of membership.otherNames) if (!peers.silent(name)) this.compare.check(name);
  }
}
