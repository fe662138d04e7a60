/**
 * A record after its callback: the next pop, another attempt, or a dead letter. Pure: the record, its definition, the
 * result of the call and the circumstances in, the next record out. `attempts.ts` carries it out.
 *
 * A1  Only a request that left the member is an attempt: it alone counts against the limits of the retry policy.
 * A2  The time limit counts from the first attempt. A delay before it (a circuit that was open, no place, a member that
 *     was down) is no fault of the receiver.
 * A3  A pop that was never tried is not given up: it waits, and later pops of its timer merge into it, as after
 *     downtime. A pop that was tried is given up when its limits are over, also while its receiver is left alone.
 * A4  Where the letter box of its namespace is full, a pop that would be given up stays due and is tried again; later
 *     pops of its timer merge into it, as after downtime. So nothing is lost, and nothing grows.
 * A5  An event that is given up leaves no letter: a letter would be worth an event, and that one another.
 */
import {
  type Attempted,
  type Definition,
  type Random,
  type RetryPolicy,
  State,
  type TimerRecord,
  type Unmade,
} from '@carillon/core';
import { afterPop, type Instant, mergedGapMs, missedPops } from '../../timer/schedule.ts';
import { deadLetter, originOf } from './dead-letters.ts';
import { outcomeOf } from './outcome.ts';
import { nextAttempt, overBy, succeeded } from './retry.ts';

export interface Circumstances {
  readonly at: Instant;
  /** When the request left. */
  readonly startMs: number;
  /** Earlier pops merged into this one. */
  readonly missed: number;
  /** A timer's id as clients know it. Asked for only by a letter: few pops become one. */
  readonly idOf: (record: TimerRecord) => string;
  /** The policy for timers that have none of their own. */
  readonly retry: RetryPolicy;
  readonly random: Random;
  /** There is no room for another dead letter of the namespace. */
  readonly boxIsFull: boolean;
}

export type After =
  /** Delivered: the record waits for its next pop, or is a tombstone. */
  | { readonly kind: 'delivered'; readonly record: TimerRecord }
  | { readonly kind: 'retry'; readonly record: TimerRecord }
  /** Given up. `record`: the attempted one, which goes on once its letter is safe. */
  | { readonly kind: 'letter'; readonly record: TimerRecord; readonly letter: TimerRecord }
  /** Given up without a letter: the pop told of an event. */
  | { readonly kind: 'forgotten'; readonly record: TimerRecord }
  /** The pop was not tried: its record stays as it is, and is looked at again. */
  | { readonly kind: 'wait'; readonly waitMs: number };

/** A first attempt that comes within this time counts as made when the pop was due. */
const promptMs = 1000;
/**
 * Pops that wait for one receiver come back apart: by a part of the time that they have waited already, within these
 * bounds.
 */
const spreadMsMin = 100;
const spreadMsMax = 30_000;
const spreadRatio = 0.25;
/** A pop that cannot become a letter is not tried again before this. */
const keptMsMin = 1000;

export function afterAttempt(
  record: TimerRecord,
  definition: Definition,
  result: Attempted,
  circumstances: Circumstances,
): After {
  const { at, missed, retry, random, startMs } = circumstances;
  const outcome = outcomeOf(result);
  if (succeeded(result)) {
    const next = afterPop(record, definition, missed, at);
    return { kind: 'delivered', record: { ...next, outcome } };
  }
  const attempt = record.attempt + 1;
  const triedMs = record.attempt > 0 ? record.triedMs : firstTryMs(record.dueMs, startMs);
  const attempted = { ...record, attempt, outcome, triedMs };
  const next = nextAttempt({
    policy: definition.retry ?? retry,
    attempt,
    triedMs,
    nowMs: at.nowMs,
    nextDueMs: nextDueMs(record, definition, circumstances),
    elsewhere: attempt < record.replicas.length,
    result,
    random,
  });
  if (next.kind === 'give-up') {
    return isKept(definition, circumstances)
      ? stillDue(attempted, definition, circumstances)
      : givenUp(attempted, definition, next.reason, circumstances);
  }
  const gapMs = mergedGapMs(record, definition, missed);
  return { kind: 'retry', record: { ...attempted, gapMs, retryMs: next.atMs } };
}

/** The request did not leave. */
export function afterRefusal(
  record: TimerRecord,
  definition: Definition,
  { detail, waitMs }: Unmade,
  circumstances: Circumstances,
): After {
  const { at, random } = circumstances;
  const spreadMs = Math.min(
    spreadMsMax,
    Math.max(spreadMsMin, (at.nowMs - record.dueMs) * spreadRatio),
  );
  const againMs = waitMs + random.unit() * spreadMs;
  if (record.attempt === 0) return { kind: 'wait', waitMs: againMs };
  const over = overBy({
    policy: definition.retry ?? circumstances.retry,
    triedMs: record.triedMs,
    nextDueMs: nextDueMs(record, definition, circumstances),
    atMs: at.nowMs + againMs,
  });
  if (over === null || isKept(definition, circumstances)) return { kind: 'wait', waitMs: againMs };
  return givenUp(record, definition, `${detail} No further attempt: ${over}.`, circumstances);
}

/**
 * Whether the pop cannot become a letter. A letter that was sent again has its place already, and an event needs none.
 */
function isKept({ origin, event }: Definition, { boxIsFull }: Circumstances): boolean {
  return boxIsFull && origin === null && event === null;
}

function stillDue(
  record: TimerRecord,
  definition: Definition,
  circumstances: Circumstances,
): After {
  const { at, random, retry } = circumstances;
  const { baseMs, waitMsMax } = definition.retry ?? retry;
  const waitMs = Math.min(waitMsMax, baseMs * 2 ** (record.attempt - 1));
  const missed = missedPops({ ...record, attempt: 0 }, definition, at);
  const gapMs = mergedGapMs(record, definition, missed);
  const retryMs = at.nowMs + keptMsMin + random.unit() * waitMs;
  return { kind: 'retry', record: { ...record, gapMs, retryMs } };
}

function givenUp(
  record: TimerRecord,
  definition: Definition,
  reason: string,
  { at, missed, idOf }: Circumstances,
): After {
  if (definition.event !== null) {
    const { outcome } = record;
    return { kind: 'forgotten', record: { ...afterPop(record, definition, missed, at), outcome } };
  }
  const origin = originOf({ record, definition, missed, id: idOf(record) }, reason, at);
  const letter = deadLetter(record, definition, origin, at.nowMs);
  if (definition.origin === null) return { kind: 'letter', record, letter };
  // A re-sent dead letter that failed again goes back to where it was.
  const { hi, lo, replicas } = record;
  return { kind: 'letter', record, letter: { ...letter, hi, lo, replicas } };
}

/** When the pop after the present one, and after the pops merged into it, falls due; null: there is none. */
function nextDueMs(
  record: TimerRecord,
  definition: Definition,
  { missed, at }: Circumstances,
): number | null {
  const next = afterPop(record, definition, missed, at);
  return next.state === State.live ? next.dueMs : null;
}

function firstTryMs(dueMs: number, startMs: number): number {
  return startMs - dueMs < promptMs ? dueMs : startMs;
}
