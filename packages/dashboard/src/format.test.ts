import { expect, test } from 'vitest';
import {
  countdown,
  counted,
  milliseconds,
  percent,
  signed,
  span,
  timingText,
  withoutStop,
} from './format.ts';

test.each([
  [0, '0 ms'],
  [0.44, '0.4 ms'],
  [12.3, '12 ms'],
  [999, '999 ms'],
  [1250, '1.25 s'],
  [10_000, '10 s'],
  [61_500, '61.5 s'],
  [180_000, '3 min'],
])('%d ms reads %s', (ms, text) => {
  expect(milliseconds(ms)).toBe(text);
});

test.each([
  [0.5, '0.5 s'],
  [59, '59 s'],
  [60, '1 min'],
  [3605, '1 h'],
  [7500, '2 h 5 min'],
  [90_061, '1 d 1 h'],
])('%d seconds read %s', (seconds, text) => {
  expect(span(seconds)).toBe(text);
});

test('a countdown runs down to now, and tells an attempt that waits', () => {
  expect(countdown(10_400, 10_000)).toBe('in 0.4 s');
  expect(countdown(130_000, 10_000)).toBe('in 2 min');
  expect(countdown(10_000, 10_000)).toBe('now');
  expect(countdown(5000, 10_000)).toBe('now');
  expect(countdown(10_000, 34_000)).toBe('24 s late');
});

test('small shares keep a digit, one is not several', () => {
  expect(percent(0)).toBe('0 %');
  expect(percent(0.004)).toBe('0.4 %');
  expect(percent(0.334)).toBe('33 %');
  expect(counted(1, 'timer')).toBe('1 timer');
  expect(counted(1200, 'timer')).toBe('1,200 timers');
});

test('clock offsets carry their sign', () => {
  expect(signed(0.01)).toBe('0 ms');
  expect(signed(3)).toBe('+3 ms');
  expect(signed(-1500)).toBe('−1.5 s');
});

test.each([
  [{ interval: 30 }, 'once, after 30 s'],
  [{ interval: 30, 'repeat-for': 45 }, 'once, after 30 s'],
  [{ interval: 30, 'repeat-for': 300 }, 'every 30 s, for 5 min'],
  [{ interval: 60, count: 3 }, 'every 1 min, 3 pops'],
  [
    { cron: '0 9 * * *', timezone: 'Europe/Berlin', forever: true },
    'cron 0 9 * * *, Europe/Berlin, for ever',
  ],
])('%j reads "%s"', (timing, text) => {
  expect(timingText(timing)).toBe(text);
});

test.each([
  ['No connection came about (ECONNREFUSED).', 'No connection came about (ECONNREFUSED)'],
  ['database is down', 'database is down'],
  ['wait...', 'wait...'],
  ['closed. \n', 'closed'],
  ['', ''],
])('%j within another sentence reads %j', (sentence, text) => {
  expect(withoutStop(sentence)).toBe(text);
});
