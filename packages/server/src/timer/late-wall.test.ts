import { encodeDefinition, State, type TimerRecord } from '@carillon/core';
import { expect, it } from 'vitest';
import { definitionOf, recordOf } from '../testing/records.ts';
import { onWallTime } from './late-wall.ts';

const ending = { count: null, forever: true, untilMs: null, repeatForMs: null };
const timing = { kind: 'cron' as const, cron: '*/30 * * * * *', timezone: null, ending };
const body = encodeDefinition({ ...definitionOf(), timing });
/** The monotonic clock began at 10:00 by the wall clock. */
const wallMs = Date.UTC(2026, 0, 1, 10);
const at = () => ({ nowMs: 90_000, wallMs: wallMs + 90_000 });

const older = recordOf({ body, startMs: 4000, sequence: 2, dueMs: 90_000, retryMs: 90_000 });

function readLate(byMs: number, fields: Partial<TimerRecord> = {}): TimerRecord {
  const dueMs = 120_000 + byMs;
  const times = { startMs: 4000 + byMs, dueMs, retryMs: dueMs, triedMs: dueMs };
  return { ...older, sequence: 3, ...times, ...fields };
}

it.each([1000, 5300, 26_800, 30_390, 41_000])(
  'a record that was read %d ms late is due at its time again',
  (byMs) => {
    expect(onWallTime(readLate(byMs), older, at)).toEqual(readLate(0));
  },
);

it('a delay on the way to the sender, which has read the due time from its clock since, makes no pop early', () => {
  const startMs = 4000 + 1000 + 250;
  expect(onWallTime(readLate(1000, { startMs }), older, at)).toEqual(readLate(0));
});

it.each([
  ['a delay below the difference between two clocks', readLate(900)],
  ['a due time that is one of the pattern', { ...readLate(7000), dueMs: 120_000 }],
  ['a due time that the delay does not explain', { ...readLate(7000), dueMs: 133_000 }],
  ['another version', readLate(7000, { versionMs: older.versionMs + 1 })],
  ['a retry, which counts from its failed attempt', readLate(7000, { attempt: 1 })],
  ['a tombstone', readLate(7000, { state: State.tombstone })],
  ['no progress', readLate(7000, { sequence: 2 })],
])('leaves alone: %s', (_case, record) => {
  expect(onWallTime(record, older, at)).toBe(record);
});

const versionMs = wallMs + 4000;

it.each([1000, 5300, 26_800, 30_390, 41_000])(
  'a record without an older copy that was read %d ms late is due at its time again, by its version',
  (byMs) => {
    const record = readLate(byMs, { versionMs });
    expect(onWallTime(record, undefined, at)).toEqual(readLate(0, { versionMs }));
    expect(onWallTime(record, { ...older, versionMs: 7 }, at)).toEqual(readLate(0, { versionMs }));
  },
);

it.each([
  ['a version ahead of the clock', readLate(7000, { versionMs: versionMs + 60_000 })],
  ['a version that the pattern does not confirm', readLate(7000, { versionMs: versionMs - 9000 })],
  ['a record that was read at once', readLate(0, { versionMs: versionMs + 30 })],
])('leaves alone without an older copy: %s', (_case, record) => {
  expect(onWallTime(record, undefined, at)).toBe(record);
});

it('leaves a dead letter that is sent again alone: it is due at once', () => {
  const told = { dueMs: 0, missed: 0, attempts: 1, reason: '500', gaveUpMs: 0 };
  const origin = { id: '1', versionMs: 1, versionTie: 0, sequence: 3, ...told };
  const letter = encodeDefinition({ ...definitionOf(), timing, origin });
  const record = readLate(26_800, { versionMs, body: letter });
  expect(onWallTime(record, undefined, at)).toBe(record);
});

it('leaves interval timers alone: their pops count from the start', () => {
  const interval = encodeDefinition(definitionOf());
  const record = readLate(7000, { body: interval });
  expect(onWallTime(record, { ...older, body: interval }, at)).toBe(record);
});

const instant = encodeDefinition({
  ...definitionOf(),
  timing: { kind: 'at', atMs: wallMs + 120_000 },
});

it.each([1000, 5300, 26_800, 41_000])(
  'a record of a timer for an instant that was read %d ms late is due at the instant again, by its version',
  (byMs) => {
    const record = readLate(byMs, { versionMs, body: instant });
    expect(onWallTime(record, undefined, at)).toEqual(readLate(0, { versionMs, body: instant }));
  },
);

it.each([
  ['an instant that is over when it is set: due at once', { dueMs: 4000 }],
  ['a version that the instant does not confirm', { versionMs: versionMs - 9000 }],
])('leaves a timer for an instant alone: %s', (_case, fields) => {
  const record = readLate(7000, { versionMs, body: instant, ...fields });
  expect(onWallTime(record, undefined, at)).toBe(record);
});
