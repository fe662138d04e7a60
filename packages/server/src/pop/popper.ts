/**
 * Pops: from the alarm of a record to its next state. Alarm → claim at the other replicas → call back →
 * next sequence, retry or dead letter → tell the others.
 *
 * P-1  Nothing starts before its due time (P3).
 * P-2  Just before the request leaves, the record is still the one that fell due and the claim still holds; a
 *      cancel, an update or a pause in between sends the pop back to the start (P6).
 * P-3  A pop ends with a record written and sent to the others, or because somebody else wrote a newer one; never
 *      just so (P2).
 */
import {
  type CallbackResult,
  type Cancel,
  compareProgress,
  decodeDefinition,
  type Definition,
  invariant,
  State,
  type TimerRecord,
  type Unmade,
} from '@carillon/core';
import { Awake } from './awake.ts';
import type { PopperParts } from './popper-parts.ts';
import { type Call, callOf } from './batches.ts';
import { afterPop, type Instant, missedPops, turnOf } from '../timer/schedule.ts';
import type { Answer } from '../replication/wire.ts';
import {
  afterGrantMs,
  afterRefusalMs,
  claimAnswer,
  callTermMs,
  Claims,
  claimTermMs,
  claimWaitMs,
  type ClaimAsk,
  judgeClaim,
} from './claims.ts';
import { unmade } from '../callback/callback-failure.ts';
import { type After, afterAttempt, afterRefusal, type Circumstances } from './after-attempt.ts';
import { answerClass, attemptOf, claimResult } from './outcome.ts';
import { claimMessage, concerns, missedFrom, type Pop } from './pop.ts';
import type { PopContext } from '../callback/request.ts';

const takeMax = 1000;
/** After there was no room, so much must be taken again at most before more is taken from the wheel. */
const roomRatio = 0.9;
const holdMs = 100;
/** Another try after a dead letter found no replica to keep it. */
const deadLetterRetryMs = 5000;

export class Popper {
  private readonly parts: PopperParts;
  private readonly active = new Map<number, Pop>();
  private readonly claims: Claims;
  /** Records that were overdue when they came here: somebody who held them before may be popping them. */
  private readonly cameLate = new Set<number>();
  private alarm: { atMs: number; ringsMs: number; cancel: Cancel } | null = null;
  private readonly due: number[] = [];
  /** Until it is woken up, and after it was stopped. */
  private stopped = true;
  /** There was no room for what is due. */
  private crowded = false;
  private readonly awake: Awake;

  constructor(parts: PopperParts) {
    this.parts = parts;
    this.claims = new Claims(parts.random.u32());
    this.awake = new Awake(parts.clock.now());
  }

  /** Callbacks under way or waiting for their turn. */
  get activeCount(): number {
    return this.active.size;
  }

  /** Whether this member's callback for the timer is under way: its outcome belongs into the record. */
  calling({ hi, lo }: { readonly hi: number; readonly lo: number }): boolean {
    return this.active.get(this.parts.store.find(hi, lo))?.phase === 'calling';
  }

  /** Pops that fell due and whose callback has not begun. */
  get waitingCount(): number {
    let waiting = 0;
    for (const { phase } of this.active.values()) if (phase !== 'calling') waiting++;
    return waiting;
  }

  /** From now on. What fell due before, while this member was away or read its disk, may have been popped by others. */
  wakeUp(): void {
    this.stopped = false;
    this.awake.wakeUp(this.parts.clock.now());
    this.poll();
  }

  /** No new pops from now on; `done` when those in flight have ended. */
  stop(): void {
    this.stopped = true;
    this.alarm?.cancel();
    this.alarm = null;
  }

  /** Starts everything that is due. Cheap when nothing is. */
  poll(): void {
    if (this.stopped) return;
    const { store, clock } = this.parts;
    this.noteSleep();
    const room = this.parts.activeCountMax - this.active.size;
    this.crowded = room <= 0;
    // What is due waits in the wheel; the end of a pop makes room and polls again.
    if (this.crowded) return;
    this.due.length = 0;
    store.takeDue(clock.now(), Math.min(room, takeMax), this.due);
    for (const handle of this.due) this.alarmed(handle);
    const nextMs = store.nextAlarmMs();
    // More may be due: let others have their turn in between.
    if (nextMs !== null && nextMs <= clock.now()) clock.soon(() => this.poll());
    else this.wake();
  }

