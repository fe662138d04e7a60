import type { Attempted, RetryPolicy } from '@carillon/core';
import { SeededRandom } from '@carillon/core/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FailedAttempt, nextAttempt, retryAfterMsMax, succeeded } from './retry.ts';

const usual: RetryPolicy = {
  limitMs: 24 * 3_600_000,
  baseMs: 1000,
  waitMsMax: 300_000,
  attemptCountMax: null,
};

function answer(status: number, retryAfterMs: number | null = null): Attempted {
  return { kind: 'answer', status, retryAfterMs };
}

function noAnswer(reason: 'refused' | 'timeout' | 'unresolvable' | 'forbidden' | 'cut'): Attempted {
  return { kind: 'no-answer', reason, detail: 'Said by the test.' };
}

/** Always the same draw. */
function drawing(unit: number) {
  return { unit: () => unit, u32: () => 0 };
}

function failed(change: Partial<FailedAttempt> = {}): FailedAttempt {
  return {
    policy: usual,
    attempt: 1,
    triedMs: 1000,
    nowMs: 1500,
    nextDueMs: null,
    elsewhere: false,
    result: answer(503),
    random: drawing(0.5),
    ...change,
  };
}

const policy: RetryPolicy = {
  limitMs: 60_000,
  baseMs: 100,
  waitMsMax: 1600,
  attemptCountMax: null,
};

describe('a replica that has not tried yet', () => {
  it('tries at once when there was no answer, even where the next pop is near', () => {
    const unheard = { result: noAnswer('refused'), elsewhere: true, nextDueMs: 1501 };
    expect(nextAttempt(failed(unheard))).toEqual({ kind: 'retry', atMs: 1500 });
  });

  it('waits like any other when the receiver itself said no', () => {
    expect(nextAttempt(failed({ elsewhere: true }))).toEqual({ kind: 'retry', atMs: 2000 });
  });
});

describe('succeeded', () => {
  it.each([
    [200, true],
    [204, true],
    [299, true],
    [199, false],
    [300, false],
    [302, false],
    [410, false],
    [500, false],
  ])('%d: %s', (status, expected) => expect(succeeded(answer(status))).toBe(expected));

  it('is false without an answer', () => expect(succeeded(noAnswer('refused'))).toBe(false));
});

describe('nextAttempt', () => {
  it.each([
    ['first wait is up to the base', { attempt: 1 }, 1550],
    ['doubles', { attempt: 2 }, 1600],
    ['doubles again', { attempt: 4 }, 1900],
    ['is capped', { attempt: 9 }, 2300],
    ['stays capped when 2^attempt is infinite', { attempt: 5000 }, 2300],
    ['a draw of 0 retries at once', { attempt: 3, random: drawing(0) }, 1500],
    ['Retry-After is waited for on top', { result: answer(429, 2000) }, 3550],
    ['Retry-After counts on any status', { result: answer(302, 2000) }, 3550],
    ['a negative Retry-After does not hurry', { result: answer(503, -5000) }, 1550],
    ['refused', { result: noAnswer('refused') }, 1550],
    ['timeout', { result: noAnswer('timeout') }, 1550],
    ['unresolvable', { result: noAnswer('unresolvable') }, 1550],
    ['cut', { result: noAnswer('cut') }, 1550],
    ['exactly at the limit', { policy: { ...policy, limitMs: 550 } }, 1550],
    ['just before the next pop', { nextDueMs: 1551 }, 1550],
    ['attempts left', { policy: { ...policy, attemptCountMax: 2 } }, 1550],
  ] as const)('retries: %s', (_, change, atMs) => {
    expect(nextAttempt(failed({ policy, ...change }))).toEqual({ kind: 'retry', atMs });
  });

  it.each([
    ['410', { result: answer(410) }, /answered 410.*end the same/],
    ['410 with Retry-After', { result: answer(410, 10) }, /answered 410/],
    ['forbidden by the guard', { result: noAnswer('forbidden') }, /forbidden.*end the same/],
    [
      'attempts used up',
      { policy: { ...policy, attemptCountMax: 1 } },
      /the only attempt is used up/,
    ],
    ['attempts over', { attempt: 9, policy: { ...policy, attemptCountMax: 3 } }, /all 3 attempts/],
    ['past the limit', { policy: { ...policy, limitMs: 549 } }, /549 ms after the first/],
    ['next pop due at that moment', { nextDueMs: 1550 }, /next pop/],
    ['next pop already due', { nextDueMs: 1200 }, /next pop/],
    ['Retry-After past the limit', { result: answer(503, 70_000) }, /60000 ms after the first/],
  ] as const)('gives up: %s', (_, change, reason) => {
    const next = nextAttempt(failed({ policy, ...change }));
    expect(next.kind).toBe('give-up');
    expect(next.kind === 'give-up' && next.reason).toMatch(reason);
  });

  it('bounds the wait that a receiver may ask for', () => {
    const next = nextAttempt(failed({ result: answer(503, 1e15), random: drawing(0) }));
    expect(next).toEqual({ kind: 'retry', atMs: 1500 + retryAfterMsMax });
  });

  it('by default goes on for a day, and no longer', () => {
    const day = 24 * 3_600_000;
    expect(nextAttempt(failed({ nowMs: 1000 + day - 200_000, attempt: 50 })).kind).toBe('retry');
    expect(nextAttempt(failed({ nowMs: 1000 + day - 100_000, attempt: 50 })).kind).toBe('give-up');
  });

  it('never retries before now, after the limit, or when the next pop is due (any input)', () => {
    const times = fc.double({ min: 0, max: 1e12, noNaN: true });
    fc.assert(
      fc.property(
        fc.record({
          attempt: fc.integer({ min: 1, max: 10_000 }),
          dueMs: times,
          lateMs: times,
          nextMs: fc.option(times),
          seed: fc.integer(),
          retryAfterMs: fc.option(fc.double({ noNaN: true })),
        }),
        ({ attempt, dueMs, lateMs, nextMs, seed, retryAfterMs }) => {
          const nowMs = dueMs + lateMs;
          const nextDueMs = nextMs === null ? null : dueMs + nextMs;
          const next = nextAttempt({
            policy: usual,
            attempt,
            triedMs: dueMs,
            nowMs,
            nextDueMs,
            elsewhere: false,
            result: answer(503, retryAfterMs),
            random: new SeededRandom(seed),
          });
          if (next.kind === 'give-up') return;
          expect(next.atMs).toBeGreaterThanOrEqual(nowMs);
          expect(next.atMs).toBeLessThanOrEqual(dueMs + usual.limitMs);
          if (nextDueMs !== null) expect(next.atMs).toBeLessThan(nextDueMs);
        },
      ),
    );
  });
});
