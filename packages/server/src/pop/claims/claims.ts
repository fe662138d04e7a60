/**
 * Claims: "I am about to pop this, hold back." A replica that grants one waits until the claim ends, so that a slow
 * receiver causes no second call; if the claimant dies, the claim runs out and the next replica goes on. Claims live in
 * memory only. Their times are in `claim-terms.ts`.
 *
 * C1  A claim for a state older than the stored one is answered with the stored record.
 * C2  Of two replicas that want the same pop the one earlier in the list gets it, unless the other's call is already in
 *     flight, or it slept over the pop and the other did not: a member that slept is patient beyond twice the gap, and
 *     must not keep one from the pop that can still make it in time. `position` says both (`rankOf`).
 * C3  A claim is given to a second asker only where both are listed: they ask each other too, and the first hears that
 *     it lost. While views differ two may not know each other, and the first that asked keeps the claim.
 * C4  A member that gives up a pop before its call gives its claims back, as claims with no term: a new list of
 *     replicas takes the pop away from a claimant, and replicas that hold back for it cannot know whether it calls
 *     already. Each pop has a serial: a give-back ends the claim of its own pop and no other, and a claim that comes
 *     behind its give-back is over. The network may double messages, and bring one late.
 * C5  A claim for a state that this member has yet to hear of counts like any other: claims may overtake the records
 *     they are for, and when the record comes the member would otherwise pop it too.
 * C6  A claim ends at the same moment for the claimant and for a member that grants it, also where the claim was read
 *     late: it says when its pop is due, and so how long it lay in the socket of a member that stood still.
 * C7  A call under way that stands for several pops goes before a claim for any of them, also where the claimant has
 *     made the first of them and this member has yet to hear of it.
 * C8  A member that slept over a pop holds back one that was awake for the term of its first claim only, until its call
 *     is under way: it may ask again beyond twice the gap, where answers do not reach it, or where it gets no processor
 *     again and again. The one that was awake then asks in its turn, and goes before it (C2).
 *
 * Example: pop 4 of a timer with replicas a, b and c, at c. At 40.000 s b claims it for 3 s (a is slow): c grants, and
 * holds back until 43.000 s. At 40.010 s a claims it too: a is earlier in the list and b does not call yet, so c grants
 * it to a (C2); b hears from a that it lost. At 40.012 s b gives its claim back: c holds one of a by now, and keeps it
 * (C4). At 41.000 s a renews, calling: from now on c answers any other claim with "claimed, 3 s left". At 41.500 s the
 * record of pop 4 comes: the claim is over. Had b asked for pop 4 now, c would have answered with that record (C1).
 */
import { compareProgress, invariant, type Progress, type TimerRecord } from '@carillon/core';
import type { Answer } from '../../replication/wire/answer.ts';
import type { Message } from '../../replication/wire/message.ts';
import { sleptOver, termMsMax } from './claim-terms.ts';

export type ClaimAsk = Extract<Message, { type: 'claim' }>;

export interface Claim {
  /** The name of the claimant. */
  readonly by: string;
  /** The rank of the claimant among the members that want the pop: the lowest goes first. */
  readonly position: number;
  /** Whether the request of the claimant has left. */
  readonly calling: boolean;
  readonly untilMs: number;
  /** The number of the claimant's pop. */
  readonly serial: number;
  readonly givenBack: boolean;
  /** The state of the timer that it was granted for. */
  readonly progress: Progress;
}

/** The pop of this member itself for the same timer. */
export type OwnPop = {
  /** The name of this member. */
  readonly by: string;
  /** Whether its request has left, and stands for the pop that is asked for: by itself or among others. */
  readonly calling: boolean;
  readonly position: number;
  /** When its claim at the others ends. */
  readonly untilMs: number;
} | null;

export type Judgement =
  /** The record is not here. */
  | { readonly type: 'unknown' }
  /** The stored record is newer. */
  | { readonly type: 'ahead' }
  /** Another pop goes before, for so long. */
  | { readonly type: 'claimed'; readonly leftMs: number }
  /** remember: this member holds back; yields: it gives up its own pop. */
  | { readonly type: 'granted'; readonly remember: boolean; readonly yields: boolean };

/** The serial of a claimant that speaks a protocol without them. */
const noSerial = 0;

/** The serial of a member's next pop: 32 bits, and never that of a claimant without one. */
export function serialAfter(serial: number): number {
  return (serial + 1) % 2 ** 32 || 1;
}

