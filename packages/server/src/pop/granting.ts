/**
 * The side of a claim that answers: another replica wants to pop, and this member says whether it holds back.
 * `claims/` has the times and the rules, `claiming.ts` the side that asks.
 *
 * Example: a timer of 10 s with replicas a, b and c, at b, whose own alarm is set to 12.000 s. At 10.001 s a claims the
 * pop for 3 s: b grants, and sets its alarm to 13.011 s, the end of the claim and 10 ms for its rank. At 11.003 s a
 * renews for 3 s more: 14.013 s. At 11.200 s the new record comes, and with it the alarm for the next pop: the claim is
 * over.
 */
import type { Clock, TimerRecord } from '@carillon/core';
import type { Replica } from '../replication/replica.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { Store } from '../store/store.ts';
import { positionOf } from '../timer/schedule.ts';
import type { ActivePops } from './active-pops.ts';
import type { Awake } from './awake.ts';
import { afterGrantMs, rankOf } from './claims/claim-terms.ts';
import {
  askedAtMs,
  type ClaimAsk,
  claimAnswer,
  GrantedClaims,
  judgeClaim,
  type OwnPop,
} from './claims/claims.ts';
import { concerns, holdsBack, type Pop } from './pop.ts';
import { isOut } from './pop-phase.ts';

export interface GrantingParts {
  readonly self: string;
  readonly clock: Clock;
  readonly store: Store;
  readonly replica: Pick<Replica, 'alarm' | 'get'>;
  readonly pops: ActivePops;
  readonly awake: Pick<Awake, 'sleepOf'>;
  /** The pop of this member makes way for that of another. */
  readonly yields: (pop: Pop) => void;
  /** The alarm of a record has changed. */
  readonly onArmed: () => void;
}

export class Granting {
  private readonly parts: GrantingParts;
  private readonly claims = new GrantedClaims();

  constructor(parts: GrantingParts) {
    this.parts = parts;
  }

  /** The record behind a handle changed, or went (null). */
  changed(handle: number, record: TimerRecord | null): void {
    this.claims.changed(handle, record);
  }

  /** The member that claimed the pop of the record last, and has not given it back; null: none. */
  claimantOf(handle: number): string | null {
    const claim = this.claims.get(handle);
    return claim === undefined || claim.givenBack ? null : claim.by;
  }

  /** Until when this member holds back from the pop, for a claim that it has granted; null: it does not. */
  heldUntilMs(handle: number, record: TimerRecord): number | null {
    const { clock } = this.parts;
    const claim = this.claims.get(handle);
    if (claim === undefined || claim.untilMs <= clock.now()) return null;
    return claim.untilMs + afterGrantMs(this.rankOf(record));
  }

  /** Another replica wants to pop, renews its claim, or gives it back. */
  claimed(from: string, ask: ClaimAsk): Answer {
    const { clock, store, replica, pops, yields, onArmed } = this.parts;
    const nowMs = clock.now();
    const handle = store.find(ask.standing.hi, ask.standing.lo);
    const stored = handle === -1 ? undefined : store.read(handle);
    const pop = pops.get(handle);
    const rank = stored === undefined ? 0 : this.rankOf(stored);
    const known = { claim: this.claims.get(handle), own: this.own(pop, ask), from, rank };
    const judgement = judgeClaim(stored, ask, known, nowMs);
    if (judgement.type === 'claimed' && pop !== undefined) holdsBack(pop, from);
    if (judgement.type === 'granted' && stored !== undefined) {
      if (judgement.yields && pop !== undefined) yields(pop);
      if (judgement.remember) {
        const { untilMs } = this.claims.grant(handle, from, ask, askedAtMs(stored, ask, nowMs));
        const heldMs = untilMs + afterGrantMs(rank);
        store.arm(handle, Math.max(replica.alarm(stored), heldMs));
      } else if (judgement.yields) store.arm(handle, replica.alarm(stored));
      onArmed();
    }
    return claimAnswer(judgement, stored);
  }

  private rankOf(record: TimerRecord): number {
    const { self, awake } = this.parts;
    return rankOf(record, positionOf(record, self), awake.sleepOf(record));
  }

  private own(pop: Pop | undefined, { standing }: ClaimAsk): OwnPop {
    if (pop === undefined) return null;
    const { phase, rank: position, untilMs } = pop;
    const calling = isOut(phase) && concerns(pop, standing);
    return { by: this.parts.self, calling, position, untilMs };
  }
}
