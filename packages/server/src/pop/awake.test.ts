import { expect, test } from 'vitest';
import { recordOf } from '../testing/records.ts';
import { Awake } from './awake.ts';

test.each([
  { lateMs: 0, stood: false, sinceMs: 1000 },
  { lateMs: 100, stood: false, sinceMs: 1000 },
  { lateMs: 101, stood: true, sinceMs: 1000 },
  { lateMs: 500, stood: true, sinceMs: 1000 },
  { lateMs: 501, stood: true, sinceMs: 5501 },
])(
  'an alarm that rings $lateMs ms late: stood still $stood, awake since $sinceMs',
  ({ lateMs, stood, sinceMs }) => {
    const awake = new Awake(1000, ({ retryMs }) => retryMs);
    expect(awake.rang(5000, 5000 + lateMs)).toBe(stood);
    expect(awake.sinceMs).toBe(sinceMs);
  },
);

test('a pop that fell due before it woke up was slept over; one that is due soon after may be stale', () => {
  const awake = new Awake(0, ({ retryMs }) => retryMs);
  awake.wakeUp(60_000);
  const record = (dueMs: number, startMs = 0) => recordOf({ dueMs, startMs });
  expect([59_999, 60_000].map((dueMs) => awake.sleptOver(record(dueMs)))).toEqual([true, false]);
  const stale = [62_999, 63_000].map((dueMs) => awake.mayBeStale(record(dueMs)));
  expect(stale).toEqual([true, false]);
  expect(awake.mayBeStale(record(61_000, 60_500))).toBe(false);
});

test('a pop that fell due in a sleep of more than a second was slept over for long', () => {
  const awake = new Awake(0, ({ retryMs }) => retryMs);
  const sleepOf = (dueMs: number) => awake.sleepOf(recordOf({ dueMs, startMs: -1 }));
  awake.rang(10_000, 11_001);
  expect([10_500, 11_000, 12_000, 20_000].map(sleepOf)).toEqual(['long', 'long', 'stale', 'no']);
  awake.rang(30_000, 31_000);
  expect([30_500, 32_000].map(sleepOf)).toEqual(['over', 'stale']);
});
