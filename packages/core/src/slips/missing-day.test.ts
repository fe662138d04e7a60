import { expect, test } from 'vitest';
import { missingDay } from './missing-day.ts';

test.each([
  ['2027-02-30T00:00:00Z', '2027-02-30'],
  ['2027-02-29T00:00:00Z', '2027-02-29'],
  ['2028-02-29T00:00:00Z', null],
  ['2100-02-29', '2100-02-29'],
  ['2000-02-29', null],
  ['2027-04-31T12:00:00+02:00', '2027-04-31'],
  ['2027-12-31T12:00:00Z', null],
  ['2027-13-01T12:00:00Z', '2027-13-01'],
  ['2027-00-10T12:00:00Z', '2027-00-10'],
  ['2027-01-00T12:00:00Z', '2027-01-00'],
  ['tomorrow', null],
])('the day of %s that is missing: %s', (text, day) => {
  expect(missingDay(text)).toBe(day);
});
