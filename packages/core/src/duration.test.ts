import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

describe('parseDuration', () => {
  test.each([
    ['250ms', 250],
    ['10s', 10_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1h30m', 5_400_000],
    ['.5s', 500],
    ['0s', 0],
    [' 3s ', 3000],
    ['1.0004s', 1000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    '',
    '10',
    's',
    '10 s',
    '-1s',
    '1e3s',
    '10sec',
    '1,5s',
    '10s!',
    '١s',
    'Infinitys',
    '1..5s',
  ])('"%s" is no duration', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  test('any text gives null or a whole number that is not negative', () => {
    const likely = fc.stringMatching(/^[0-9.smhd ]{0,80}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string(), likely), (text) => {
        const ms = parseDuration(text);
        expect(ms === null || (Number.isFinite(ms) && Number.isInteger(ms) && ms >= 0)).toBe(true);
      }),
    );
  });
});

describe('formatDuration', () => {
  test.each([
    [0, '0ms'],
    [0.04, '0ms'],
    [1.26, '1.3ms'],
    [999, '999ms'],
    [999.9, '1s'],
    [1500, '1.5s'],
    [59_990, '1m'],
    [90_000, '1.5m'],
    [7_200_000, '2h'],
    [86_400_000 * 400, '400d'],
    [-1500, '-1.5s'],
  ])('%d ms reads %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test('a written duration can be read again, to within the digit it shows', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 11 }), (ms) => {
        const back = parseDuration(formatDuration(ms));
        expect(Math.abs((back ?? Number.NaN) - ms)).toBeLessThanOrEqual(ms * 0.051 + 1);
      }),
    );
  });
});