/** The answer of this member to a claim. Pure. */
export function judgeClaim(
  stored: TimerRecord | undefined,
  ask: ClaimAsk,
  known: {
    readonly claim: Claim | undefined;
    readonly own: OwnPop;
    readonly from: string;
    /** The rank of this member among the members that want the pop. */
    readonly rank: number;
  },
  nowMs: number,
): Judgement {
  if (stored === undefined) return { type: 'unknown' };
  const order = compareProgress(stored, ask.standing);
  if (givesBack(ask)) {
    const remember = order <= 0 && known.own === null && ends(ask, known);
    return { type: 'granted', remember, yields: false };
  }
  if (order > 0) return { type: 'ahead' };
  if (isOver(ask, known)) return { type: 'granted', remember: false, yields: false };
  const { own, from } = known;
  const claim = concerning(known.claim, ask);
  const asker = { by: from, position: ask.position };
  // A claimant that knows a newer state is past the pop that this member wants to make. It may not be past the last pop
  // that a call under way stands for.
  if (own !== null && (order === 0 || own.calling)) {
    const first = !goesBefore(asker, own) && own.untilMs > nowMs && !ask.calling;
    if (own.calling || first) return { type: 'claimed', leftMs: Math.max(0, own.untilMs - nowMs) };
    return { type: 'granted', remember: true, yields: true };
  }
  if (claim !== undefined && claim.by !== from && claim.untilMs > nowMs) {
    const acquainted = stored.replicas.includes(from) && stored.replicas.includes(claim.by);
    const earlier = acquainted && goesBefore(asker, claim) && !claim.calling;
    if (!earlier && !ask.calling) return { type: 'claimed', leftMs: claim.untilMs - nowMs };
  }
  const remember = order < 0 || !holdsLongEnough(stored, ask, known);
  return { type: 'granted', remember, yields: own !== null };
}

/** Whether a claimant that slept over the pop asks a member again that was awake (C8). */
function holdsLongEnough(
  stored: TimerRecord,
  { calling, position, standing }: ClaimAsk,
  { claim, from, rank }: Granted & { readonly rank: number },
): boolean {
  if (calling || sleptOver(stored, rank) || !sleptOver(stored, position)) return false;
  if (claim?.by !== from || claim.givenBack) return false;
  return compareProgress(claim.progress, standing) === 0;
}

/** The claim, unless it is for an older state than the one that is asked for: such a claim is over. */
function concerning(claim: Claim | undefined, { standing }: ClaimAsk): Claim | undefined {
  return claim !== undefined && compareProgress(claim.progress, standing) >= 0 ? claim : undefined;
}

type Granted = { readonly claim: Claim | undefined; readonly from: string };

/** Whether a give-back is for the claim that is known. Without serials it is taken to be (C4). */
function ends({ serial }: ClaimAsk, { claim, from }: Granted): boolean {
  if (claim?.by !== from) return false;
  return claim.serial === serial || claim.serial === noSerial || serial === noSerial;
}

/** Whether a claim comes behind its own give-back. */
function isOver({ serial }: ClaimAsk, { claim, from }: Granted): boolean {
  if (claim?.by !== from || !claim.givenBack) return false;
  return serial !== noSerial && claim.serial === serial;
}

/** Whether the claim has no term. Written so that a term that is not a number counts as none. */
function givesBack({ termMs }: ClaimAsk): boolean {
  return !(termMs > 0);
}

/** While views differ two members may have the same position: then the name decides, the same everywhere. */
function goesBefore(a: Contender, b: Contender): boolean {
  return a.position < b.position || (a.position === b.position && a.by < b.by);
}

type Contender = { readonly by: string; readonly position: number };

/** The claims this member has granted, by the handle of the record. */
export class GrantedClaims {
  private readonly byHandle = new Map<number, Claim>();

  get(handle: number): Claim | undefined {
    return this.byHandle.get(handle);
  }

  /** `askedMs`: when the claim left the claimant. */
  grant(handle: number, from: string, ask: ClaimAsk, askedMs: number): Claim {
    const givenBack = givesBack(ask);
    const termMs = givenBack ? 0 : Math.min(ask.termMs, termMsMax);
    const { position, calling, standing, serial } = ask;
    const claim: Claim = {
      by: from,
      position,
      calling,
      untilMs: askedMs + termMs,
      serial,
      givenBack,
      progress: standing,
    };
    invariant(claim.untilMs >= askedMs, 'a claim does not end before it was asked for');
    this.byHandle.set(handle, claim);
    return claim;
  }

  /**
   * The record changed. Its claim is over if the record moved on; not if it came to the claimed state (C5), or if only
   * its list of replicas is new.
   */
  changed(handle: number, record: TimerRecord | null): void {
    const claim = this.byHandle.get(handle);
    if (claim === undefined) return;
    if (record === null || compareProgress(record, claim.progress) > 0) {
      this.byHandle.delete(handle);
    }
  }
}

/**
 * When the claim left the claimant, by the clock of this member. The claim told how far away its pop was then; if the
 * pop is further away now than it is by the record here, the claim lay for the difference (C6). A renewal comes from a
 * call under way, which is a fact for the whole of its term. Example: the pop is due at 40.000 s here. The claim says,
 * as read at 40.110 s, that it is due in 0 s: it left 110 ms ago.
 */
export function askedAtMs(stored: TimerRecord, ask: ClaimAsk, nowMs: number): number {
  if (ask.calling || compareProgress(stored, ask.standing) !== 0) return nowMs;
  const lainMs = ask.dueMs - stored.retryMs;
  return lainMs > 0 && lainMs < Infinity ? nowMs - lainMs : nowMs;
}

/** The answer on the wire for a judgement. */
export function claimAnswer(judgement: Judgement, stored: TimerRecord | undefined): Answer {
  switch (judgement.type) {
    case 'unknown':
      return { type: 'unknown' };
    case 'ahead':
      return stored === undefined ? { type: 'unknown' } : { type: 'ahead', record: stored };
    case 'claimed':
      return { type: 'claimed', leftMs: judgement.leftMs };
    case 'granted':
      return { type: 'granted' };
  }
}
