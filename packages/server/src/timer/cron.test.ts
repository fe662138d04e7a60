import { Cron } from 'croner';
import { describe, expect, it, vi } from 'vitest';
import { nextCron } from './cron.ts';

const wallMs = Date.UTC(2026, 0, 1);

describe('the next time of a cron pattern', () => {
  it.each([
    '* * * * *',
    '*/5 9-17 * * MON-FRI',
    '30 0 0 29 2 *',
    '0 0 29 2 +1',
    '0 0 29 2 +1#5',
    '0 0 L 2 *',
    '0 0 15W * *',
    '@monthly',
    '0 0 1 1 *',
  ])('%s: as the library says, in any zone', (pattern) => {
    for (const timezone of [null, 'Europe/Berlin', 'America/St_Johns', 'Pacific/Kiritimati']) {
      const plain = new Cron(pattern, { timezone: timezone ?? 'UTC', paused: true });
      let atMs = wallMs;
      for (let i = 0; i < 4; i++) {
        const next = nextCron(pattern, timezone, atMs);
        expect(next).toBe(plain.nextRun(new Date(atMs))?.getTime());
        atMs = next as number;
      }
    }
  });

  /** Clocks are set on 29 March and 25 October 2026 in Berlin, and by half an hour on Lord Howe Island. */
  it.each(['Europe/Berlin', 'Australia/Lord_Howe', null])(
    'a time that is kept is what the library says, also while clocks are set (%s)',
    (timezone) => {
      for (const pattern of ['*/30 1-3 * * *', '30 2 * * *', '*/7 * * * *']) {
        const plain = new Cron(pattern, { timezone: timezone ?? 'UTC', paused: true });
        for (const startMs of [Date.UTC(2026, 2, 28, 20), Date.UTC(2026, 9, 24, 20)])
          for (let atMs = startMs; atMs < startMs + 10 * 3_600_000; atMs += 420_001) {
            const expected = plain.nextRun(new Date(atMs))?.getTime();
            expect(nextCron(pattern, timezone, atMs)).toBe(expected);
          }
      }
    },
  );

  it.each([
    ['30 2 * * *', '2026-03-28T12:00Z', ['03-29T01:00', '03-30T00:30']],
    ['30 2 * * *', '2026-10-24T12:00Z', ['10-25T00:30', '10-26T01:30']],
    ['0,30 2 * * *', '2026-03-28T12:00Z', ['03-30T00:00', '03-30T00:30']],
    ['30 2,3 * * *', '2026-10-24T12:00Z', ['10-25T00:30', '10-25T01:30', '10-25T02:30']],
  ])(
    '%s after %s in Berlin: one time of day pops once, of several those in the gap are left out',
    (pattern, after, expected) => {
      let atMs = Date.parse(after);
      const found = expected.map(() => {
        atMs = nextCron(pattern, 'Europe/Berlin', atMs) as number;
        return new Date(atMs).toISOString().slice(5, 16);
      });
      expect(found).toEqual(expected);
    },
  );

  it('timers of one pattern that pop together search for their times once', () => {
    const search = vi.spyOn(Cron.prototype, 'nextRun');
    for (let i = 0; i < 60_000; i++)
      expect(nextCron('0,15,30,45 * * * * *', null, wallMs + (i % 15_000))).toBe(wallMs + 15_000);
    for (let i = 0; i < 60_000; i++)
      nextCron('0,15,30,45 * * * * *', null, wallMs + (i % 4) * 15_000);
    // The verdict on the days, and a time for each quarter.
    expect(search.mock.calls.length).toBeLessThanOrEqual(6);
    search.mockRestore();
  });

  it('times of more patterns than are kept are right', () => {
    for (let i = 0; i < 900; i++) {
      const second = i % 60;
      const minute = Math.floor(i / 60);
      const expected = wallMs + (minute * 60 + second) * 1000;
      // Times are kept for each spelling, compiled patterns for all spellings together: 9000 and 900.
      const found = Array.from({ length: 10 }, (_, spaces) =>
        nextCron(`${' '.repeat(spaces)}${second} ${minute} 0 * * *`, null, wallMs - 1),
      );
      expect(found).toEqual(Array(10).fill(expected));
    }
  });

  it.each(['0 0 30 2 *', '0 0 8 * +1#1', '0 0 31 2,4,6,9,11 *'])('%s never comes', (pattern) => {
    expect(nextCron(pattern, null, wallMs)).toBeNull();
  });

  it('that a day never comes is found out once, for any time of day', () => {
    nextCron('0 0 9 * +1#1', null, wallMs);
    const search = vi.spyOn(Cron.prototype, 'nextRun');
    for (let minute = 0; minute < 60; minute++)
      expect(nextCron(`${minute} 7 9 * +1#1`, null, wallMs)).toBeNull();
    expect(search).not.toHaveBeenCalled();
    search.mockRestore();
  });

  it('a pattern that is none is not taken, although its days never come', () => {
    expect(() => nextCron('61 0 30 2 *', null, wallMs)).toThrow('CronPattern');
  });
});
