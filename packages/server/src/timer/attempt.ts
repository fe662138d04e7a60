/** One try to deliver a pop: how it went, in numbers and in words. */
import { Outcome } from '@carillon/core';

/** One try to deliver a pop, as the member that made it remembers it. */
export interface Attempt {
  /** The sequence of its pop, which the receiver is told as X-Sequence-Number. */
  readonly sequence: number;
  /** Its number among the attempts at this pop, from 1. */
  readonly attempt: number;
  /** Wall-clock milliseconds when the callback began. */
  readonly atMs: number;
  /** From the due time of the pop until the callback began. */
  readonly latenessMs: number;
  /** From the beginning of the callback until its answer, or until it was given up. */
  readonly tookMs: number;
  /** As in records: an HTTP status, or the code of a reason. */
  readonly outcome: number;
  /**
   * Of a failed attempt: the first bytes of the receiver's answer, or why there was none; empty where neither is kept.
   */
  readonly detail: string;
}

/**
 * The class of a failure, from the outcome of an attempt: `5xx`, `refused` and so on; null: a success, or no attempt
 * yet.
 */
export function failureOf(outcome: number): string | null {
  if (outcome >= 100)
    return outcome >= 200 && outcome < 300 ? null : `${Math.floor(outcome / 100)}xx`;
  return outcomeWord(outcome) as string | null;
}

/** An HTTP status, or the word of a reason; null where there was no attempt. */
export function outcomeWord(outcome: number): number | string | null {
  if (outcome === Outcome.none) return null;
  if (outcome >= 100) return outcome;
  return reasonWords.get(outcome) ?? 'unknown';
}

/** Failures that brought no HTTP status: `refused` and so on; `unknown` is one of a newer release. */
export const failureWords: readonly string[] = [
  ...Object.keys(Outcome).filter((word) => word !== 'none'),
  'unknown',
];

const reasonWords = new Map<number, string>(
  Object.entries(Outcome).map(([word, code]) => [code, word]),
);
