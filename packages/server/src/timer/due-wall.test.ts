import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { startOne } from '../testing/one-member.ts';

/** A wall clock that counts whole milliseconds, and a monotonic one that stands between two of them, as real ones do. */
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
      expect(read).toMatchObject({ 'next-due': '2026-02-01T00:00:00.000Z' });
      await clock.advance(60_000);
      const [call] = one.receivers.calls;
      expect(call?.request.headers['x-timer-due']).toBe('2026-02-01T00:00:00.000Z');
      await one.stop();
    }
  },
);
