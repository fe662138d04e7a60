import { expect, test } from 'vitest';
import { ToldLines } from './told-lines.ts';

test('a line is news once a minute', () => {
  const told = new ToldLines();
  expect(told.isNews('http://a', 0)).toBe(true);
  expect(told.isNews('http://a', 59_999)).toBe(false);
  expect(told.isNews('http://b', 59_999)).toBe(true);
  expect(told.isNews('http://a', 60_000)).toBe(true);
});

test('many receivers do not take more and more memory', () => {
  const told = new ToldLines();
  for (let i = 0; i < 1001; i++) told.isNews(`http://${i}`, 0);
  expect(told.isNews('http://0', 1)).toBe(true);
  expect(told.isNews('http://1000', 1)).toBe(false);
});
