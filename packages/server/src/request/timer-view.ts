/** Records as clients see them: wall-clock times, a refreshed id, words for states and outcomes. */
import { timerState } from '../timer/state.ts';
import {
  type Definition,
  decodeDefinition,
  formatTimerId,
  formatVersion,
  Outcome,
  shiftNumber,
  State,
  type TimerRecord,
} from '@carillon/core';
import type { TimerView } from './service.ts';
import type { View } from '../cluster/view.ts';
import { dueWallMs } from '../timer/due-wall.ts';
import type { Instant } from '../timer/schedule.ts';

/** The id, as clients of its namespace know it, that leads to the record's present replicas. */
export function idOf(record: TimerRecord, view: View): string {
  const bloom = view.bloomOf(record.replicas);
  const { hi, lo } = shiftNumber(record.namespace, record);
  return formatTimerId({ hi, lo, factor: record.factor, bloomHi: bloom.hi, bloomLo: bloom.lo });
}

export function timerView(
  record: TimerRecord,
  view: View,
  at: Instant,
  definition: Definition = decodeDefinition(record.body),
): TimerView {
  const live = record.state === State.live;
  const wall = (ms: number): number => Math.round(ms - at.nowMs + at.wallMs);
  return {
    id: idOf(record, view),
    namespace: record.namespace,
    definition,
    state: timerState(record),
    sequence: record.sequence,
    attempt: record.attempt,
    setMs: wall(record.startMs),
    nextDueMs: live ? dueWallMs(record, definition.timing, at) : null,
    nextAttemptMs: live ? wall(record.retryMs) : null,
    version: formatVersion(record),
    factor: record.factor,
    replicas: record.replicas,
    lastOutcome: outcomeWord(record.outcome),
  };
}

/** An HTTP status, or the word of a reason; null where there was no attempt. */
export function outcomeWord(outcome: number): number | string | null {
  if (outcome === Outcome.none) return null;
  if (outcome >= 100) return outcome;
  return Object.entries(Outcome).find(([, value]) => value === outcome)?.[0] ?? null;
}
