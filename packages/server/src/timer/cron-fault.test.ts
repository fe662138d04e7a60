import { expect, test } from 'vitest';
import { cronFieldFault } from './cron-fault.ts';

test.each([
  ['0 0 0 * *', '"0" as its day of the month; allowed are 1-31, L for'],
  ['0 0 1 13 *', '"13" as its month; allowed are 1-12, JAN-DEC'],
  ['0 0 1 0 *', '"0" as its month;'],
  ['0 0 32W * *', '"32W" as its day of the month;'],
  ['0 0 L-3 * *', '"L-3" as its day of the month;'],
  ['-1 * * * *', '"-1" as its minute; allowed are 0-59'],
  ['60 * * * * *', '"60" as its second; allowed are 0-59'],
  ['5,60,7 * * * *', '"60" as its minute;'],
  ['1,,2 * * * *', '"1,,2" as its minute;'],
  ['5-1 * * * *', 'ranges upwards (1-5) and steps (*/5).'],
  ['* 24 * * *', '"24" as its hour; allowed are 0-23'],
  ['0 0 * * MON-FRY', '"MON-FRY" as its day of the week; allowed are 0-7, SUN-SAT'],
  ['0 0 * * 1#6', '"1#6" as its day of the week;'],
])('the fault of %s is told in the numbers of its field: %s', (pattern, part) => {
  expect(cronFieldFault(pattern.split(' '))).toContain(part);
});

test.each(['* * * * *', '0 0 1,15W * *', '0 0 29 2 +1#5', '1-5/2 0 0 L JAN-DEC 5L', '0 0 * * 0-7'])(
  '%s has no field at fault',
  (pattern) => {
    expect(cronFieldFault(pattern.split(' '))).toBeNull();
  },
);
