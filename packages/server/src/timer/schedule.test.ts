import {
  decodeDefinition,
  encodeDefinition,
  type Ending,
  State,
  type TimerRecord,
  type Timing,
} from '@carillon/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimWaitMs } from '../pop/claims/claim-terms.ts';
import { definitionOf, recordOf } from '../testing/records.ts';
import { isOfRequest } from './request-digest.ts';
import {
  afterPop,
  aheadMsMax,
  alarmMs,
  entomb,
  firstPop,
  followingPop,
  mergedGapMs,
  lookMs,
  missedPops,
  popCount,
  stepMs,
} from './schedule.ts';

const once: Ending = { repeatForMs: null, untilMs: null, count: null, forever: false };
const wall0 = Date.UTC(2026, 0, 1);
const at = (nowMs: number) => ({ nowMs, wallMs: wall0 + nowMs });

function every(
  intervalMs: number,
  ending: Partial<Ending> = {},
): Extract<Timing, { kind: 'interval' }> {
  return { kind: 'interval', intervalMs, ending: { ...once, ...ending } };
}

describe('skew', () => {
  it('pops the replicas of a 20 s timer at 20, 22 and 24 s', () => {
    const record = recordOf({ dueMs: 20_000, gapMs: 20_000, factor: 3, replicas: ['a', 'b', 'c'] });
    expect(['a', 'b', 'c'].map((self) => alarmMs(record, self))).toEqual([20_000, 22_000, 24_000]);
  });

  const names = Array.from({ length: 17 }, (_, i) => `m${i}`);
  const factors = Array.from({ length: 16 }, (_, i) => i + 1);
  const gaps = fc.oneof(
    fc.integer({ min: 20, max: 1000 }),
    fc.integer({ min: 20, max: 86_400_000 }),
  );

  /** When the callback starts of a holder that asks all the others in vain. */
  const startMs = (record: TimerRecord, self: string): number => {
    const atMs = alarmMs(record, self);
    return atMs + claimWaitMs(record, 'no', atMs);
  };

  it('even the last replica is inside 2n, or inside n and 40 ms for each copy where n is shorter', () => {
    for (const factor of factors) {
      const replicas = names.slice(0, factor);
      const shortestMs = Math.max(100, 40 * factor);
      fc.assert(
        fc.property(gaps, (n) => {
          const record = recordOf({ dueMs: n, gapMs: n, factor, replicas });
          const limitMs = n >= shortestMs ? 2 * n : n + 40 * factor;
          // With one to stand in, and one that is not listed (any more).
          const standIn = { ...record, replicas: names.slice(0, factor + 1) };
          for (const self of [...replicas, 'foreign']) {
            expect(alarmMs(record, self)).toBeGreaterThanOrEqual(n);
            expect(startMs(record, self)).toBeLessThanOrEqual(limitMs);
          }
          for (const self of standIn.replicas)
            expect(startMs(standIn, self)).toBeLessThanOrEqual(limitMs);
        }),
      );
    }
  });

  it('takes a step between 20 ms and 2 s', () => {
    expect(stepMs(0, 2)).toBe(20);
    expect(stepMs(99, 2)).toBe(20);
    expect(stepMs(100, 2)).toBe(50);
    expect(stepMs(100, 8)).toBe(20);
    expect(stepMs(3000, 3)).toBe(1000);
    expect(stepMs(1e9, 2)).toBe(2000);
  });

  it('counts from the retry while a pop is being retried, and passes the turn on', () => {
    const retry = { dueMs: 10_000, retryMs: 17_000, replicas: ['a', 'b', 'c'] };
    const alarms = (attempt: number): number[] =>
      retry.replicas.map((self) => alarmMs(recordOf({ ...retry, attempt }), self));
    expect(alarms(1)).toEqual([21_000, 17_000, 19_000]);
    expect(alarms(2)).toEqual([19_000, 21_000, 17_000]);
    expect(alarms(3)).toEqual([17_000, 19_000, 21_000]);
  });
});

