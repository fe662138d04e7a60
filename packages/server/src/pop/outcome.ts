/** What came of an attempt or a claim, as the record and the metrics have it. */
import { type CallbackResult, Outcome } from '@carillon/core';
import type { Answer } from '../replication/wire.ts';

/** For the record: the HTTP status, or the code of a reason. */
export function outcomeOf(result: CallbackResult): number {
  return result.kind === 'answer' ? result.status : Outcome[result.reason];
}

/** For the metrics. */
export function answerClass(result: CallbackResult) {
  if (result.kind === 'no-answer') return result.reason;
  if (result.status < 300) return '2xx';
  if (result.status < 400) return '3xx';
  return result.status < 500 ? '4xx' : '5xx';
}

const claimResults = ['granted', 'ahead', 'claimed', 'unknown'] as const;

/** For the metrics. */
export function claimResult(answer: Answer | null) {
  return claimResults.find((type) => type === answer?.type) ?? 'unanswered';
}
