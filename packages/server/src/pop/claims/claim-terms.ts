/**
 * The times of claims: how long one holds, how long its answers are waited for, and when a replica that held back looks
 * after the pop again. Pure.
 *
 * Example: a timer of 10 s with replicas a, b and c. a claims at 10.000 s: the claim holds for 3 s, and answers are
 * waited for 100 ms. b and c grant; if a dies, b looks again at 13.010 s and c at 13.020 s, 10 ms for each rank. A
 * fourth member, which was refused because of the claim, looks again at 13.070 s, after all of these. With a gap of 1
 * s, and a claim that a asks for 400 ms late, 600 ms are left until twice the gap. The next replica needs 20 ms to look
 * again and 100 ms for answers of its own: the claim holds for 480 ms.
 */
import type { TimerRecord } from '@carillon/core';
import { latestMs, stepMs } from '../../timer/schedule.ts';

/**
 * How a sleep of the claimant concerns a pop. `over`: the pop fell due meanwhile. `long`: the same, and the sleep was
 * longer than a second. `stale`: others may not have told their news yet.
 */
export type Sleep = 'no' | 'stale' | 'over' | 'long';

export const termMsMax = 3000;
const termMsMin = 50;
/** The shortest term of a claimant that comes late: enough for an answer and for the request to leave. */
const lateTermMsMin = 20;

const claimWaitMsMax = 100;
/** Time for the request to leave. */
const leaveMs = 5;
/** A claimant that comes late anyway can wait this long for the others to say that the pop was made. */
const lateClaimWaitMs = 1000;
/** How long a claimant that slept over the pop asks again and again: as long as other members may get no processor. */
const patienceMsMax = 5000;
/**
 * From this gap up a member that slept over a pop would rather come late than twice: replicas that were awake keep to
 * twice the gap.
 */
const patientGapMs = 4000;

/** The time between two replicas that wait for the same claim to end. */
const afterClaimStepMs = 10;

/**
 * Which of several members that want the same pop gets it: the lowest. By position; a member that slept over the pop
 * comes after all that were awake, because it asks beyond twice the gap, and after a long sleep it comes last.
 */
export function rankOf({ replicas }: TimerRecord, position: number, sleep: Sleep): number {
  const behind = sleep === 'long' ? 2 : sleep === 'over' ? 1 : 0;
  return position + behind * (replicas.length + 1);
}

/** Whether the member of this rank slept over the pop. */
export function sleptOver({ replicas }: TimerRecord, rank: number): boolean {
  return rank > replicas.length;
}

/** How long after the end of a claim a replica that granted it looks after the pop again. */
export function afterGrantMs(rank: number): number {
  return rank * afterClaimStepMs;
}

/**
 * The same for a replica that was refused because of the claim: later than all that granted it. Two that do not know
 * each other and were each refused for the other would only meet again and again.
 */
export function afterRefusalMs({ replicas }: TimerRecord, rank: number): number {
  return (replicas.length + 1 + rank) * afterClaimStepMs;
}

/** How long a claim holds while its call is under way: renewed well before. */
export function callTermMs(gapMs: number): number {
  return Math.min(termMsMax, Math.max(termMsMin, gapMs / 2));
}

/**
 * How long a claim holds before its call: short enough that the next replica is still inside twice the gap, also where
 * the claimant itself comes late. A claim that comes too late for any replica to be inside it holds as long as usual.
 */
export function claimTermMs(record: TimerRecord, nowMs: number): number {
  const { gapMs, retryMs, factor, replicas } = record;
  const fullMs = callTermMs(gapMs);
  const leftMs =
    retryMs + latestMs(gapMs, factor) - nowMs - afterGrantMs(replicas.length) - briefWaitMs(record);
  return leftMs <= 0 ? fullMs : Math.min(fullMs, Math.max(lateTermMsMin, leftMs));
}

/**
 * How long to wait for answers to a claim. Briefly while the first replica is still to be expected. Later, or after a
 * sleep, another replica has probably popped, and half of the time that is left until the latest moment may be spent on
 * hearing so. Shortly before that moment a claimant that did not sleep over the pop waits no longer than there is time.
 * Never longer than half the claim's term: a claim that is over when the wait is would have to be asked for again, and
 * again.
 */
