import { expect, test } from 'vitest';
import { facts, fromNow, oneLine, paint, shorten, table, untilDue } from './style.ts';
import { recordingIo } from '../testing/world.ts';

test('colour only where it is wanted', () => {
  expect(paint(recordingIo({}, false), 'red', 'x')).toBe('x');
  expect(paint(recordingIo({}, true), 'red', 'x')).toBe('\u001b[31mx\u001b[0m');
});

test('columns of a table are as wide as their widest cell, without blanks at the end', () => {
  const text = table(
    recordingIo(),
    ['A', 'LONG'],
    [
      ['wide cell', 'x'],
      ['y', ''],
    ],
  );
  expect(text).toBe('A          LONG\nwide cell  x\ny');
});

test('nothing from outside can break a line or move the cursor', () => {
  expect(oneLine('a\nb\u001b[2Jc\u2028d\u0085')).toBe('a·b·[2Jc·d·');
  expect(facts(recordingIo(), [['k', 'a\nb']])).toBe('k  a·b');
});

test('long texts are cut, short ones kept', () => {
  expect(shorten('12345', 5)).toBe('12345');
  expect(shorten('123456', 5)).toBe('1234…');
});

test('times are told from now', () => {
  expect(fromNow(new Date(2500), 1000)).toBe('in 1.5s');
  expect(fromNow(new Date(1000), 61_000)).toBe('1m ago');
  expect(fromNow(null, 0)).toBe('-');
  expect(untilDue(new Date(2500), 1000)).toBe('in 1.5s');
  expect(untilDue(new Date(1000), 61_000)).toBe('1m late');
});