  /** The record behind a handle changed, or went (null). */
  changed(handle: number, record: TimerRecord | null): void {
    this.claims.changed(handle, record);
    const pop = this.active.get(handle);
    if (pop !== undefined) {
      pop.unchanged = false;
      if (pop.phase !== 'calling' || !concerns(pop, record)) this.release(pop);
    }
    const late = record?.state === State.live && record.retryMs < this.parts.clock.now();
    if (late) this.cameLate.add(handle);
    else this.cameLate.delete(handle);
    if (record !== null) this.wake();
  }

  /** Another replica wants to pop. */
  claimed(from: string, ask: ClaimAsk): Answer {
    const { store, clock, replica } = this.parts;
    const nowMs = clock.now();
    const handle = store.find(ask.entry.hi, ask.entry.lo);
    const stored = handle === -1 ? undefined : store.read(handle);
    const pop = this.active.get(handle);
    const own =
      pop === undefined
        ? null
        : {
            by: this.parts.self,
            calling: pop.phase === 'calling',
            position: pop.position,
            untilMs: pop.untilMs,
          };
    const judgement = judgeClaim(stored, ask, { claim: this.claims.get(handle), own, from }, nowMs);
    if (judgement.type === 'granted' && stored !== undefined) {
      if (judgement.yields) this.forget(handle);
      if (judgement.remember) {
        const { untilMs } = this.claims.grant(handle, from, ask, nowMs);
        const position = turnOf(stored, this.parts.self);
        store.arm(handle, Math.max(replica.alarm(stored), untilMs + afterGrantMs(position)));
      } else if (judgement.yields) store.arm(handle, replica.alarm(stored));
      this.wake();
    }
    return claimAnswer(judgement, stored);
  }

  /** Sets the one alarm of this member to the next record's. */
  private wake(): void {
    if (this.stopped) return;
    const { store, clock } = this.parts;
    const atMs = store.nextAlarmMs();
    if (this.alarm !== null && this.alarm.atMs === atMs) return;
    this.alarm?.cancel();
    if (atMs === null) this.alarm = null;
    else {
      const ringsMs = Math.max(atMs, clock.now());
      this.alarm = { atMs, ringsMs, cancel: clock.at(atMs, () => this.rang()) };
    }
  }

  /** An alarm that rings late: this member stood still. A record that came in overdue says nothing of the kind. */
  private noteSleep(): void {
    if (this.alarm !== null) this.awake.rang(this.alarm.ringsMs, this.parts.clock.now());
  }

  private rang(): void {
    const { clock } = this.parts;
    const nowMs = clock.now();
    const isLate = this.alarm !== null && this.awake.rang(this.alarm.ringsMs, nowMs);
    this.alarm = null;
    // Messages that arrived meanwhile are read first: a cancel may be among them. After a sleep the others are asked instead.
    if (isLate && this.awake.sinceMs < nowMs) clock.soon(() => this.poll());
    else this.poll();
  }

  private alarmed(handle: number): void {
    if (this.active.has(handle)) return;
    const { store, clock, onEnd } = this.parts;
    const record = store.read(handle);
    if (record.state !== State.live) return onEnd(record);
    const claim = this.claims.get(handle);
    if (claim !== undefined && claim.untilMs > clock.now()) {
      const position = turnOf(record, this.parts.self);
      return store.arm(handle, claim.untilMs + afterGrantMs(position));
    }
    const slept = this.awake.sleptOver(record);
    // Nothing is held back beyond its time, or that of the next pop, whatever the others could still say of it.
    const sinceMs = slept ? this.awake.sinceMs : record.retryMs;
    const canWait = clock.now() < sinceMs + record.gapMs / 2;
    if (canWait && this.parts.holds(handle, slept, slept || this.mayBeStale(record))) {
      return store.arm(handle, clock.now() + holdMs);
    }
    this.begin(handle, record);
  }

