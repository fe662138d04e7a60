/**
 * When a timer pops, and its record afterwards. Pure: a record, its definition and the time in, the next record out.
 *
 * T1  Pop k of an interval timer is due at `start + k × interval`: no drift accumulates.
 * T2  Replica i waits `i × step` longer, so that usually only one calls back; even the last one is inside
 *     twice the gap, or, where the shortest step is too long for that, inside 40 ms for each copy.
 * T3  Pops that were missed are merged into the present one and count as sequence numbers.
 * T4  A dead letter that is sent again stands for one pop: the timing of its timer says nothing about it.
 * T5  Each time of a cron pattern is popped once, also where the wall clocks of members differ, by less than a minute
 *     and less than half of the time to the next.
 */
import {
  type Definition,
  type Ending,
  invariant,
  State,
  type TimerRecord,
  type Timing,
} from '@carillon/core';
import { nextCron } from './cron.ts';
import { requestDigest } from './request-digest.ts';

/** One moment on both clocks. */
export interface Instant {
  readonly nowMs: number;
  readonly wallMs: number;
}

const stepMsMax = 2000;
/** Two replicas closer to each other than this would both claim a pop of a healthy cluster. */
const stepMsMin = 20;
/** Below this gap the step is the shortest. */
const stepGapMsMin = 100;
const copyMs = 40;
/** Other replicas are asked at least so long before a pop is due: some round trips. */
const aheadMsMin = 5;
const aheadWindowMs = 15;
/** No replica is asked longer before than this. */
export const aheadMsMax = aheadMsMin + aheadWindowMs;
/** Pops closer to each other than this are not looked at ahead of their time: their claims hold but briefly. */
const aheadGapMsMin = 1000;
/** Wall clocks of members are not further apart than this, or they are wrong. */
const clocksApartMsMax = 60_000;
const missedCountMax = 1000;

/** The skew between two neighbouring replicas. */
export function stepMs(gapMs: number, positions: number): number {
  if (gapMs < stepGapMsMin) return stepMsMin;
  return Math.min(stepMsMax, Math.max(stepMsMin, gapMs / positions));
}

/** How late the last replica may call back (T2), as P4 promises. */
export function latestMs(gapMs: number, factor: number): number {
  const copiesMs = copyMs * factor;
  return gapMs >= Math.max(stepGapMsMin, copiesMs) ? gapMs : copiesMs;
}

/**
 * The position of a member for a pop: 0 goes first. Each failed attempt passes position 0 on to the next in the list,
 * so that a receiver which only one of the replicas can reach is reached. A member that is not listed comes after all
 * that are: usually another one has popped by then.
 */
export function positionOf(
  { replicas, attempt }: Pick<TimerRecord, 'replicas' | 'attempt'>,
  self: string,
): number {
  const position = replicas.indexOf(self);
  const { length } = replicas;
  return position === -1 ? length : (position + length - (attempt % length)) % length;
}

/** When the member `self` lets a record pop. */
export function alarmMs(record: Omit<TimerRecord, 'body'>, self: string): number {
  const position = positionOf(record, self);
  const positions = Math.max(record.factor, record.replicas.length, position + 1);
  return record.retryMs + position * stepMs(record.gapMs, positions);
}

/**
 * When the member `self` looks at a record in order to pop it: when it lets it pop, and where other replicas are asked
 * first, a little earlier, so that their answers are there in time. The pops of a window are looked at together, and go
 * into one message to each replica. Example: pops due at 20.016, 20.022 and 20.029 s are looked at at 20.010 s; looks
 * are at multiples of 15 ms, the last one that is at least 5 ms before the pop.
 */
export function lookMs(record: Omit<TimerRecord, 'body'>, self: string): number {
  const atMs = alarmMs(record, self);
  const { gapMs, replicas, retryMs } = record;
  const isFirst = atMs === retryMs && replicas.length > 1;
  if (!isFirst || gapMs < aheadGapMsMin) return atMs;
  return Math.floor((atMs - aheadMsMin) / aheadWindowMs) * aheadWindowMs;
}

/** The first pop of a timer set at `at`; null when it would never pop. */
export function firstPop(timing: Timing, at: Instant): { dueMs: number; gapMs: number } | null {
  if (timing.kind === 'interval') {
    return { dueMs: at.nowMs + timing.intervalMs, gapMs: timing.intervalMs };
  }
  const wallMs =
    timing.kind === 'at' ? timing.atMs : nextCron(timing.cron, timing.timezone, at.wallMs);
  if (wallMs === null) return null;
  if (timing.kind === 'cron' && past(timing.ending, wallMs, wallMs - at.wallMs)) return null;
  const waitMs = Math.max(0, wallMs - at.wallMs);
  return { dueMs: at.nowMs + waitMs, gapMs: waitMs };
}

/** How many later pops of a recurring timer fell due while this one waited. */
export function missedPops(record: TimerRecord, definition: Definition, at: Instant): number {
  const { timing } = definition;
  if (timing.kind === 'at' || definition.origin !== null) return 0;
  if (timing.kind === 'interval') {
    if (timing.intervalMs === 0) return 0;
    // Every attempt stands for the same pops: see mergedGapMs.
    if (record.attempt > 0) return Math.max(0, Math.round(record.gapMs / timing.intervalMs) - 1);
    const late = Math.floor((at.nowMs - record.dueMs) / timing.intervalMs);
    return Math.max(0, Math.min(late, popCount(timing) - record.sequence - 1));
  }
  return record.attempt > 0 ? 0 : missedCron(record, definition, at);
}

