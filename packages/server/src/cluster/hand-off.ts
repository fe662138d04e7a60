/**
 * Making sure that the listed replicas of a record really have it; a member that is not listed drops its own copy then,
 * and not before. Resync, stand-ins that are no longer needed, draining and the end of tombstones are all this.
 *
 * H1  A copy is dropped only after every listed replica confirmed that very state, or a newer one, on disk; and, if it
 *     is the one with the right time (see timer/merge.ts, M5), only after they know that time too.
 * H2  A copy whose pop is due is kept until the pop is made, or could have been: the replicas that confirmed it may
 *     stand still the next moment, and this member is then the one that can still pop by twice the gap (P4).
 * H3  A member that leaves the cluster does not wait for replicas that have been silent for 30 s, once the others and
 *     the stand-ins have the record; it tells these which members lack it.
 * H4  A stand-in sends the record itself, with the list: a replica that has the record may not know that it is held
 *     here too, and would neither ask before a pop nor tell of it.
 */
import {
  type Clock,
  compareProgress,
  hex16,
  invariant,
  State,
  type TimerRecord,
} from '@carillon/core';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import { recordBytes, repairBytesMax } from '../replication/sizes.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import { latestMs } from '../timer/schedule.ts';
import { tellUnconfirmed } from './unconfirmed.ts';

const inFlightMax = 1000;
const retryMs = 1000;
const buryRetryMs = 60_000;
/** A copy that is due is kept no longer than this: a replica that does not answer has a stand-in by then. */
const keptMsMax = 30_000;

export interface HandOffParts {
  readonly self: string;
  readonly clock: Clock;
  readonly replica: Replica;
  readonly peers: Peers;
  /** Whether a callback for the timer is under way here. */
  readonly busy: (number: Numbered) => boolean;
  /** This replica is silent; it gets the record when it is back. */
  readonly onUnconfirmed: (name: string, number: Numbered) => void;
  /** Whether this member leaves the cluster, and other members stand in for these, which have long been silent. */
  readonly leavesWithout: (names: readonly string[]) => boolean;
  readonly onDropped: () => void;
  readonly onPushed: () => void;
}

export class HandOff {
  private readonly parts: HandOffParts;
  private readonly waiting = new Map<string, Numbered>();
  private readonly retries = new Map<string, Numbered>();
  private inFlight = 0;
  /** Of the records in flight. */
  private inFlightBytes = 0;
  private retrying = false;

  constructor(parts: HandOffParts) {
    this.parts = parts;
  }

  /** Records not yet known to be where they belong. */
  get size(): number {
    return this.waiting.size + this.retries.size + this.inFlight;
  }

  /** The records among them that do not wait for a silent member. */
  get moving(): number {
    return this.waiting.size + this.inFlight;
  }

  add({ hi, lo }: Numbered): void {
    this.waiting.set(hex16(hi, lo), { hi, lo });
    this.work();
  }

  /** The end of a tombstone: dropped once no other replica holds anything older; tried again later if one is silent. */
  bury(record: TimerRecord): void {
    const { self, replica, peers, clock } = this.parts;
    const others = record.replicas.filter((name) => name !== self);
    let left = others.length;
    let confirmed = true;
    const settled = (): void => {
      const current = replica.get(record.hi, record.lo);
      if (current === undefined || compareProgress(current, record) !== 0) return;
      invariant(current.state !== State.live, 'only an ended timer is buried');
      if (confirmed) replica.drop(current);
      else replica.store.arm(replica.store.find(record.hi, record.lo), clock.now() + buryRetryMs);
    };
    if (left === 0) settled();
    for (const name of others) {
      peers.send(name, { type: 'store', mode: 'update', record }, (answer) => {
        confirmed &&= holds(answer);
        if (--left === 0) settled();
      });
    }
  }

  private work(): void {
    for (const [key, number] of this.waiting) {
      if (this.inFlight >= inFlightMax || this.inFlightBytes >= repairBytesMax) return;
      this.waiting.delete(key);
      this.one(number);
    }
  }

  private one(number: Numbered): void {
    const { self, replica, peers } = this.parts;
    const record = replica.get(number.hi, number.lo);
    if (record === undefined) return;
    const others = record.replicas.filter((name) => name !== self);
    // No other member is listed yet: keep the record, and try again when the view has changed.
    if (others.length === 0) return;
    const silent = others.filter((name) => peers.silent(name));
    if (silent.length === others.length) return this.leave(record, [], silent);
    this.inFlight++;
    this.inFlightBytes += recordBytes(record);
    let left = others.length - silent.length;
    const confirmed: string[] = [];
    for (const name of others) {
      if (silent.includes(name)) continue;
      this.give(name, record, (ok) => {
        if (ok) confirmed.push(name);
        if (--left === 0) this.settled(record, confirmed, silent);
      });
    }
  }