  private begin(handle: number, record: TimerRecord): void {
    const { store, clock, self, othersOf } = this.parts;
    const definition = decodeDefinition(record.body);
    const earlyMs = this.earlyMs(record, definition);
    if (earlyMs > 0) return store.arm(handle, clock.now() + earlyMs);
    const call = callOf(record, definition);
    const restMs = this.restMs(record, definition, call);
    if (restMs > 0) return store.arm(handle, clock.now() + restMs);
    const pop: Pop = {
      handle,
      record,
      definition,
      call,
      position: turnOf(record, self),
      others: othersOf(record, this.mayBeStale(record) || this.cameLate.has(handle)),
      serial: this.claims.nextSerial(),
      phase: 'claiming',
      untilMs: 0,
      unchanged: true,
      missed: 0,
      startMs: 0,
      stopRenewing: ignore,
    };
    invariant(!this.active.has(handle), 'a timer has one pop at a time');
    this.active.set(handle, pop);
    this.claim(pop);
  }

  /** How long a pop rests because its receiver is left alone, or has too many waiting; 0: its turn is now. */
  private restMs(record: TimerRecord, definition: Definition, call: Call): number {
    const waitMs = this.parts.batches.waitMs(call);
    if (waitMs === 0) return 0;
    const at = this.parts.instant();
    const pop = { record, missed: missedPops(record, definition, at), startMs: at.nowMs };
    const result = unmade('', waitMs);
    const after = afterRefusal(record, definition, result, this.circumstances(pop, at));
    // One that is to be given up goes its way: the others are asked first.
    return after.kind === 'wait' ? after.waitMs : 0;
  }

  /** How far away a wall-clock instant still is: the clock may have been set back since the timer was armed. */
  private earlyMs(record: TimerRecord, { timing, origin }: Definition): number {
    if (timing.kind !== 'at' || record.attempt > 0 || origin !== null) return 0;
    return timing.atMs - this.parts.instant().wallMs;
  }

  /** Asks the other replicas to hold back; goes on when all answered, or at the latest after a bound. */
  private claim(pop: Pop): void {
    const { clock, peers } = this.parts;
    const { record } = pop;
    pop.phase = 'claiming';
    const nowMs = clock.now();
    const termMs = claimTermMs(record, nowMs);
    pop.untilMs = nowMs + termMs;
    if (pop.others.length === 0) return this.queue(pop);
    const slept = this.mayBeStale(record);
    // Who slept heard nobody: that says nothing about the others.
    const awaited = new Set(pop.others.filter((name) => slept || !peers?.silent(name)));
    const go = (): void => {
      cancel();
      if (this.active.get(pop.handle) === pop && pop.phase === 'claiming') this.queue(pop);
    };
    const waitedMs = nowMs + claimWaitMs(record, slept, nowMs);
    // Answers that came while this member was busy are read before it gives up on them.
    const cancel = clock.at(waitedMs, () => clock.soon(() => this.waited(pop, waitedMs, go)));
    const message = claimMessage(pop, termMs);
    for (const name of pop.others) {
      peers?.send(name, message, (answer) => {
        this.parts.metrics.claims.add(claimResult(answer));
        const onward = this.claimAnswered(pop, answer);
        awaited.delete(name);
        if (!onward) cancel();
        else if (awaited.size === 0) go();
      });
    }
    if (awaited.size === 0) go();
  }

  /** Some did not answer in time. If this member itself stood still meanwhile, they had no time to, and are asked again. */
  private waited(pop: Pop, untilMs: number, go: () => void): void {
    const isAsking = this.active.get(pop.handle) === pop && pop.phase === 'claiming';
    if (this.awake.rang(untilMs, this.parts.clock.now()) && isAsking) this.claim(pop);
    else go();
  }

  private mayBeStale(record: TimerRecord): boolean {
    return this.awake.mayBeStale(record, this.parts.replica.alarm(record));
  }

