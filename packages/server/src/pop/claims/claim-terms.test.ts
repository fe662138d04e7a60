import { expect, it } from 'vitest';
import { recordOf } from '../../testing/records.ts';
import {
  afterGrantMs,
  afterRefusalMs,
  callTermMs,
  claimTermMs,
  claimWaitMs,
  patientUntilMs,
  rankOf,
  stillUntilMs,
} from './claim-terms.ts';

it('a replica that granted a claim comes before one that was refused for it, listed or not', () => {
  const stored = recordOf({ replicas: ['a', 'b', 'x'] });
  const last = stored.replicas.length;
  const granted = Array.from({ length: last + 1 }, (_, position) => afterGrantMs(position));
  const refused = granted.map((_, position) => afterRefusalMs(stored, position));
  const moments = [...granted, ...refused];
  expect(moments).toEqual([...new Set(moments)].toSorted((a, b) => a - b));
});

it('a member that slept over a pop comes after all that were awake, listed or not, and one that slept for long comes last', () => {
  const record = recordOf({ replicas: ['a', 'b'] });
  const ranks = (['no', 'over', 'long'] as const).flatMap((sleep) =>
    [0, 1, 2].map((position) => rankOf(record, position, sleep)),
  );
  expect(ranks).toEqual([...new Set(ranks)].toSorted((a, b) => a - b));
  expect(rankOf(record, 1, 'stale')).toBe(rankOf(record, 1, 'no'));
});

it('a claim whose call is under way holds for half of the gap, within bounds', () => {
  expect(callTermMs(20)).toBe(50);
  expect(callTermMs(2000)).toBe(1000);
  expect(callTermMs(1e9)).toBe(3000);
});

it.each([
  { gapMs: 100, lateMs: 0, termMs: 50 },
  { gapMs: 2000, lateMs: 0, termMs: 1000 },
  { gapMs: 1e9, lateMs: 0, termMs: 3000 },
  // The time left until twice the gap, less 20 ms after the end of a claim and 100 ms for answers to the next one's
  // own.
  { gapMs: 1000, lateMs: 400, termMs: 480 },
  { gapMs: 1000, lateMs: 500, termMs: 380 },
  { gapMs: 1000, lateMs: 870, termMs: 20 },
  // No replica can be inside twice the gap any more.
  { gapMs: 1000, lateMs: 880, termMs: 500 },
  { gapMs: 1000, lateMs: 60_000, termMs: 500 },
])(
  'a claim that is asked for $lateMs ms after a pop with a gap of $gapMs ms was due holds for $termMs ms',
  ({ gapMs, lateMs, termMs }) => {
    const record = recordOf({ dueMs: 5000, gapMs, factor: 2, replicas: ['a', 'b'] });
    expect(claimTermMs(record, 5000 + lateMs)).toBe(termMs);
  },
);

it('the answers to a claim are awaited for half of its term at most, so that it still holds when the call starts', () => {
  for (const gapMs of [0, 20, 100, 300, 1000, 3000, 60_000]) {
    for (const factor of [1, 2, 16]) {
      const record = recordOf({ dueMs: 5000, gapMs, factor, replicas: ['a'] });
      for (const lateMs of [0, 10, gapMs / 2, gapMs, 2 * gapMs + 1]) {
        for (const sleep of ['no', 'stale', 'over', 'long'] as const) {
          const waitMs = claimWaitMs(record, sleep, 5000 + lateMs);
          expect(waitMs).toBeGreaterThan(0);
          expect(waitMs).toBeLessThanOrEqual(claimTermMs(record, 5000 + lateMs) / 2);
        }
      }
    }
  }
});