describe('a look ahead of the time', () => {
  const record = recordOf({ dueMs: 20_022, replicas: ['a', 'b'] });

  it('is taken by the first of several replicas, at one moment for pops that are due within 15 ms', () => {
    const looks = [20_014.9, 20_015, 20_022, 20_029.9, 20_030].map((dueMs) =>
      lookMs({ ...record, dueMs, retryMs: dueMs }, 'a'),
    );
    expect(looks).toEqual([19_995, 20_010, 20_010, 20_010, 20_025]);
    expect(lookMs(record, 'b')).toBe(22_022);
  });

  it('is not taken where no other replica is asked, nor for pops less than a second apart', () => {
    expect(lookMs({ ...record, replicas: ['a'] }, 'a')).toBe(20_022);
    expect(lookMs({ ...record, gapMs: 999 }, 'a')).toBe(20_022);
    expect(lookMs({ ...record, gapMs: 1000 }, 'a')).toBe(20_010);
  });

  it('is taken by the replica whose turn a retry is', () => {
    const retry = { ...record, attempt: 1, retryMs: 30_022 };
    expect([lookMs(retry, 'a'), lookMs(retry, 'b')]).toEqual([32_022, 30_015]);
  });

  it('comes 5 to 20 ms before the pop', () => {
    fc.assert(
      fc.property(fc.double({ min: 1000, max: 1e9, noNaN: true }), (dueMs) => {
        const aheadMs = dueMs - lookMs({ ...record, dueMs, retryMs: dueMs }, 'a');
        expect(aheadMs).toBeGreaterThanOrEqual(5);
        expect(aheadMs).toBeLessThanOrEqual(aheadMsMax);
      }),
    );
  });
});

describe('number of pops', () => {
  it.each([
    [every(30_000), 1],
    [every(30_000, { repeatForMs: 300_000 }), 10],
    [every(30_000, { repeatForMs: 10_000 }), 1],
    [every(30_000, { repeatForMs: 89_999 }), 2],
    [every(100, { repeatForMs: 300 }), 3],
    [every(0, { repeatForMs: 0 }), 1],
    [every(1000, { count: 5 }), 5],
    [every(1000, { forever: true }), Number.POSITIVE_INFINITY],
    [every(1000, { untilMs: wall0 }), Number.POSITIVE_INFINITY],
  ])('of %j is %d', (timing, expected) => {
    expect(popCount(timing)).toBe(expected);
  });
});

describe('first pop', () => {
  it('is one interval after the set', () => {
    expect(firstPop(every(1500), at(200))).toEqual({ dueMs: 1700, gapMs: 1500 });
  });

  it('of an instant is as far away as the wall clock says', () => {
    expect(firstPop({ kind: 'at', atMs: wall0 + 5000 }, at(1000))).toEqual({
      dueMs: 5000,
      gapMs: 4000,
    });
  });

  it('of an instant in the past is now', () => {
    expect(firstPop({ kind: 'at', atMs: wall0 - 5000 }, at(1000))).toEqual({
      dueMs: 1000,
      gapMs: 0,
    });
  });

  it('of a cron timer is its next occurrence in its time zone', () => {
    const noon: Timing = {
      kind: 'cron',
      cron: '0 12 * * *',
      timezone: 'Europe/Berlin',
      ending: once,
    };
    expect(firstPop(noon, at(0))).toEqual({ dueMs: 11 * 3_600_000, gapMs: 11 * 3_600_000 });
  });

  it('does not exist when a cron timer ends before its first occurrence', () => {
    const ending = { ...once, untilMs: wall0 + 1000 };
    expect(
      firstPop({ kind: 'cron', cron: '0 12 * * *', timezone: null, ending }, at(0)),
    ).toBeNull();
  });
});

