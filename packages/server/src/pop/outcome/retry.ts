/**
 * After a failed attempt: when the next one is due, or why there is none. Pure; the record keeps the answer, so that
 * any replica goes on from it.
 *
 * A receiver that did not answer at all is tried by the next replica at once, until each has tried. Otherwise the
 * wait is drawn evenly from nothing up to `baseMs`, doubled with every attempt up to `waitMsMax` (full
 * jitter: timers that failed together come back apart). `Retry-After` is waited for on top, up to an hour.
 * Attempts end at the policy's limit, counted from the first one, or when the next pop of the same timer falls due,
 * whichever is first: that pop then stands for both.
 */
import type { Attempted, CallbackResult, Random, RetryPolicy } from '@carillon/core';

/** A receiver may ask for patience, but not for more than this at a time. */
export const retryAfterMsMax = 3_600_000;

export interface FailedAttempt {
  readonly policy: RetryPolicy;
  /** Attempts of this pop so far, the failed one included. */
  readonly attempt: number;
  /** When the first attempt was made. All three times are on one clock. */
  readonly triedMs: number;
  readonly nowMs: number;
  /** When the next pop of the same timer falls due; null: this is its last. */
  readonly nextDueMs: number | null;
  /** Whether a replica comes next that has not tried yet: it may reach a receiver that this one cannot. */
  readonly elsewhere: boolean;
  readonly result: Attempted;
  readonly random: Random;
}

export type NextAttempt =
  | { readonly kind: 'retry'; readonly atMs: number }
  | { readonly kind: 'give-up'; readonly reason: string };

/** Any 2xx is success; nothing else is. */
export function succeeded(result: CallbackResult): boolean {
  return result.kind === 'answer' && result.status >= 200 && result.status < 300;
}

export function nextAttempt(failed: FailedAttempt): NextAttempt {
  const { policy, attempt, triedMs, nowMs, nextDueMs, result } = failed;
  if (final(result)) return giveUp(result, 'another attempt would end the same');
  if (policy.attemptCountMax !== null && attempt >= policy.attemptCountMax) {
    const all =
      policy.attemptCountMax === 1
        ? 'the only attempt is'
        : `all ${policy.attemptCountMax} attempts are`;
    return giveUp(result, `${all} used up`);
  }
  const atMs = nowMs + waitMs(failed);
  const over = overBy({ policy, triedMs, nextDueMs, atMs });
  return over === null ? { kind: 'retry', atMs } : giveUp(result, over);
}

/** Why an attempt at `atMs` would come too late; null when it would not. */
export function overBy({
  policy,
  triedMs,
  nextDueMs,
  atMs,
}: Pick<FailedAttempt, 'policy' | 'triedMs' | 'nextDueMs'> & { readonly atMs: number }):
  | string
  | null {
  if (nextDueMs !== null && atMs >= nextDueMs) {
    return 'the next pop of the timer falls due before another attempt';
  }
  if (atMs <= triedMs + policy.limitMs) return null;
  return `another attempt would be more than ${policy.limitMs} ms after the first`;
}

/** The result of an attempt, in words. */
function describe(result: Attempted): string {
  if (result.kind === 'no-answer') return `${result.reason}: ${result.detail}`;
  const { status, said } = result;
  return `The receiver answered ${status}${said === undefined || said === '' ? '' : `: "${said}"`}.`;
}

/** Gone for good, or never to be called. */
function final(result: Attempted): boolean {
  return result.kind === 'answer' ? result.status === 410 : result.reason === 'forbidden';
}

function waitMs({ policy, attempt, result, random, elsewhere }: FailedAttempt): number {
  if (elsewhere && result.kind === 'no-answer') return 0;
  const waitMsMax = Math.min(policy.waitMsMax, policy.baseMs * 2 ** (attempt - 1));
  const asked = result.kind === 'answer' ? (result.retryAfterMs ?? 0) : 0;
  return random.unit() * waitMsMax + Math.min(Math.max(asked, 0), retryAfterMsMax);
}

function giveUp(result: Attempted, why: string): NextAttempt {
  return { kind: 'give-up', reason: `${describe(result)} No further attempt: ${why}.` };
}
