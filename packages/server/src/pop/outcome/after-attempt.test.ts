import {
  type Attempted,
  encodeDefinition,
  State,
  type TimerRecord,
  type Unmade,
} from '@carillon/core';
import { describe, expect, it } from 'vitest';
import { definitionOf, recordOf } from '../../testing/records.ts';
import { afterAttempt, afterRefusal, type Circumstances } from './after-attempt.ts';

const ok: Attempted = { kind: 'answer', status: 200, retryAfterMs: null };
const no: Attempted = { kind: 'answer', status: 503, retryAfterMs: null };
const gone: Attempted = { kind: 'answer', status: 410, retryAfterMs: null };
const left: Unmade = { kind: 'unmade', detail: 'Left alone.', waitMs: 500 };

const retry = { limitMs: 60_000, baseMs: 1000, waitMsMax: 8000, attemptCountMax: null };
const ending = { repeatForMs: null, untilMs: null, count: null, forever: false };
const once = definitionOf({ timing: { kind: 'at', atMs: 0 } });
const hourly = definitionOf({
  timing: { kind: 'interval', intervalMs: 3_600_000, ending: { ...ending, forever: true } },
});
const every10s = definitionOf({
  timing: { kind: 'interval', intervalMs: 10_000, ending: { ...ending, forever: true } },
});

const letterOrigin = {
  id: 'id',
  versionMs: 1,
  versionTie: 2,
  sequence: 1,
  dueMs: 3,
  missed: 1,
  attempts: 4,
  reason: '',
  gaveUpMs: 5,
};

function at(nowMs: number, startMs = nowMs, missed = 0): Circumstances {
  const random = { unit: () => 0.5, u32: () => 0 };
  const now = { nowMs, wallMs: nowMs };
  return { at: now, startMs, missed, idOf: () => 'id', retry, random, boxIsFull: false };
}

/** Due at 10 s. */
function due(fields: Partial<TimerRecord> = {}, definition = once): TimerRecord {
  return recordOf({ dueMs: 10_000, body: encodeDefinition(definition), ...fields });
}

describe('afterAttempt', () => {
  it('a delivery ends a single timer and takes a recurring one to its next pop', () => {
    expect(afterAttempt(due(), once, ok, at(10_000))).toMatchObject({
      kind: 'delivered',
      record: { state: State.tombstone, outcome: 200 },
    });
    expect(afterAttempt(due(), every10s, ok, at(10_001))).toMatchObject({
      kind: 'delivered',
      record: { state: State.live, sequence: 1, attempt: 0, dueMs: 20_000, triedMs: 20_000 },
    });
  });

  it.each([
    ['at once', 10_000, 10_000],
    ['within a second', 10_999, 10_000],
    ['after an hour behind an open circuit', 3_610_000, 3_610_000],
  ])('the first attempt, made %s, begins the time limit', (_, startMs, triedMs) => {
    const after = afterAttempt(due(), hourly, no, at(startMs + 5, startMs));
    expect(after).toMatchObject({
      kind: 'retry',
      record: { attempt: 1, outcome: 503, triedMs, retryMs: startMs + 5 + 500 },
    });
  });

  it('later attempts leave the beginning of the time limit as it is, and end with it', () => {
    const tried = due({ attempt: 3, triedMs: 500_000 });
    expect(afterAttempt(tried, once, no, at(550_000))).toMatchObject({
      kind: 'retry',
      record: { attempt: 4, triedMs: 500_000 },
    });
    expect(afterAttempt(tried, once, no, at(560_000))).toMatchObject({
      kind: 'letter',
      record: { attempt: 4 },
      letter: { state: State.dead, replicas: [] },
    });
  });

  it('a failure that another attempt cannot mend is given up at once', () => {
    expect(afterAttempt(due(), once, gone, at(10_000)).kind).toBe('letter');
  });

  it('a letter that was sent again and fails again goes back to its own number and replicas', () => {
    const origin = { ...letterOrigin, sequence: 7 };
    const sent = due({ hi: 8, lo: 9, replicas: ['x'] });
    expect(afterAttempt(sent, { ...every10s, origin }, gone, at(10_000))).toMatchObject({
      kind: 'letter',
      letter: { hi: 8, lo: 9, replicas: ['x'], state: State.dead },
    });
  });
});

describe('with a full letter box', () => {
  const full = { boxIsFull: true };
  const policy = { ...retry, attemptCountMax: 1 };

  it('a pop that would be given up stays due, and is tried again after a second and a wait', () => {
    const definition = { ...once, retry: policy };
    const after = afterAttempt(due(), definition, gone, { ...at(10_000), ...full });
    expect(after).toMatchObject({
      kind: 'retry',
      record: { state: State.live, sequence: 0, attempt: 1, retryMs: 11_500 },
    });
  });

  it('pops of a recurring timer that fell due meanwhile merge into it', () => {
    const record = due({ attempt: 4, triedMs: 10_000 });
    const after = afterAttempt(record, every10s, no, { ...at(45_000), ...full });
    expect(after).toMatchObject({ kind: 'retry', record: { sequence: 0, gapMs: 40_000 } });
    const kept = (after as { record: TimerRecord }).record;
    const delivered = afterAttempt(kept, every10s, ok, at(46_000, 46_000, 3));
    expect(delivered).toMatchObject({ record: { sequence: 4, dueMs: 50_000 } });
  });

  it('one that is over while its receiver is left alone waits', () => {
    const record = due({ attempt: 1, triedMs: 10_000 }, every10s);
    const after = afterRefusal(record, every10s, left, { ...at(19_800), ...full });
    expect(after.kind).toBe('wait');
  });

  it('a letter that was sent again goes back to its place', () => {
    const definition = { ...every10s, origin: letterOrigin };
    const after = afterAttempt(due(), definition, gone, { ...at(10_000), ...full });
    expect(after.kind).toBe('letter');
  });
});

describe('afterRefusal', () => {
  it.each([
    { pop: 'a single timer', of: once, nowMs: 10_000, waitMs: 550 },
    { pop: 'a single timer, a minute later,', of: once, nowMs: 70_000, waitMs: 8000 },
    { pop: 'a single timer, a day later,', of: once, nowMs: 86_410_000, waitMs: 15_500 },
    { pop: 'a timer whose next pop is due', of: every10s, nowMs: 20_500, waitMs: 1812.5 },
  ])('$pop waits if it was never tried', ({ of, nowMs, waitMs }) => {
    const after = afterRefusal(due({}, of), of, left, at(nowMs));
    expect(after).toEqual({ kind: 'wait', waitMs });
  });

  const tried = { attempt: 1, triedMs: 10_000, outcome: 503 };

  it('a pop that was tried waits within its limits', () => {
    const after = afterRefusal(due(tried, hourly), hourly, left, at(20_000));
    expect(after).toEqual({ kind: 'wait', waitMs: 1750 });
  });

  it.each([
    { when: 'its time limit is over', of: hourly, nowMs: 70_001, why: /60000 ms after/ },
    { when: 'its next pop falls due', of: every10s, nowMs: 19_800, why: /next pop/ },
  ])('a pop that was tried is given up when $when', ({ of, nowMs, why }) => {
    const after = afterRefusal(due(tried, of), of, left, at(nowMs));
    expect(after).toMatchObject({ kind: 'letter', record: { attempt: 1, outcome: 503 } });
    const { letter } = after as Extract<typeof after, { kind: 'letter' }>;
    expect(new TextDecoder().decode(letter.body)).toMatch(why);
    expect(new TextDecoder().decode(letter.body)).toContain('Left alone.');
  });
});
