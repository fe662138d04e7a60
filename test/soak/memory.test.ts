import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { growthOf, type Reading, slopeOf } from './memory.ts';

const mib = 2 ** 20;

/** One reading a second; `at` in MiB. */
function readings(seconds: number, at: (second: number) => number): Reading[] {
  return Array.from({ length: seconds }, (_, second) => ({ second, bytes: at(second) * mib }));
}

/** The swing of a garbage collector on a level line: up by 60 MiB, down at once, each 7 seconds. */
const swing = (second: number): number => 60 * ((second % 7) / 7);

describe('memory', () => {
  test('that swings and stays is level', () => {
    expect(growthOf(readings(1800, (s) => 150 + swing(s))).verdict).toBe('level');
  });

  test('that leaks 2 MiB a minute under the swings is growing, and the rate is told', () => {
    const growth = growthOf(readings(1800, (s) => 150 + swing(s) + s / 30));
    expect(growth.verdict).toBe('growing');
    expect(growth.bytesPerHour / mib).toBeCloseTo(120, 0);
  });

  test('that fills up to a bound is level, however much it is', () => {
    const filled = readings(1800, (s) => 150 + 400 * (1 - Math.exp(-s / 400)));
    expect(growthOf(filled).grownBytes).toBeGreaterThan(64 * mib);
    expect(growthOf(filled).verdict).toBe('level');
  });

  test('is judged after the warm-up only', () => {
    expect(growthOf(readings(600, (s) => 100 + Math.min(s, 60) * 5)).verdict).toBe('level');
  });

  test('of a short soak may rise by garbage that the collector has left, and not by more', () => {
    expect(growthOf(readings(200, (s) => 150 + s / 3)).verdict).toBe('level');
    expect(growthOf(readings(200, (s) => 150 + s)).verdict).toBe('growing');
  });

  test('of a process that lived for a minute or two cannot be judged', () => {
    expect(growthOf(readings(110, (s) => 10 * s)).verdict).toBe('too short to tell');
    expect(growthOf([]).verdict).toBe('too short to tell');
  });

  test('one burst does not make a slope', () => {
    const burst = readings(1800, (s) => 150 + (s > 1700 ? 300 : 0));
    expect(growthOf(burst).verdict).toBe('level');
  });

  test('the slope of a straight line is its slope, in any order of magnitude', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e6, max: 1e6 }),
        fc.integer({ min: 2, max: 40 }),
        (k, count) => {
          const line = Array.from({ length: count }, (_, second) => ({
            second,
            bytes: 5 + k * second,
          }));
          expect(slopeOf(line)).toBeCloseTo(k, 6);
        },
      ),
    );
  });
});