/** The time since the pop before the merged ones: in a record that is retried it tells how many were merged. */
export function mergedGapMs(
  { gapMs }: TimerRecord,
  { timing }: Definition,
  missed: number,
): number {
  return timing.kind === 'interval' && missed > 0 ? (missed + 1) * timing.intervalMs : gapMs;
}

function missedCron(record: TimerRecord, definition: Definition, at: Instant): number {
  let missed = 0;
  let next = followingPop(record, definition, at);
  while (next !== null && next.dueMs <= at.nowMs && missed < missedCountMax) {
    missed++;
    const { dueMs } = next;
    next = followingPop({ ...record, dueMs, sequence: record.sequence + missed }, definition, at);
  }
  return missed;
}

/** The record after a pop: waiting for the next one, or a tombstone after the last. */
export function afterPop(
  record: TimerRecord,
  definition: Definition,
  missed: number,
  at: Instant,
): TimerRecord {
  const reached = lastMerged(record, definition, missed, at);
  const next = followingPop(reached, definition, at);
  const sequence = record.sequence + missed + 1;
  invariant(missed >= 0, 'a pop takes the place of later ones only');
  invariant(next === null || next.dueMs > record.dueMs, 'the next pop is due after this one');
  if (next === null) return { ...entomb(record, definition.idempotent, at), sequence };
  return {
    ...record,
    sequence,
    attempt: 0,
    dueMs: next.dueMs,
    retryMs: next.dueMs,
    triedMs: next.dueMs,
    gapMs: next.gapMs,
  };
}

/** The record as if the last of its merged pops were the present one. */
function lastMerged(
  record: TimerRecord,
  definition: Definition,
  missed: number,
  at: Instant,
): TimerRecord {
  let reached = record;
  if (definition.timing.kind === 'interval') {
    return { ...record, sequence: record.sequence + missed };
  }
  for (let i = 0; i < missed; i++) {
    const next = followingPop(reached, definition, at);
    if (next === null) break;
    reached = { ...reached, sequence: reached.sequence + 1, dueMs: next.dueMs };
  }
  return reached;
}

/**
 * A tombstone of this version. Under an idempotency key a digest of the definition stays, to compare a repeated request
 * with.
 */
export function entomb(record: TimerRecord, isKeyed: boolean, at: Instant): TimerRecord {
  return {
    ...record,
    state: State.tombstone,
    attempt: 0,
    dueMs: at.nowMs,
    retryMs: at.nowMs,
    triedMs: at.nowMs,
    body: isKeyed ? requestDigest(record.body) : new Uint8Array(0),
  };
}

/** The pop after the present one; null when the present one is the last. */
export function followingPop(
  record: Pick<TimerRecord, 'sequence' | 'startMs' | 'dueMs'>,
  definition: Pick<Definition, 'timing' | 'origin'>,
  at: Instant,
): { dueMs: number; gapMs: number } | null {
  const { timing } = definition;
  if (timing.kind === 'at' || definition.origin !== null) return null;
  const done = record.sequence + 1;
  if (timing.kind === 'interval') {
    if (done >= popCount(timing)) return null;
    const dueMs = record.startMs + (done + 1) * timing.intervalMs;
    if (past({ ...timing.ending, repeatForMs: null }, dueMs - at.nowMs + at.wallMs, 0)) return null;
    return { dueMs, gapMs: timing.intervalMs };
  }
  if (done >= (timing.ending.count ?? Number.POSITIVE_INFINITY)) return null;
  const wallMs = afterCron(timing, record.dueMs - at.nowMs + at.wallMs);
  if (wallMs === null) return null;
  const dueMs = wallMs - at.wallMs + at.nowMs;
  if (past(timing.ending, wallMs, dueMs - record.startMs)) return null;
  return { dueMs, gapMs: dueMs - record.dueMs };
}

/**
 * The time that follows the one nearest to `wallMs` (T5): a pop that was due shortly before a time by this clock was
 * due at that time by the clock of the member that worked it out.
 */
function afterCron(
  { cron, timezone }: Extract<Timing, { kind: 'cron' }>,
  wallMs: number,
): number | null {
  const nextMs = nextCron(cron, timezone, wallMs);
  if (nextMs === null) return null;
  const aheadMs = nextMs - wallMs;
  const isNearest =
    aheadMs <= clocksApartMsMax && nextCron(cron, timezone, wallMs - aheadMs) === nextMs;
  return isNearest ? nextCron(cron, timezone, nextMs) : nextMs;
}

/** How often an interval timer pops in all. */
export function popCount(timing: Extract<Timing, { kind: 'interval' }>): number {
  const { ending, intervalMs } = timing;
  if (ending.count !== null) return ending.count;
  if (ending.forever || ending.untilMs !== null) return Number.POSITIVE_INFINITY;
  if (ending.repeatForMs === null || intervalMs === 0) return 1;
  return Math.max(1, Math.floor(ending.repeatForMs / intervalMs));
}

function past(ending: Ending, wallMs: number, sinceStartMs: number): boolean {
  if (ending.untilMs !== null && wallMs > ending.untilMs) return true;
  return ending.repeatForMs !== null && sinceStartMs > ending.repeatForMs;
}
