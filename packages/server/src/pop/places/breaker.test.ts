import type { CallbackResult } from '@carillon/core';
import { describe, expect, it } from 'vitest';
import { Breaker, failureCountMax, openMsMax, openMsMin, signOf } from './breaker.ts';

/** A breaker brought to a state at time 0. */
const bring = {
  closed: () => new Breaker(),
  'one failure short of open': () => {
    const breaker = new Breaker();
    for (let i = 1; i < failureCountMax; i++) breaker.settle('pass', 'failure', 0);
    return breaker;
  },
  open: () => {
    const breaker = new Breaker();
    for (let i = 0; i < failureCountMax; i++) breaker.settle('pass', 'failure', 0);
    return breaker;
  },
  'half-open': () => {
    const breaker = bring.open();
    expect(breaker.admit(openMsMin)).toBe('probe');
    return breaker;
  },
} as const;

type Happening = (breaker: Breaker) => unknown;
const happenings = {
  'call before the wait is over': (breaker) => breaker.admit(openMsMin - 1),
  'call after the wait is over': (breaker) => breaker.admit(openMsMin),
  life: (breaker) => breaker.settle('pass', 'life', openMsMin),
  failure: (breaker) => breaker.settle('pass', 'failure', openMsMin),
  nothing: (breaker) => breaker.settle('pass', 'nothing', openMsMin),
  'probe: life': (breaker) => breaker.settle('probe', 'life', openMsMin),
  'probe: failure': (breaker) => breaker.settle('probe', 'failure', openMsMin),
  'probe: nothing': (breaker) => breaker.settle('probe', 'nothing', openMsMin),
} as const satisfies Record<string, Happening>;

type State = keyof typeof bring;
type Row = Record<keyof typeof happenings, string>;

/** Every state with everything that can happen: the answer to a call, and the phase afterwards. */
const table: Record<State, Row> = {
  closed: {
    'call before the wait is over': 'pass closed',
    'call after the wait is over': 'pass closed',
    life: 'closed',
    failure: 'closed',
    nothing: 'closed',
    // A probe can only settle here when another call was answered first.
    'probe: life': 'closed',
    'probe: failure': 'closed',
    'probe: nothing': 'closed',
  },
  'one failure short of open': {
    'call before the wait is over': 'pass closed',
    'call after the wait is over': 'pass closed',
    life: 'closed',
    failure: 'open',
    nothing: 'closed',
    'probe: life': 'closed',
    'probe: failure': 'closed',
    'probe: nothing': 'closed',
  },
  open: {
    'call before the wait is over': 'refuse open',
    'call after the wait is over': 'probe half-open',
    life: 'closed',
    failure: 'open',
    nothing: 'open',
    'probe: life': 'closed',
    'probe: failure': 'open',
    'probe: nothing': 'open',
  },
  'half-open': {
    'call before the wait is over': 'refuse half-open',
    'call after the wait is over': 'refuse half-open',
    life: 'closed',
    failure: 'half-open',
    nothing: 'half-open',
    'probe: life': 'closed',
    'probe: failure': 'open',
    'probe: nothing': 'open',
  },
};

const rows = Object.entries(table).flatMap(([state, row]) =>
  Object.entries(row).map(([happening, expected]) => [state, happening, expected] as const),
);

describe('Breaker: every transition', () => {
  it.each(rows)('%s, %s: %s', (state, happening, expected) => {
    const breaker = bring[state as State]();
    const answer = happenings[happening as keyof Row](breaker) as string | undefined;
    expect(answer === undefined ? breaker.phase : `${answer} ${breaker.phase}`).toBe(expected);
  });

  it.each(Object.keys(table) as State[])('%s: refuses foretells admit', (state) => {
    for (const nowMs of [0, openMsMin - 1, openMsMin, openMsMin + 1]) {
      const refuses = bring[state]().refuses(nowMs);
      expect(refuses, String(nowMs)).toBe(bring[state]().admit(nowMs) === 'refuse');
    }
  });
});

describe('Breaker: counting and waiting', () => {
  it('only failures in a row count', () => {
    const breaker = bring['one failure short of open']();
    breaker.settle('pass', 'life', 0);
    for (let i = 1; i < failureCountMax; i++) breaker.settle('pass', 'failure', 0);
    expect(breaker.phase).toBe('closed');
  });

  it('each failed probe doubles the wait up to the longest; life resets it', () => {
    const breaker = bring.open();
    let nowMs = 0;
    const waits: number[] = [];
    for (let i = 0; i < 6; i++) {
      const fromMs = nowMs;
      while (breaker.refuses(nowMs)) nowMs += 100;
      waits.push(nowMs - fromMs);
      expect(breaker.admit(nowMs)).toBe('probe');
      breaker.settle('probe', 'failure', nowMs);
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, openMsMax, openMsMax]);
    breaker.settle('pass', 'life', nowMs);
    for (let i = 0; i < failureCountMax; i++) breaker.settle('pass', 'failure', nowMs);
    expect(breaker.refuses(nowMs + openMsMin - 1)).toBe(true);
    expect(breaker.refuses(nowMs + openMsMin)).toBe(false);
  });

  it('failures of calls from before do not lengthen the wait', () => {
    const breaker = bring.open();
    breaker.settle('pass', 'failure', openMsMin - 1);
    expect(breaker.admit(openMsMin)).toBe('probe');
  });

  it('after a probe that never left, the next call is a probe at once', () => {
    const breaker = bring['half-open']();
    breaker.settle('probe', 'nothing', openMsMin);
    expect(breaker.admit(openMsMin)).toBe('probe');
  });
});

describe('signOf', () => {
  const noAnswer = (reason: 'refused' | 'timeout' | 'unresolvable' | 'forbidden' | 'cut') =>
    ({ kind: 'no-answer', reason, detail: '' }) satisfies CallbackResult;

  it.each([
    [{ kind: 'answer', status: 200, retryAfterMs: null }, 'life'],
    [{ kind: 'answer', status: 500, retryAfterMs: null }, 'life'],
    [{ kind: 'answer', status: 410, retryAfterMs: null }, 'life'],
    [noAnswer('refused'), 'failure'],
    [noAnswer('timeout'), 'failure'],
    [noAnswer('unresolvable'), 'failure'],
    [noAnswer('cut'), 'failure'],
    [noAnswer('forbidden'), 'nothing'],
  ] as const)('%j: %s', (result, sign) => expect(signOf(result)).toBe(sign));
});