it.each([
  { gapMs: 4000, lateMs: 1000, sleep: 'over', waitMs: 1000 },
  // The claim ends in time for the next replica; the claimant asks again.
  { gapMs: 4000, lateMs: 3700, sleep: 'over', waitMs: 90 },
  { gapMs: 4000, lateMs: 3700, sleep: 'stale', waitMs: 90 },
  // Twice the gap counts more than a repeated callback.
  { gapMs: 3000, lateMs: 2700, sleep: 'over', waitMs: 90 },
  { gapMs: 3000, lateMs: 2890, sleep: 'no', waitMs: 100 },
  { gapMs: 3000, lateMs: 2950, sleep: 'no', waitMs: 45 },
  { gapMs: 4000, lateMs: 3950, sleep: 'stale', waitMs: 45 },
  { gapMs: 3000, lateMs: 2980, sleep: 'no', waitMs: 15 },
  // Another replica was awake, and has probably popped.
  { gapMs: 3000, lateMs: 2950, sleep: 'over', waitMs: 100 },
  // Too late for answers, or altogether.
  { gapMs: 3000, lateMs: 2981, sleep: 'no', waitMs: 100 },
  { gapMs: 3000, lateMs: 3000, sleep: 'no', waitMs: 100 },
] as const)(
  'a claimant of a pop with a gap of $gapMs ms, $lateMs ms late, sleep: $sleep, waits $waitMs ms for answers',
  ({ gapMs, lateMs, sleep, waitMs }) => {
    const record = recordOf({ dueMs: 5000, gapMs, factor: 2, replicas: ['a', 'b'] });
    expect(claimWaitMs(record, sleep, 5000 + lateMs)).toBe(waitMs);
  },
);

it.each([
  { gapMs: 4000, lateMs: 700, sleep: 'over', granted: false, untilMs: 2900 },
  { gapMs: 30_000, lateMs: 700, sleep: 'over', granted: false, untilMs: 5700 },
  // For a second at least.
  { gapMs: 4000, lateMs: 3700, sleep: 'over', granted: true, untilMs: 4700 },
  { gapMs: 4000, lateMs: 4500, sleep: 'over', granted: false, untilMs: 5500 },
  // To the others a member that slept for long was as good as dead.
  { gapMs: 4000, lateMs: 2500, sleep: 'long', granted: false, untilMs: 7500 },
  // A replica that is awake holds back.
  { gapMs: 4000, lateMs: 1500, sleep: 'long', granted: true, untilMs: 2900 },
  { gapMs: 3000, lateMs: 2500, sleep: 'long', granted: false, untilMs: 2500 },
  { gapMs: 4000, lateMs: 700, sleep: 'stale', granted: false, untilMs: 700 },
] as const)(
  'a claimant of a pop with a gap of $gapMs ms, $lateMs ms late, sleep: $sleep, granted: $granted, asks again until $untilMs ms after it was due',
  ({ gapMs, lateMs, sleep, granted, untilMs }) => {
    const record = recordOf({ dueMs: 5000, gapMs, factor: 2, replicas: ['a', 'b'] });
    const asked = { firstMs: 5000 + lateMs, granted, stillMs: Number.NEGATIVE_INFINITY };
    expect(patientUntilMs(record, sleep, asked)).toBe(5000 + untilMs);
  },
);

it.each([
  // The other may stand still for 3 s more.
  { gapMs: 10_000, lateMs: 3000, stillMs: 6000, untilMs: 6000 },
  // Not so long that the pop would come after twice the gap.
  { gapMs: 4000, lateMs: 2000, stillMs: 6000, untilMs: 2900 },
  { gapMs: 4000, lateMs: 3500, stillMs: 6000, untilMs: 3500 },
] as const)(
  'a claimant that did not sleep, with a gap of $gapMs ms, $lateMs ms late, asks one that may stand still until $stillMs ms until $untilMs ms after the pop was due',
  ({ gapMs, lateMs, stillMs, untilMs }) => {
    const record = recordOf({ dueMs: 5000, gapMs, factor: 2, replicas: ['a', 'b'] });
    const asked = { firstMs: 5000 + lateMs, granted: false, stillMs: 5000 + stillMs };
    expect(patientUntilMs(record, 'no', asked)).toBe(5000 + untilMs);
  },
);

it.each([
  { gapMs: 10_000, lateMs: 3000, sinceMs: 500, untilMs: 5500 },
  { gapMs: 10_000, lateMs: 3000, sinceMs: -500, untilMs: 5000 },
  { gapMs: 10_000, lateMs: 5500, sinceMs: 500, untilMs: null },
  // Twice the gap counts more than a repeated callback.
  { gapMs: 3000, lateMs: 2000, sinceMs: 500, untilMs: null },
])(
  'a pop with a gap of $gapMs ms, $lateMs ms late, waits for a claimant that is silent since $sinceMs ms after it was due until $untilMs',
  ({ gapMs, lateMs, sinceMs, untilMs }) => {
    const record = recordOf({ dueMs: 5000, gapMs, factor: 2, replicas: ['a', 'b'] });
    const until = stillUntilMs(record, 5000 + sinceMs, 5000 + lateMs);
    expect(until).toBe(untilMs === null ? null : 5000 + untilMs);
  },
);
