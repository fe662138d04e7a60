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