describe('after a pop', () => {
  it('the next is due at start + k × interval, however late this one was', () => {
    const definition = definitionOf({ timing: every(10_000, { count: 5 }) });
    const record = recordOf({ startMs: 100, dueMs: 10_100, sequence: 0 });
    const next = afterPop(record, definition, 0, at(14_000));
    expect(next).toMatchObject({ sequence: 1, dueMs: 20_100, retryMs: 20_100, state: State.live });
  });

  it('resets the attempt', () => {
    const definition = definitionOf({ timing: every(10_000, { count: 5 }) });
    const next = afterPop(recordOf({ attempt: 3, retryMs: 12_345 }), definition, 0, at(13_000));
    expect(next).toMatchObject({ attempt: 0, retryMs: next.dueMs });
  });

  it('the last one leaves a tombstone of the same version, without the definition', () => {
    const next = afterPop(recordOf(), definitionOf({ timing: every(10_000) }), 0, at(10_500));
    expect(next).toMatchObject({
      state: State.tombstone,
      sequence: 1,
      dueMs: 10_500,
      versionMs: 1000,
    });
    expect(next.body).toHaveLength(0);
  });

  it('a timer set under an idempotency key keeps a digest of its definition in the tombstone', () => {
    const body = encodeDefinition(
      definitionOf({ timing: every(10_000), opaque: 'x'.repeat(60_000) }),
    );
    const other = encodeDefinition(
      definitionOf({ timing: every(10_001), opaque: 'x'.repeat(60_000) }),
    );
    const kept = entomb(recordOf({ body }), true, at(1)).body;
    expect(kept).toHaveLength(33);
    expect([isOfRequest(kept, body), isOfRequest(kept, other)]).toEqual([true, false]);
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const traced = encodeDefinition({ ...decodeDefinition(body), trace });
    const digestOfTraced = entomb(recordOf({ body: traced }), true, at(1)).body;
    expect(digestOfTraced).toEqual(kept);
    expect([isOfRequest(kept, traced), isOfRequest(body, traced)]).toEqual([true, true]);
    expect([isOfRequest(traced, body), isOfRequest(traced, other)]).toEqual([true, false]);
    // Folders of earlier releases have tombstones with whole definitions.
    expect([isOfRequest(body, body), isOfRequest(body, other)]).toEqual([true, false]);
  });

  it('an interval timer ends at its until', () => {
    const definition = definitionOf({ timing: every(10_000, { untilMs: wall0 + 25_000 }) });
    expect(followingPop(recordOf({ sequence: 0 }), definition, at(10_000))?.dueMs).toBe(20_000);
    expect(
      followingPop(recordOf({ sequence: 1, dueMs: 20_000 }), definition, at(20_000)),
    ).toBeNull();
  });

  it('a cron timer goes from occurrence to occurrence, each once', () => {
    const timing: Timing = {
      kind: 'cron',
      cron: '* * * * *',
      timezone: null,
      ending: { ...once, count: 3 },
    };
    const definition = definitionOf({ timing });
    let record = recordOf({ dueMs: 60_000, retryMs: 60_000 });
    const dues: number[] = [];
    for (let i = 0; i < 3; i++) {
      dues.push(record.dueMs);
      record = afterPop(record, definition, 0, at(record.dueMs + 3));
    }
    expect(dues).toEqual([60_000, 120_000, 180_000]);
    expect(record.state).toBe(State.tombstone);
  });

  it.each([
    { offMs: -29_000, cron: '* * * * *', nextMs: 120_000 },
    { offMs: -700, cron: '* * * * *', nextMs: 120_000 },
    { offMs: -1, cron: '* * * * *', nextMs: 120_000 },
    { offMs: 0, cron: '* * * * *', nextMs: 120_000 },
    { offMs: 29_000, cron: '* * * * *', nextMs: 120_000 },
    { offMs: -400, cron: '* * * * * *', nextMs: 61_000 },
    { offMs: 400, cron: '* * * * * *', nextMs: 61_000 },
    // The time after is near, the one before it far away.
    { offMs: 29_000, cron: '1,2 * * * *', nextMs: 120_000 },
    { offMs: -50_000, cron: '1,2 * * * *', nextMs: 120_000 },
    // No clock is off by so much.
    { offMs: -61_000, cron: '0 1 * * * *', nextMs: 60_000 },
  ])(
    'a cron timer, popped by a clock that is off by $offMs ms, goes on with the time after: $cron',
    ({ offMs, cron, nextMs }) => {
      const ending = { ...once, count: 9 };
      const definition = definitionOf({ timing: { kind: 'cron', cron, timezone: null, ending } });
      const record = recordOf({ dueMs: 60_000 + offMs, retryMs: 60_000 + offMs });
      expect(followingPop(record, definition, at(record.dueMs + 3))?.dueMs).toBe(nextMs);
    },
  );

  it('a cron timer ends with its repeat-for', () => {
    const ending = { ...once, repeatForMs: 130_000 };
    const definition = definitionOf({
      timing: { kind: 'cron', cron: '* * * * *', timezone: null, ending },
    });
    expect(followingPop(recordOf({ dueMs: 60_000 }), definition, at(60_000))?.dueMs).toBe(120_000);
    expect(followingPop(recordOf({ dueMs: 120_000 }), definition, at(120_000))).toBeNull();
  });
});

