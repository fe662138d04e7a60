import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { startOne } from '../testing/one-member.ts';
import { dueWallMs, endWallMs, setWallMs, SteadyInstants } from './due-wall.ts';

/**
 * A wall clock that counts whole milliseconds, and a monotonic one that stands between two of them, as real ones do.
 */
const clockAt = (fraction: number): VirtualClock =>
  new VirtualClock({ nowMs: 1000 + fraction, wallMs: Date.UTC(2026, 0, 31, 23, 59) });

const callback = { http: { uri: 'http://receiver.test/' } };

test.each([
  { timing: { cron: '0 0 * * *', timezone: 'UTC', count: 2 } },
  { timing: { at: '2026-02-01T00:00:00Z' } },
])(
  '$timing: midnight is told as midnight, when it is read and when it pops',
  async ({ timing }) => {
    for (const fraction of [0.1, 0.5, 0.9]) {
      const clock = clockAt(fraction);
      const one = await startOne({ clock });
      const accept = { accept: 'application/json' };
      const set = await one.request('POST', '/timers', { timing, callback }, accept);
      // Between two milliseconds the two clocks tell different distances.
      await clock.advance(1000.4);
      const { id } = JSON.parse(set.body) as { id: string };
      const read = JSON.parse((await one.request('GET', `/timers/${id}`)).body) as object;
      const midnight = '2026-02-01T00:00:00.000Z';
      expect(read).toMatchObject({ 'next-due': midnight, 'next-attempt': midnight });
      await clock.advance(60_000);
      const [call] = one.receivers.calls;
      expect(call?.request.headers['x-timer-due']).toBe('2026-02-01T00:00:00.000Z');
      await one.stop();
    }
  },
);

test('all replicas tell the same times of an interval timer, whenever they are asked', () => {
  const every = { kind: 'interval', intervalMs: 2000, ending: null } as never;
  const setMs = Date.UTC(2026, 0, 31);
  for (const [startMs, transitMs] of [
    [1000.9, 0],
    [77_000.3, 0.7],
    [5.5, 31],
    [9.1, 700],
  ] as const) {
    const record = { startMs, dueMs: startMs + 3 * 2000, versionMs: setMs };
    for (const laterMs of [0, 0.4, 0.9, 1500.2]) {
      const wallMs = Math.floor(setMs + transitMs + laterMs);
      const at = { nowMs: startMs + laterMs, wallMs };
      expect(setWallMs(record, at)).toBe(setMs);
      expect(dueWallMs(record, every, at)).toBe(setMs + 6000);
      const tombstone = { ...record, dueMs: startMs + 6100.4 };
      expect(endWallMs(tombstone, at)).toBe(setMs + 6100);
    }
  }
});

test('a version from a clock far away does not tell when a timer was set', () => {
  const every = { kind: 'interval', intervalMs: 2000, ending: null } as never;
  const record = { startMs: 100, dueMs: 2100, versionMs: 9_000_000 };
  const at = { nowMs: 100, wallMs: 8_000_000 };
  expect(setWallMs(record, at)).toBe(8_000_000);
  expect(dueWallMs(record, every, at)).toBe(8_002_000);
  expect(endWallMs(record, at)).toBe(8_002_000);
});

test('a retry reads the same each time, until the wall clock is set', () => {
  const instants = new SteadyInstants();
  const shown = (nowMs: number, wallMs: number): number => {
    const at = instants.of({ nowMs, wallMs });
    return Math.round(5000.2 - at.nowMs + at.wallMs);
  };
  const first = shown(1000.7, 70_000);
  for (const ms of [0.1, 0.2, 0.35, 3.29]) {
    expect(shown(1000.7 + ms, Math.floor(70_000.7 + ms))).toBe(first);
  }
  expect(shown(1010.7, 90_010)).toBe(first + 20_000);
});
