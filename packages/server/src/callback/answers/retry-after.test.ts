import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from './retry-after.ts';

const wallMs = Date.UTC(2026, 0, 1, 12, 0, 0);

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 5 ', 5000],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
  ])('%s waits %d ms', (value, expected) => expect(parseRetryAfter(value, wallMs)).toBe(expected));

  it.each([
    undefined,
    '',
    'soon',
    '-5',
    '1.5',
    '1e3',
    '9999999999999',
    '2026-01-01',
    'Thu, 99 Foo 2026 12:00:30 GMT',
    'Thu, 01 Jan 2026 12:00:30 +0100',
  ])('%s means nothing', (value) => {
    expect(parseRetryAfter(value, wallMs)).toBeNull();
  });
});