describe('missed pops', () => {
  const recurring = definitionOf({ timing: every(10_000, { count: 10 }) });

  it('are pops whose time has come while this one waited', () => {
    const record = recordOf({ dueMs: 10_000 });
    expect(missedPops(record, recurring, at(10_001))).toBe(0);
    expect(missedPops(record, recurring, at(19_999))).toBe(0);
    expect(missedPops(record, recurring, at(20_000))).toBe(1);
    expect(missedPops(record, recurring, at(45_000))).toBe(3);
  });

  it('are never more than the timer has left', () => {
    expect(missedPops(recordOf({ dueMs: 10_000 }), recurring, at(1e9))).toBe(9);
    expect(missedPops(recordOf({ sequence: 9, dueMs: 100_000 }), recurring, at(1e9))).toBe(0);
  });

  it('count as sequence numbers, so that the next pop is where it would have been', () => {
    const next = afterPop(recordOf({ dueMs: 10_000 }), recurring, 3, at(45_000));
    expect(next).toMatchObject({ sequence: 4, dueMs: 50_000 });
  });

  it('of a cron timer are its occurrences since', () => {
    const timing: Timing = {
      kind: 'cron',
      cron: '* * * * *',
      timezone: null,
      ending: { ...once, forever: true },
    };
    const definition = definitionOf({ timing });
    const record = recordOf({ dueMs: 60_000 });
    expect(missedPops(record, definition, at(200_000))).toBe(2);
    expect(afterPop(record, definition, 2, at(200_000))).toMatchObject({
      sequence: 3,
      dueMs: 240_000,
    });
  });

  it('do not exist while a pop is being retried', () => {
    expect(missedPops(recordOf({ attempt: 1 }), recurring, at(1e6))).toBe(0);
  });
});

it('every attempt of a merged pop stands for the same pops', () => {
  const definition = definitionOf({ timing: every(1000, { repeatForMs: 60_000 }) });
  const record = recordOf({ startMs: 0, dueMs: 1000, gapMs: 1000, retryMs: 1000 });
  const missed = missedPops(record, definition, at(5500));
  expect(missed).toBe(4);
  const gapMs = mergedGapMs(record, definition, missed);
  const retried = { ...record, attempt: 1, gapMs, retryMs: 6000 };
  expect(missedPops(retried, definition, at(9900))).toBe(4);
  expect(mergedGapMs(retried, definition, 4)).toBe(gapMs);
});
