import { expect, test } from 'vitest';
import { localTimes } from './local-time.ts';

test.each([
  ['UTC', '2026-01-31T09:00:00.250Z', '2026-01-31T09:00:00.250+00:00'],
  ['Europe/Berlin', '2026-03-29T00:59:59Z', '2026-03-29T01:59:59.000+01:00'],
  ['Europe/Berlin', '2026-03-29T01:00:00Z', '2026-03-29T03:00:00.000+02:00'],
  ['America/St_Johns', '2026-01-01T02:00:00Z', '2025-12-31T22:30:00.000-03:30'],
  ['Asia/Kathmandu', '2026-01-01T18:20:00Z', '2026-01-02T00:05:00.000+05:45'],
  ['Pacific/Kiritimati', '2026-12-31T10:00:00Z', '2027-01-01T00:00:00.000+14:00'],
  ['Europe/Berlin', '1969-12-31T23:59:59.999Z', '1970-01-01T00:59:59.999+01:00'],
])('in %s the instant %s is %s', (zone, instant, local) => {
  expect(localTimes(zone, [Date.parse(instant)])).toEqual([local]);
  expect(Date.parse(local)).toBe(Date.parse(instant));
});
