import { expect, test } from 'vitest';
import { nearestWord } from './nearest-word.ts';

const words = ['serve', 'list', 'defaultFactor', 'data'];

test.each([
  ['srve', 1, 'serve'],
  ['lsit', 1, 'list'],
  ['LIST', 1, 'list'],
  ['listed', 1, null],
  ['listed', 2, 'list'],
  ['defaultFaktor', 2, 'defaultFactor'],
  ['date', 1, 'data'],
  ['xyz', 1, null],
  ['', 1, null],
])('%j with %i slips: %j', (given, slipsMax, meant) => {
  expect(nearestWord(given, words, slipsMax)).toBe(meant);
});

test('of two known words the nearer one is meant', () => {
  expect(nearestWord('lists', ['lost', 'list'], 3)).toBe('list');
});
