/** The outcome of an attempt or a claim, as the record, the history and the metrics have it. */
import { type Attempted, type Definition, Outcome, type TimerRecord } from '@carillon/core';
import type { Instant } from '../../timer/schedule.ts';
import type { Answer } from '../../replication/wire/answer.ts';
import type { BareAttempt } from './history.ts';
import { noText } from '../failures/recent-texts.ts';

/** The outcome in a record: the HTTP status, or the code of a reason. */
export function outcomeOf(result: Attempted): number {
  return result.kind === 'answer' ? result.status : Outcome[result.reason];
}

/** The attempt as the history keeps it. */
export function attemptOf(
  pop: {
    readonly record: TimerRecord;
    readonly definition: Definition;
    readonly missed: number;
    readonly startMs: number;
  },
  result: Attempted,
  at: Instant,
): BareAttempt {
  const { record, definition, missed, startMs } = pop;
  return {
    sequence: definition.origin?.sequence ?? record.sequence + missed + 1,
    attempt: record.attempt + 1,
    atMs: at.wallMs - (at.nowMs - startMs),
    latenessMs: Math.max(0, startMs - record.dueMs),
    tookMs: at.nowMs - startMs,
    outcome: outcomeOf(result),
    detailAt: noText,
  };
}

/** Why an attempt failed, in the words of the receiver or in ours; empty: a success, or an answer without content. */
export function detailOf(result: Attempted): string {
  return result.kind === 'answer' ? (result.said ?? '') : result.detail;
}

/** The result without the words of the receiver. */
export function wordless(result: Attempted): Attempted {
  if (result.kind !== 'answer') return result;
  const { said: _, ...rest } = result;
  return rest;
}

/** The label of an answer in the metrics. */
export function answerClass(result: Attempted) {
  if (result.kind === 'no-answer') return result.reason;
  if (result.status < 300) return '2xx';
  if (result.status < 400) return '3xx';
  return result.status < 500 ? '4xx' : '5xx';
}

const claimResults = ['granted', 'ahead', 'claimed', 'unknown'] as const;

/** The label of an answer to a claim in the metrics. */
export function claimResult(answer: Answer | null) {
  return claimResults.find((type) => type === answer?.type) ?? 'unanswered';
}