  /** Every listed replica that is not silent has answered; `names` confirmed that they have the record. */
  private settled(record: TimerRecord, names: readonly string[], silent: readonly string[]): void {
    const { self } = this.parts;
    const asked = record.replicas.filter((name) => name !== self && !silent.includes(name));
    this.inFlight--;
    invariant(this.inFlight >= 0, 'a hand-off is settled once');
    this.inFlightBytes -= recordBytes(record);
    if (names.length < asked.length) this.retryLater(record);
    else if (silent.length > 0) this.leave(record, names, silent);
    else this.release(record, names);
    this.work();
  }

  /**
   * Every replica that answers has it: `names`. A listed holder leaves the rest to repair; a holder that is not listed
   * must wait, unless it leaves the cluster and others stand in for the silent ones (H3).
   */
  private leave(record: TimerRecord, names: readonly string[], silent: readonly string[]): void {
    const { self, peers, onUnconfirmed, leavesWithout } = this.parts;
    if (record.replicas.includes(self)) for (const name of silent) onUnconfirmed(name, record);
    else if (names.length === 0 || !leavesWithout(silent)) this.retryLater(record);
    else {
      for (const holder of names) {
        const news = { number: record, names: silent, holders: [holder], isNew: false };
        tellUnconfirmed(peers, news);
      }
      this.release(record, [...names, ...silent]);
    }
  }

  /** All listed replicas have it, or will get it from others: drop the own copy if it is not one of them. */
  private release(record: TimerRecord, names: readonly string[]): void {
    const { self, replica, busy, onDropped } = this.parts;
    const current = replica.get(record.hi, record.lo);
    if (current === undefined || current.replicas.includes(self)) return;
    // The record moved on, or has other replicas now: the confirmations were for another state.
    const same = compareProgress(current, record) === 0;
    if (!same || current.replicas.some((name) => !record.replicas.includes(name))) {
      return this.add(record);
    }
    // Without the record the result of the callback could be told to no member.
    if (busy(record) || this.isDue(current)) return this.retryLater(record);
    invariant(
      names.length > 0 && current.replicas.every((name) => names.includes(name)),
      'a record is dropped after all its replicas confirmed it, or others stand in for them',
    );
    replica.drop(current);
    onDropped();
  }

  /** Whether the pop of the record is due, and can still come in time (H2). */
  private isDue({ state, retryMs: dueMs, gapMs, factor }: TimerRecord): boolean {
    const lateMs = this.parts.clock.now() - dueMs;
    if (state !== State.live || lateMs < 0) return false;
    return lateMs < Math.min(latestMs(gapMs, factor), keptMsMax);
  }

  private give(name: string, record: TimerRecord, done: (ok: boolean) => void): void {
    const { peers, replica } = this.parts;
    if (this.standsIn(record)) return this.push(name, record, done);
    peers.send(name, { type: 'offer', standing: record, dueMs: record.dueMs }, (answer) => {
      if (answer?.type === 'ahead') {
        replica.receive(answer.record, 'any', () => done(true));
      } else if (answer?.type === 'need') this.push(name, record, done);
      else done(holds(answer));
    });
  }

  private push(name: string, record: TimerRecord, done: (ok: boolean) => void): void {
    const { peers, onPushed } = this.parts;
    onPushed();
    peers.send(name, { type: 'store', mode: 'any', record }, (stored) => done(holds(stored)));
  }

  /** Whether this member is listed behind the replicas of the record (H4). */
  private standsIn({ replicas, factor }: TimerRecord): boolean {
    return replicas.indexOf(this.parts.self) >= factor;
  }

  private retryLater({ hi, lo }: Numbered): void {
    this.retries.set(hex16(hi, lo), { hi, lo });
    if (this.retrying) return;
    this.retrying = true;
    const { clock } = this.parts;
    clock.at(clock.now() + retryMs, () => {
      this.retrying = false;
      for (const [key, number] of this.retries) this.waiting.set(key, number);
      this.retries.clear();
      this.work();
    });
  }
}

function holds(answer: Answer | null): boolean {
  return answer?.type === 'stored' || answer?.type === 'have';
}
