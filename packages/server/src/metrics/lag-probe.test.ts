import type { Clock } from '@carillon/core';
import { expect, test } from 'vitest';
import { LagProbe } from './lag-probe.ts';
import { Histogram } from './prometheus.ts';

/** A clock whose alarms ring when the test says so, at the moment it says. */
function handClock() {
  let nowMs = 0;
  let alarm: { dueMs: number; ring: () => void } | null = null;
  const clock = {
    now: () => nowMs,
    at: (dueMs: number, ring: () => void) => {
      alarm = { dueMs, ring };
      return () => {
        alarm = null;
      };
    },
  } as unknown as Clock;
  const ringAt = (ms: number): number | null => {
    const ringing = alarm;
    nowMs = ms;
    alarm = null;
    ringing?.ring();
    return alarm === null ? null : (alarm as { dueMs: number }).dueMs;
  };
  return { clock, ringAt };
}

test('each second counts how late its alarm rang, and a pause is not made up for', () => {
  const histogram = new Histogram({ name: 'lag', help: 'Lag.' });
  const probe = new LagProbe(histogram);
  const { clock, ringAt } = handClock();
  const stop = probe.start(clock);
  expect(ringAt(1000)).toBe(2000);
  expect(probe.newestMs).toBe(0);
  expect(ringAt(2120)).toBe(3000);
  expect(probe.newestMs).toBe(120);
  expect(ringAt(60_000)).toBe(61_000);
  expect(probe.newestMs).toBe(57_000);
  stop();
  expect(ringAt(61_500)).toBeNull();
  const lines: string[] = [];
  histogram.render(lines);
  expect(lines.join('\n')).toContain('lag_count 3');
});
