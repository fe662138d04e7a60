/**
 * Claims: "I am about to pop this, hold back." A replica that grants one waits until the claim ends, so that a
 * slow receiver causes no second call; if the claimant dies, the claim runs out and the next replica goes on.
 * Claims live in memory only.
 *
 * C1  A claim for a state older than the holder's is answered with the holder's record.
 * C2  Of two replicas that want the same pop the one earlier in the list gets it, unless the other's call
 *     is already in flight.
 * C3  A claim is given to a second asker only where both are listed: they ask each other too, and the first hears that it
 *     lost. While views differ two may not know each other, and who came first keeps it.
 * C4  Who gives up a pop before its call gives its claims back, as claims with no term: a new list of replicas takes the
 *     pop away from a claimant, and those that hold back for it cannot know whether it calls already.
 *     Each pop has a serial: a give-back ends the claim of its own pop and no other, and a claim that comes behind its
 *     give-back is over. The network may double messages, and bring one late.
 * C5  A claim for a state that the holder has yet to hear of counts like any other: claims may overtake the records they
 *     are for, and when the record comes the holder would otherwise take the pop for nobody's.
 */
import { compareProgress, invariant, type Progress, type TimerRecord } from '@carillon/core';
import { latestMs, stepMs } from '../timer/schedule.ts';
import type { Answer, Message } from '../replication/wire.ts';

export type ClaimAsk = Extract<Message, { type: 'claim' }>;

export interface Claim {
  readonly by: string;
  readonly position: number;
  readonly calling: boolean;
  readonly untilMs: number;
  readonly serial: number;
  readonly givenBack: boolean;
  /** The state of the timer that it was granted for. */
  readonly progress: Progress;
}

/** What this member itself is doing about the pop in question. */
export type OwnPop = {
  /** Its name. */
  readonly by: string;
  readonly calling: boolean;
  readonly position: number;
  readonly untilMs: number;
} | null;

export type Judgement =
  | { readonly type: 'unknown' }
  | { readonly type: 'ahead' }
  | { readonly type: 'claimed'; readonly leftMs: number }
  /** remember: whether the holder must hold back; yields: whether it gives up its own attempt. */
  | { readonly type: 'granted'; readonly remember: boolean; readonly yields: boolean };

/** Of a claimant that speaks a protocol without them. */
const noSerial = 0;

export const termMsMax = 3000;
const termMsMin = 50;
/** Of a claimant that comes late: time enough for an answer and for the request to leave. */
const lateTermMsMin = 20;

const claimWaitMsMax = 100;
/** Who comes late anyway can wait this long for the others to say that it is done. */
const lateClaimWaitMs = 1000;

/** Between two that wait for the same claim to end. */
const afterClaimStepMs = 10;

/** How long after the end of a claim a holder that granted it looks after the pop again. */
export function afterGrantMs(position: number): number {
  return position * afterClaimStepMs;
}

/**
 * The same for one that was refused because of it: later than all that granted one. Two that do not know each other
 * and were each refused for the other would only meet again and again.
 */
export function afterRefusalMs({ replicas }: TimerRecord, position: number): number {
  return (replicas.length + 1 + position) * afterClaimStepMs;
}

/** How long a claim holds while its call is under way: renewed well before. */
export function callTermMs(gapMs: number): number {
  return Math.min(termMsMax, Math.max(termMsMin, gapMs / 2));
}

/**
 * How long a claim holds before its call: short enough that the next replica is still inside twice the gap, also where the
 * claimant itself comes late. One that comes so late that nobody could be inside it holds as long as any other.
 */
export function claimTermMs(record: TimerRecord, nowMs: number): number {
  const { gapMs, retryMs, factor, replicas } = record;
  const fullMs = callTermMs(gapMs);
  const leftMs =
    retryMs + latestMs(gapMs, factor) - nowMs - afterGrantMs(replicas.length) - briefWaitMs(record);
  return leftMs <= 0 ? fullMs : Math.min(fullMs, Math.max(lateTermMsMin, leftMs));
}

/**
 * How long to wait for answers to a claim. Briefly while it is the first one's turn; later, or after a sleep, somebody else
 * has probably popped, and half of what is left until the latest moment may be spent on hearing so. Never longer than half
 * the claim's term: one that is over when the wait is would have to be asked for again, and again.
 */
export function claimWaitMs(record: TimerRecord, slept: boolean, nowMs: number): number {
  return Math.min(claimTermMs(record, nowMs) / 2, patienceMs(record, slept, nowMs));
}

function briefWaitMs({ gapMs, factor, replicas }: TimerRecord): number {
  return Math.min(claimWaitMsMax, stepMs(gapMs, Math.max(factor, replicas.length)) / 2);
}

