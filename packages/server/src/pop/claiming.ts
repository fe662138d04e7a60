/**
 * The side of a claim that asks: which members are asked before a pop, how long their answers are waited for, how the
 * claim is renewed while the request is out, and how it is given back. `claims/` has the times and the rules,
 * `granting.ts` the side that answers.
 *
 * Example: a timer of 10 s with replicas a, b and c, at a. At 10.000 s a asks b and c to hold back for 3 s, and waits
 * for 100 ms. b grants at 10.002 s; c is silent, so a goes on at once. The request leaves at 10.003 s; at 11.003 s and
 * each second after, a renews the claim for 3 s more. If a dies at 11.500 s, b is free to pop at 14.003 s.
 */
import { type Clock, compareProgress, State, type TimerRecord } from '@carillon/core';
import type { Metrics } from '../metrics/metrics.ts';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { Store } from '../store/store.ts';
import { positionOf } from '../timer/schedule.ts';
import type { Awake } from './awake.ts';
import {
  afterRefusalMs,
  asksAgain,
  callTermMs,
  claimTermMs,
  patientUntilMs,
  rankOf,
  roundUntilMs,
  type Sleep,
  stillUntilMs,
} from './claims/claim-terms.ts';
import { serialAfter } from './claims/claims.ts';
import { claimResult } from './outcome/outcome.ts';
import { claimMessage, holdsBack, type Pop, type PopClaim } from './pop.ts';
import { isUnderWay, type PopAction, type PopEvent } from './pop-phase.ts';

export interface ClaimingParts {
  readonly self: string;
  readonly clock: Clock;
  readonly store: Pick<Store, 'read'>;
  readonly replica: Pick<Replica, 'receive'>;
  /** null: alone. */
  readonly peers: Pick<Peers, 'send' | 'silent' | 'stillSinceMs'> | null;
  readonly metrics: Pick<Metrics, 'claims' | 'pops'>;
  readonly awake: Awake;
  /** The members to ask before a pop; `widely`: also members that may have stood in for this one. */
  readonly othersOf: (record: TimerRecord, widely: boolean) => readonly string[];
  /** The member that claimed the pop of the record last; null: none. */
  readonly claimantOf: (handle: number) => string | null;
  /** Tells the popper of an event. */
  readonly happens: (pop: Pop, event: PopEvent) => PopAction;
  /** Looks at a record again after a while. */
  readonly again: (handle: number, afterMs: number) => void;
}

/** A claim that another replica reports is waited for no longer than this. */
const reportedMsMax = 60_000;
/** A replica that could not be asked is asked again after this time. */
const askAgainMs = 100;

export class Claiming {
  private readonly parts: ClaimingParts;
  private lastSerial: number;
  /** Records that were overdue when they came here: a member that held them before may be popping them. */
  private readonly cameLate = new Set<number>();

  /** `serial`: drawn anew at each start, so that no pop is taken for one from before the start. */
  constructor(serial: number, parts: ClaimingParts) {
    this.lastSerial = serial;
    this.parts = parts;
  }

  /** The claim of a new pop of the record. */
  claimOf(handle: number, record: TimerRecord): PopClaim {
    const { self, othersOf, awake } = this.parts;
    const widely = awake.mayBeStale(record) || this.cameLate.has(handle);
    const others = othersOf(record, widely);
    this.lastSerial = serialAfter(this.lastSerial);
    const position = positionOf(record, self);
    const rank = rankOf(record, position, awake.sleepOf(record));
    return { position, rank, others, serial: this.lastSerial };
  }

  /** The present moment if the claim of the pop holds; null: the claim is over. */
  heldAtMs({ others, untilMs }: Pop): number | null {
    const nowMs = this.parts.clock.now();
    return others.length === 0 || nowMs < untilMs ? nowMs : null;
  }

  /** The record behind a handle changed, or went (null). */
  changed(handle: number, record: TimerRecord | null): void {
    const isLate = record?.state === State.live && record.retryMs < this.parts.clock.now();
    if (isLate) this.cameLate.add(handle);
    else this.cameLate.delete(handle);
  }

  /** Asks the other replicas to hold back; goes on when all have answered, or at the latest after a bound. */
  ask(pop: Pop): void {
    const { clock, peers, happens } = this.parts;
    const { record, others } = pop;
    const nowMs = clock.now();
    pop.askedMs ??= nowMs;
    const round = ++pop.rounds;
    const sleep = this.sleepOf(pop);
    const termMs = claimTermMs(record, nowMs);
    pop.untilMs = nowMs + termMs;
    if (others.length === 0) return void happens(pop, 'unopposed');
    const mayBeStill = (name: string): boolean => this.stillMs(pop, name) !== null;
    // After a sleep this member has heard no answers, so a silent peer may be well.
    const isAwaited = (name: string): boolean =>
      sleep !== 'no' || !peers?.silent(name) || mayBeStill(name);
    const awaited = new Set(others.filter(isAwaited));
    const patientMs = round === 1 && sleep === 'no' ? nowMs : this.patientMs(pop, awaited);
    const waitedMs = roundUntilMs(record, sleep, nowMs, patientMs);
    // Answers that came while this member was busy are read before it gives up on them.
    const cancel = clock.at(waitedMs, () => clock.soon(() => this.waited(pop, waitedMs, awaited)));
    const goOn = (): void => {
      cancel();
      happens(pop, 'unopposed');
    };
    const message = claimMessage(pop, termMs);
    const askOne = (name: string): void => {
      if (!isUnderWay(pop.phase)) return;
      peers?.send(name, message, (answer) => {
        this.parts.metrics.claims.add(claimResult(answer));
        // An answer to an earlier question, read after a sleep: its claim may be over, and the replica is asked again.
        if (round !== pop.rounds && answer?.type !== 'ahead') return;
        if (answer?.type === 'granted') this.granted(pop, name);
        if (answer === null) {
          const againMs = clock.now() + askAgainMs;
          const asks = asksAgain(record, sleep) || mayBeStill(name);
          if (asks && againMs < waitedMs) return void clock.at(againMs, () => askOne(name));
          // A missing answer decides nothing here: the end of the wait judges which of the two members had no time.
          if (asks || clock.now() >= waitedMs) return;
        }
        this.answered(pop, answer);
        awaited.delete(name);
        if (!isUnderWay(pop.phase)) cancel();
        // An answer that is read after its time: this member stood still, and the end of the wait asks again.
        else if (awaited.size === 0 && clock.now() < waitedMs) goOn();
      });
    };
    others.forEach(askOne);
    if (awaited.size === 0) goOn();
  }