export function claimWaitMs(record: TimerRecord, sleep: Sleep, nowMs: number): number {
  return Math.min(claimTermMs(record, nowMs) / 2, patienceMs(record, sleep, nowMs));
}

/**
 * Until when one round of questions waits for its answers. A round does not outlast the patience of the claimant, so
 * that one that gets no processor for up to a second when the round is over is still inside twice the gap.
 */
export function roundUntilMs(
  record: TimerRecord,
  sleep: Sleep,
  nowMs: number,
  patientMs: number,
): number {
  const waitMs = claimWaitMs(record, sleep, nowMs);
  const leftMs = patientMs - nowMs;
  return nowMs + (leftMs > 0 ? Math.min(waitMs, Math.max(leftMs, briefWaitMs(record))) : waitMs);
}

/**
 * Until when a replica that claimed the pop and does not answer may stand still, for want of a processor, and have
 * called before; null: no longer, or the pop cannot wait for it. `sinceMs`: since when it does not answer. A replica
 * that stands still and has not claimed the pop asks before it calls, and is not waited for.
 */
export function stillUntilMs(record: TimerRecord, sinceMs: number, nowMs: number): number | null {
  const { gapMs, retryMs } = record;
  const untilMs = Math.max(sinceMs, retryMs) + patienceMsMax;
  return gapMs >= patientGapMs && nowMs < untilMs ? untilMs : null;
}

/**
 * Whether the claimant asks again where it could not ask: its connections may not be there yet, shortly after a start.
 */
export function asksAgain({ gapMs }: TimerRecord, sleep: Sleep): boolean {
  return sleep !== 'no' && gapMs >= patientGapMs;
}

/**
 * Until when a claimant that misses answers asks again instead of calling: a member that made the pop may stand still
 * itself, and tell of it only afterwards. For a second at least; for longer beyond twice the gap only if the claimant
 * slept for long, so that to the others it was as good as dead, and no replica holds back for it. A claimant that did
 * not sleep asks again while a replica may merely stand still.
 */
export function patientUntilMs(record: TimerRecord, sleep: Sleep, asked: Asked): number {
  const { firstMs, granted, stillMs } = asked;
  const { gapMs, retryMs, factor } = record;
  const lastMs = retryMs + latestMs(gapMs, factor) - briefWaitMs(record) - lateClaimWaitMs;
  if (!isPatient(record, sleep)) return Math.max(firstMs, Math.min(stillMs, lastMs));
  const mostMs = firstMs + patienceMsMax;
  if (sleep === 'long' && !granted) return mostMs;
  return Math.max(firstMs + lateClaimWaitMs, Math.min(mostMs, lastMs));
}

/** The claim of a pop so far. */
interface Asked {
  /** When the other replicas were first asked. */
  readonly firstMs: number;
  /** Whether one of them holds back. */
  readonly granted: boolean;
  /** Until when one that does not answer may merely stand still; -Infinity: none, or the pop does not wait for it. */
  readonly stillMs: number;
}

/** Whether the claimant waits for answers beyond twice the gap. */
function isPatient({ gapMs }: TimerRecord, sleep: Sleep): boolean {
  return (sleep === 'over' || sleep === 'long') && gapMs >= patientGapMs;
}

function briefWaitMs({ gapMs, factor, replicas }: TimerRecord): number {
  return Math.min(claimWaitMsMax, stepMs(gapMs, Math.max(factor, replicas.length)) / 2);
}

function patienceMs(record: TimerRecord, sleep: Sleep, nowMs: number): number {
  const { gapMs, retryMs, factor, replicas } = record;
  const step = stepMs(gapMs, Math.max(factor, replicas.length));
  const briefMs = briefWaitMs(record);
  const leftMs = retryMs + latestMs(gapMs, factor) - nowMs;
  const slept = sleep !== 'no';
  if (isPatient(record, sleep) || (slept && leftMs <= 0)) return lateClaimWaitMs;
  if (!slept && nowMs - retryMs < step) return briefMs;
  const isInTime = (sleep === 'no' || sleep === 'stale') && leftMs >= lateTermMsMin;
  const leastMs = isInTime ? Math.min(briefMs, leftMs - leaveMs) : briefMs;
  return Math.min(lateClaimWaitMs, Math.max(leastMs, leftMs / 2));
}