function patienceMs(record: TimerRecord, slept: boolean, nowMs: number): number {
  const { gapMs, retryMs, factor, replicas } = record;
  const step = stepMs(gapMs, Math.max(factor, replicas.length));
  const briefMs = briefWaitMs(record);
  const leftMs = retryMs + latestMs(gapMs, factor) - nowMs;
  if (slept && leftMs <= 0) return lateClaimWaitMs;
  if (!slept && nowMs - retryMs < step) return briefMs;
  return Math.min(lateClaimWaitMs, Math.max(briefMs, leftMs / 2));
}

/** What a holder answers to a claim. Pure. */
export function judgeClaim(
  stored: TimerRecord | undefined,
  ask: ClaimAsk,
  known: {
    readonly claim: Claim | undefined;
    readonly own: OwnPop;
    readonly from: string;
  },
  nowMs: number,
): Judgement {
  if (stored === undefined) return { type: 'unknown' };
  const order = compareProgress(stored, ask.entry);
  if (givesBack(ask)) {
    const remember = order <= 0 && known.own === null && ends(ask, known);
    return { type: 'granted', remember, yields: false };
  }
  if (order > 0) return { type: 'ahead' };
  if (isOver(ask, known)) return { type: 'granted', remember: false, yields: false };
  const { own, from } = known;
  const claim = concerning(known.claim, ask);
  const asker = { by: from, position: ask.position };
  // A claimant that knows more than this member is past what this member wants to pop.
  if (own !== null && order === 0) {
    const first = !goesBefore(asker, own) && own.untilMs > nowMs && !ask.calling;
    if (own.calling || first) return { type: 'claimed', leftMs: Math.max(0, own.untilMs - nowMs) };
    return { type: 'granted', remember: true, yields: true };
  }
  if (claim !== undefined && claim.by !== from && claim.untilMs > nowMs) {
    const acquainted = stored.replicas.includes(from) && stored.replicas.includes(claim.by);
    const earlier = acquainted && goesBefore(asker, claim) && !claim.calling;
    if (!earlier && !ask.calling) return { type: 'claimed', leftMs: claim.untilMs - nowMs };
  }
  return { type: 'granted', remember: true, yields: own !== null };
}

/** A claim for an older state than the one that is asked for is over. */
function concerning(claim: Claim | undefined, { entry }: ClaimAsk): Claim | undefined {
  return claim !== undefined && compareProgress(claim.progress, entry) >= 0 ? claim : undefined;
}

type Granted = { readonly claim: Claim | undefined; readonly from: string };

/** Whether a give-back is for the claim that is known. Without serials it is taken to be. */
function ends({ serial }: ClaimAsk, { claim, from }: Granted): boolean {
  if (claim?.by !== from) return false;
  return claim.serial === serial || claim.serial === noSerial || serial === noSerial;
}

/** Whether a claim comes behind its own give-back. */
function isOver({ serial }: ClaimAsk, { claim, from }: Granted): boolean {
  if (claim?.by !== from || !claim.givenBack) return false;
  return serial !== noSerial && claim.serial === serial;
}

/** Written so that a term that is no number is none. */
function givesBack({ termMs }: ClaimAsk): boolean {
  return !(termMs > 0);
}

/** While views differ two members may have the same position: then the name decides, the same everywhere. */
function goesBefore(a: Contender, b: Contender): boolean {
  return a.position < b.position || (a.position === b.position && a.by < b.by);
}

type Contender = { readonly by: string; readonly position: number };

/** The claims this member has granted, by the handle of the record. */
export class Claims {
  private readonly byHandle = new Map<number, Claim>();
  private lastSerial: number;

  /** `serial`: drawn anew at each start, so that nobody takes a pop for one before the start. */
  constructor(serial: number) {
    this.lastSerial = serial;
  }

  get size(): number {
    return this.byHandle.size;
  }

  get(handle: number): Claim | undefined {
    return this.byHandle.get(handle);
  }

  /** For a pop of this member. */
  nextSerial(): number {
    this.lastSerial = (this.lastSerial + 1) % 2 ** 32 || 1;
    return this.lastSerial;
  }

  grant(handle: number, from: string, ask: ClaimAsk, nowMs: number): Claim {
    const givenBack = givesBack(ask);
    const termMs = givenBack ? 0 : Math.min(ask.termMs, termMsMax);
    const { position, calling, entry, serial } = ask;
    const claim: Claim = {
      by: from,
      position,
      calling,
      untilMs: nowMs + termMs,
      serial,
      givenBack,
      progress: entry,
    };
    invariant(claim.untilMs >= nowMs, 'a claim lies ahead');
    this.byHandle.set(handle, claim);
    return claim;
  }

  /**
   * The record changed: what was claimed of it is over if it moved on; not if it came to the claimed state (C5), or if only
   * its replicas are others now.
   */
  changed(handle: number, record: TimerRecord | null): void {
    const claim = this.byHandle.get(handle);
    if (claim === undefined) return;
    if (record === null || compareProgress(record, claim.progress) > 0) {
      this.byHandle.delete(handle);
    }
  }
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