  /**
   * How a sleep concerns the pop. A list that lacks a member to ask is not the view's: the record is on its way to
   * other replicas, and one of them may be the first of its own list. It may pop when this member does, and its news
   * may not have come. So it is with a record that was overdue when it came: the member that gave it was away until
   * now, and still counts as silent.
   */
  private sleepOf({ handle, record, others }: Pop): Sleep {
    const sleep = this.parts.awake.sleepOf(record);
    const isListed = (name: string): boolean => record.replicas.includes(name);
    const isOnItsWay = this.cameLate.has(handle) || !others.every(isListed);
    return sleep === 'no' && isOnItsWay ? 'stale' : sleep;
  }

  private granted(pop: Pop, name: string): void {
    pop.granted = true;
    holdsBack(pop, name);
  }

  /**
   * Until when a replica that does not answer may stand still, and have called before; null: it has not, or the pop
   * cannot wait.
   */
  private stillMs({ record, handle }: Pop, name: string): number | null {
    const { clock, peers, claimantOf } = this.parts;
    const sinceMs = claimantOf(handle) === name ? (peers?.stillSinceMs(name) ?? null) : null;
    return sinceMs === null ? null : stillUntilMs(record, sinceMs, clock.now());
  }

  /**
   * Some replicas did not answer in time. If this member itself stood still meanwhile, they had no time to, and are
   * asked again; so are, while there is time, replicas of a pop that this member slept over or that is late: they may
   * stand still in their turn.
   */
  private waited(pop: Pop, untilMs: number, awaited: ReadonlySet<string>): void {
    const { clock, awake, happens } = this.parts;
    const nowMs = clock.now();
    const stood = awake.rang(untilMs, nowMs);
    const patientMs = this.patientMs(pop, awaited);
    // A member that stands still again and again would ask for ever, so that counts once: then the patience decides.
    const isOver = nowMs >= patientMs && !(stood && pop.rounds === 1);
    happens(pop, isOver ? 'unopposed' : 'stalled');
  }

  /** Until when this member asks again for the answers that it misses. */
  private patientMs(pop: Pop, awaited: ReadonlySet<string>): number {
    const { clock } = this.parts;
    const { record, granted } = pop;
    const still = [...awaited].map((name) => this.stillMs(pop, name) ?? -Infinity);
    const firstMs = pop.askedMs ?? clock.now();
    const asked = { firstMs, granted, stillMs: Math.max(-Infinity, ...still) };
    return patientUntilMs(record, this.sleepOf(pop), asked);
  }

  private answered(pop: Pop, answer: Answer | null): void {
    const { replica, metrics, happens, again } = this.parts;
    if (answer?.type === 'ahead') {
      if (happens(pop, 'ahead') === 'count-duplicate') metrics.pops.add('skipped_duplicate');
      replica.receive(answer.record, 'any', () => undefined);
    } else if (answer?.type === 'claimed' && happens(pop, 'taken') === 'postpone') {
      const leftMs = Math.min(Math.max(answer.leftMs, 0), reportedMsMax);
      again(pop.handle, leftMs + afterRefusalMs(pop.record, pop.rank));
    }
  }

  /** Keeps the claim alive while the request is out. */
  renew(pop: Pop): void {
    if (pop.others.length === 0) return;
    const { clock, peers } = this.parts;
    const termMs = callTermMs(pop.record.gapMs);
    pop.stopRenewing = clock.at(clock.now() + termMs / 3, () => {
      pop.untilMs = clock.now() + termMs;
      const message = claimMessage(pop, termMs);
      for (const name of pop.others) {
        const isGone = peers?.silent(name) && peers.stillSinceMs(name) === null;
        if (!isGone) peers?.send(name, message, () => undefined);
      }
      this.renew(pop);
    });
  }

  /** Tells the others that the pop is not made here. Where it was made, the member that made it has told them. */
  giveBack(pop: Pop): void {
    const { store, peers } = this.parts;
    if (compareProgress(store.read(pop.handle), pop.record) !== 0) return;
    const message = claimMessage(pop, 0);
    for (const name of pop.others) peers?.send(name, message, () => undefined);
  }
}