  /** False when this member must not go on. */
  private claimAnswered(pop: Pop, answer: Answer | null): boolean {
    const { replica, metrics } = this.parts;
    const current = this.active.get(pop.handle) === pop;
    if (answer?.type === 'ahead') {
      if (current && pop.phase !== 'calling') metrics.pops.add('skipped_duplicate');
      replica.receive(answer.record, 'any', ignore);
      return this.active.get(pop.handle) === pop;
    }
    if (answer?.type !== 'claimed' || !current || pop.phase !== 'claiming') return current;
    this.holdBack(pop, answer.leftMs);
    return false;
  }

  private holdBack(pop: Pop, leftMs: number): void {
    this.forget(pop.handle);
    const waitMs = Math.min(Math.max(leftMs, 0), 60_000) + afterRefusalMs(pop.record, pop.position);
    this.lookAgain(pop.handle, waitMs);
  }

  private queue(pop: Pop): void {
    pop.phase = 'queued';
    this.parts.batches.call(
      pop.call,
      () => this.start(pop),
      (result) => this.ended(pop, result),
    );
  }

  /** Its turn has come. What to call with, unless the pop is no longer this member's to make. */
  private start(pop: Pop): PopContext | null {
    if (this.active.get(pop.handle) !== pop) return null;
    const { clock, metrics, idOf, callbackTimeoutMs } = this.parts;
    const nowMs = clock.now();
    if (pop.others.length > 0 && nowMs >= pop.untilMs) {
      this.claim(pop);
      return null;
    }
    const at = this.parts.instant();
    const { record, definition } = pop;
    const missed = missedPops(record, definition, at);
    invariant(nowMs >= record.retryMs, 'no callback starts before it is due');
    invariant(
      pop.others.length === 0 || nowMs < pop.untilMs,
      'a claim holds when the request leaves',
    );
    pop.phase = 'calling';
    pop.startMs = nowMs;
    pop.missed = missed;
    if (record.attempt === 0) metrics.popLateness.observe(nowMs - record.dueMs);
    this.renew(pop);
    return { record, definition, missed, id: idOf(record), timeoutMs: callbackTimeoutMs, at };
  }

  /** Keeps the claim alive while the call is in flight. */
  private renew(pop: Pop): void {
    if (pop.others.length === 0) return;
    const { clock, peers } = this.parts;
    const termMs = callTermMs(pop.record.gapMs);
    pop.stopRenewing = clock.at(clock.now() + termMs / 3, () => {
      pop.untilMs = clock.now() + termMs;
      const message = claimMessage(pop, termMs);
      for (const name of pop.others) {
        if (!peers?.silent(name)) peers?.send(name, message, ignore);
      }
      this.renew(pop);
    });
  }

  private ended(pop: Pop, result: CallbackResult): void {
    const { metrics } = this.parts;
    const at = this.parts.instant();
    if (result.kind === 'unmade') return this.refused(pop, result, at);
    metrics.callbackDuration.observe(at.nowMs - pop.startMs);
    metrics.callbackAnswers.add(answerClass(result));
    this.parts.history.add(pop.record, attemptOf(pop, result, at));
    const current = this.present(pop);
    if (current === null) {
      this.release(pop);
      metrics.pops.add('superseded');
      return;
    }
    const missed = missedFrom(pop, current);
    const circumstances = this.circumstances({ ...pop, missed }, at);
    this.carryOut(pop, current, afterAttempt(current, pop.definition, result, circumstances));
  }

  /** The request did not leave. A pop that is somebody else's by then is no longer this member's to judge. */
  private refused(pop: Pop, result: Unmade, at: Instant): void {
    pop.stopRenewing();
    if (this.active.get(pop.handle) !== pop) return;
    pop.phase = 'queued';
    pop.startMs = at.nowMs;
    pop.missed = missedPops(pop.record, pop.definition, at);
    const current = this.present(pop);
    if (current === null) return this.release(pop);
    const circumstances = this.circumstances(pop, at);
    this.carryOut(pop, current, afterRefusal(current, pop.definition, result, circumstances));
  }

