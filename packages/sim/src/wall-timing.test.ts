import { expect, test } from 'vitest';
import { periodsMs, wallTimingBody, zoneNames } from './wall-timing.ts';

test('an instant is written with its offset from UTC', () => {
  const at = (offsetMinutes: number): object =>
    wallTimingBody(
      { intervalMs: 1500, count: 1, wall: { kind: 'at', roundMs: 1000, offsetMinutes } },
      500,
    );
  expect(at(0)).toEqual({ at: '2026-01-01T00:00:02.000Z' });
  expect(at(330)).toEqual({ at: '2026-01-01T05:30:02.000+05:30' });
  expect(at(-210)).toEqual({ at: '2025-12-31T20:30:02.000-03:30' });
});

test('a cron pattern that ends by until ends half a period after its last time', () => {
  const wall = { kind: 'cron', zone: 'Asia/Tokyo', ends: 'until' } as const;
  expect(wallTimingBody({ intervalMs: 30_000, count: 2, wall }, 40_000)).toEqual({
    cron: '*/30 * 9 * * *',
    timezone: 'Asia/Tokyo',
    until: '2026-01-01T00:01:45.000Z',
  });
});

test.each(zoneNames)('every world begins at the full hour that patterns in %s name', (zone) => {
  const wall = { kind: 'cron', zone, ends: 'count' } as const;
  const { cron } = wallTimingBody({ intervalMs: 60_000, count: 1, wall }, 0) as { cron: string };
  const begins = new Date(Date.UTC(2026, 0, 1)).toLocaleTimeString('en-GB', { timeZone: zone });
  expect(Number(begins.split(':')[0])).toBe(Number(cron.split(' ')[2]));
  expect(periodsMs.every((ms) => 3_600_000 % ms === 0)).toBe(true);
});
