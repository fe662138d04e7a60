import { expect, test } from 'vitest';
import { timerIdFault } from './id-fault.ts';

const number = '00000000000004d2';

test.each([
  ['4d2', 'it has 3 characters'],
  ['4d2-2', 'it has 3 characters before the dash'],
  ['', 'it has 0 characters'],
  [`${number}-17`, 'the part behind the dash is no such factor'],
  [`${number}-`, 'the part behind the dash is no such factor'],
  [number.toUpperCase(), 'it has capital letters'],
  [`${number.toUpperCase()}-2`, 'it has capital letters'],
  [number.replace('4', 'g'), 'it has other characters than hex digits'],
])('the fault of the id "%s": %s', (text, fault) => {
  expect(timerIdFault(text)).toBe(
    `This is not the id of a timer: ${fault}. An id is 16 or 32 of 0-9 and a-f, then perhaps a dash and a factor ` +
      'from 1 to 16: 00000000000004d2-2.',
  );
});

test.each([number, number + number, `${number}-16`])('the id %s has no fault', (text) => {
  expect(timerIdFault(text)).toBeNull();
});
