/** Records as clients see them: wall-clock times, a refreshed id, words for states and outcomes. */
import { failureOf, outcomeWord } from '../timer/attempt.ts';
import { timerState } from '../timer/state.ts';
import {
  decodeDefinition,
  formatVersion,
  hex16,
  Outcome,
  State,
  type TimerRecord,
} from '@carillon/core';
import type { ClientIds } from './client-ids.ts';
import type { EndedView, TimerView } from './service.ts';
import { dueWallMs, endWallMs, setWallMs } from '../timer/due-wall.ts';
import type { Instant } from '../timer/schedule.ts';

const noDetails: ReadonlyMap<string, string> = new Map();

/** `details`: of the newest attempts, by number. */
export function timerView(
  record: TimerRecord,
  ids: ClientIds,
  at: Instant,
  details: ReadonlyMap<string, string> = noDetails,
): TimerView {
  const definition = decodeDefinition(record.body);
  const live = record.state === State.live;
  const nextDueMs = live ? dueWallMs(record, definition.timing, at) : null;
  const retryMs = Math.round(record.retryMs - at.nowMs + at.wallMs);
  return {
    id: ids.of(record),
    namespace: record.namespace,
    definition,
    state: timerState(record),
    sequence: record.sequence,
    attempt: record.attempt,
    setMs: setWallMs(record, at),
    nextDueMs,
    nextAttemptMs: live && record.attempt > 0 ? retryMs : nextDueMs,
    version: formatVersion(record),
    factor: record.factor,
    replicas: record.replicas,
    lastOutcome: outcomeWord(record.outcome),
    lastFailure: failureOf(record.outcome),
    lastDetail: details.get(hex16(record.hi, record.lo)) ?? null,
  };
}

/** A tombstone as clients see it. A cancel comes without an attempt of its own. */
export function endedView(record: TimerRecord, deadLetter: string | null, at: Instant): EndedView {
  const { outcome, sequence } = record;
  const popped = failureOf(outcome) === null ? 'delivered' : 'given-up';
  return {
    how: outcome === Outcome.none ? 'cancelled' : popped,
    atMs: endWallMs(record, at),
    pops: sequence,
    deadLetter,
  };
}