  private circumstances(
    { record, missed, startMs }: Pick<Pop, 'record' | 'missed' | 'startMs'>,
    at: Instant,
  ): Circumstances {
    const { retry, random, idOf } = this.parts;
    const boxIsFull = this.parts.isBoxFull(record.namespace);
    return { at, startMs, missed, id: idOf(record), retry, random, boxIsFull };
  }

  /** The record as it is now, if it still waits for the outcome of this pop. */
  private present(pop: Pop): TimerRecord | null {
    if (pop.unchanged && this.active.get(pop.handle) === pop) return pop.record;
    const current = this.parts.replica.get(pop.record.hi, pop.record.lo);
    return current !== undefined && concerns(pop, current) ? current : null;
  }

  private carryOut(pop: Pop, current: TimerRecord, after: After): void {
    const { metrics, keep } = this.parts;
    switch (after.kind) {
      case 'delivered':
        metrics.pops.add('delivered');
        for (let i = 0; i < pop.missed; i++) metrics.pops.add('merged');
        return this.settle(pop, after.record, current);
      case 'retry':
        metrics.pops.add('retried');
        return this.settle(pop, after.record);
      case 'wait':
        this.forget(pop.handle);
        return this.lookAgain(pop.handle, after.waitMs);
      case 'letter':
        // It is this member's until its letter is safe.
        pop.phase = 'calling';
        if (pop.definition.origin === null) {
          return keep(after.letter, (kept) => this.buried(pop, after.record, kept));
        }
        metrics.pops.add('dead');
        this.settle(pop, after.letter);
    }
  }

  private lookAgain(handle: number, afterMs: number): void {
    this.parts.store.arm(handle, this.parts.clock.now() + afterMs);
    this.wake();
  }

  /** The dead letter is safe (or found no place): now the timer may move on (or must wait). */
  private buried(pop: Pop, attempted: TimerRecord, kept: boolean): void {
    const current = this.present(pop);
    if (current === null) return this.release(pop);
    const { attempt, outcome, triedMs } = attempted;
    if (!kept) {
      const retryMs = this.parts.clock.now() + deadLetterRetryMs;
      const tried = { ...current, attempt, outcome, triedMs, retryMs };
      if (attempt > current.attempt) return this.settle(pop, tried);
      // Given up for having waited: there is no attempt to write down.
      this.release(pop);
      return this.lookAgain(pop.handle, deadLetterRetryMs);
    }
    this.parts.metrics.pops.add('dead');
    const missed = missedFrom(pop, current);
    const next = afterPop(current, pop.definition, missed, this.parts.instant());
    this.settle(pop, { ...next, outcome });
  }

  /** The pop is over: its outcome goes to disk and to the other replicas. `stored`: what is there now, if at hand. */
  private settle(pop: Pop, next: TimerRecord, stored?: TimerRecord): void {
    invariant(compareProgress(next, pop.record) > 0, 'a pop moves its record on');
    this.release(pop);
    this.parts.replica.write(next, stored);
    this.parts.tell(next);
  }

  private release(pop: Pop): void {
    pop.stopRenewing();
    if (this.active.get(pop.handle) === pop) this.forget(pop.handle);
  }

  /** Nobody need hold back for a pop that will not be made here. Where it was made, whoever did so tells them. */
  private giveBack(pop: Pop): void {
    if (compareProgress(this.parts.store.read(pop.handle), pop.record) !== 0) return;
    const message = claimMessage(pop, 0);
    for (const name of pop.others) this.parts.peers?.send(name, message, ignore);
  }

  /** One pop less: there may be room for what waits in the wheel. */
  private forget(handle: number): void {
    const pop = this.active.get(handle);
    this.active.delete(handle);
    if (pop !== undefined && pop.phase !== 'calling') this.giveBack(pop);
    if (!this.crowded || this.active.size > this.parts.activeCountMax * roomRatio) return;
    this.crowded = false;
    this.parts.clock.soon(() => this.poll());
  }
}

function ignore(): void {}
