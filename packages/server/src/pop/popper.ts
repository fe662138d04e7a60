/**
 * Pops: from the alarm of a record to its next state. Alarm → claim at the other replicas → call back → next sequence,
 * retry or dead letter → tell the others. Here the steps are put in order; each has a file of its own:
 *
 *   alarm.ts      which records are due           readiness.ts  whether one of them may pop now
 *   claiming.ts   asks the other replicas         granting.ts   answers them
 *   holding.ts    waits for the time of the pop
 *   batches.ts    waits for a place               attempts.ts   makes the next record of the answer
 *   pop-phase.ts  the phases of a pop, and which event leads where
 *
 * P-1  Nothing starts before its due time (P3).
 * P-2  Just before the request leaves, the record is still the one that fell due and the claim still holds; a cancel,
 *      an update or a pause in between sends the pop back to the start (P6).
 * P-3  A pop ends with a record written and sent to the others, or because another member wrote a newer one; never
 *      without either (P2).
 *
 * Example: an interval of 10 s with replicas a and b, at a. 9.990 s: the alarm rings; b is asked to hold back. 9.992 s:
 * b grants; the pop waits for its time. 10.000 s: it waits for a place at its receiver. 10.001 s: the request leaves,
 * and the claim is renewed each second. 10.050 s: the receiver answers 200; the record has sequence 1 now, is due at
 * 20.000 s, and goes to disk and to b.
 */
import { decodeDefinition, State, type TimerRecord } from '@carillon/core';
import type { PopContext } from '../callback/request.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { Store } from '../store/store.ts';
import type { ActivePops } from './active-pops.ts';
import type { Alarm } from './alarm.ts';
import type { Attempts } from './attempts.ts';
import type { Batches } from './sending/batches.ts';
import type { Claiming } from './claiming.ts';
import type { ClaimAsk } from './claims/claims.ts';
import type { Granting } from './granting.ts';
import type { Held, Holding } from './holding.ts';
import { concerns, newPop, type Pop } from './pop.ts';
import { isOut, isUnderWay, type PopAction, type PopEvent } from './pop-phase.ts';
import type { Readiness } from './readiness.ts';

export interface PopperParts {
  readonly store: Store;
  readonly pops: ActivePops;
  /** Calls `due` for each record whose time has come. */
  readonly alarm: Alarm;
  readonly readiness: Readiness;
  readonly claiming: Claiming;
  readonly granting: Granting;
  readonly holding: Holding;
  /** Calls back when the receiver has a place, and again when its answer is there. */
  readonly batches: Pick<Batches, 'addresseeOf' | 'call'>;
  readonly attempts: Attempts;
  /** The time of a tombstone or dead letter is over. */
  readonly onEnd: (record: TimerRecord) => void;
}

/** Holds no state of its own: pops under way are in `pops`, records in the store, claims in `granting`. */
export class Popper {
  private readonly parts: PopperParts;

  constructor(parts: PopperParts) {
    this.parts = parts;
  }

  /** Callbacks under way or waiting for a place. */
  get activeCount(): number {
    return this.parts.pops.size;
  }

  /** Pops that fell due and whose callback has not begun. */
  get waitingCount(): number {
    return this.parts.pops.waitingCount;
  }

  /** Whether this member's callback for the timer is under way: its outcome belongs into the record. */
  calling({ hi, lo }: { readonly hi: number; readonly lo: number }): boolean {
    const { pops, store } = this.parts;
    const pop = pops.get(store.find(hi, lo));
    return pop !== undefined && isOut(pop.phase);
  }

  /** Begins to pop. Records that fell due earlier may have been popped by others. */
  wakeUp(): void {
    this.parts.alarm.start();
  }

  /** No new pops from now on; the ones under way go on. */
  stop(): void {
    this.parts.alarm.stop();
  }

  /** Starts every pop that is due. Cheap when none is. */
  poll(): void {
    this.parts.alarm.poll();
  }

  /**
   * The record behind a handle changed, or went (null). A pop whose request has not left begins anew with the new
   * record, at the time that the wheel has for it; one whose request is out goes on as long as the record waits for its
   * outcome.
   */
  changed(handle: number, record: TimerRecord | null): void {
    const { pops, alarm, claiming, granting } = this.parts;
    granting.changed(handle, record);
    const pop = pops.get(handle);
    if (pop !== undefined) {
      pop.unchanged = false;
      this.happens(pop, concerns(pop, record) ? 'written' : 'moved-on');
    }
    claiming.changed(handle, record);
    if (record !== null) alarm.adjust();
  }

  /** Another replica wants to pop, renews its claim, or gives it back. */
  claimed(from: string, ask: ClaimAsk): Answer {
    return this.parts.granting.claimed(from, ask);
  }

  /** The alarm of the record rang: it pops, or goes back into the wheel until it may. */
  due(handle: number): void {
    const { pops, store, batches, claiming, readiness, onEnd } = this.parts;
    // The pop under way looks after the record; its end puts it back into the wheel.
    if (pops.has(handle)) return;
    const record = store.read(handle);
    if (record.state !== State.live) return onEnd(record);
    const heldMs = readiness.heldUntilMs(handle, record);
    if (heldMs !== null) return store.arm(handle, heldMs);
    const definition = decodeDefinition(record.body);
    const to = batches.addresseeOf(record, definition);
    const waitsMs = readiness.waitsUntilMs(record, definition, to);
    if (waitsMs !== null) return store.arm(handle, waitsMs);
    const pop = newPop({ handle, record, definition, to }, claiming.claimOf(handle, record));
    pops.add(pop);
    claiming.ask(pop);
  }

  /**
   * An event of a pop: moves it to its next phase, and carries out an action that needs no more than the pop itself.
   * Other actions are left to the caller.
   */
  happens(pop: Pop, event: PopEvent): PopAction {
    const { pops, alarm, claiming, holding } = this.parts;
    const action = pops.step(pop, event);
    if (action === 'ask') claiming.ask(pop);
    else if (action === 'queue') holding.hold(pop, this.held);
    else if (action === 'give-back' || action === 'postpone') claiming.giveBack(pop);
    if (!isUnderWay(pop.phase)) alarm.madeRoom();
    return action;
  }

  /** The time of a pop that waited for it has come, unless it ended meanwhile. */
  private readonly held = (pop: Pop, held: Held): void => {
    if (!isUnderWay(pop.phase)) return;
    if (held === 'due') return this.queue(pop);
    if (held === 'slept') return void this.happens(pop, 'place-late');
    this.happens(pop, 'rest');
    this.parts.alarm.again(pop.handle, 0);
  };

  /**
   * Waits for a place at the receiver: `start` is called once it has one, `ended` once, if a request was made or
   * refused.
   */
  private queue(pop: Pop): void {
    const { batches, attempts } = this.parts;
    batches.call(
      pop.to,
      () => this.start(pop),
      (result) => attempts.ended(pop, result),
    );
  }

  /**
   * The receiver has a place. null: the pop is no longer this member's to make, or the others are asked again first.
   */
  private start(pop: Pop): PopContext | null {
    const { claiming, attempts } = this.parts;
    const heldAtMs = claiming.heldAtMs(pop);
    const isLate = isUnderWay(pop.phase) && heldAtMs === null;
    const action = this.happens(pop, isLate ? 'place-late' : 'place');
    if (action !== 'call' || heldAtMs === null) return null;
    const context = attempts.begin(pop, heldAtMs);
    claiming.renew(pop);
    return context;
  }
}
