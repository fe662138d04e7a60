import { expect, test } from 'vitest';
import { RecentTexts } from './recent-texts.ts';

test('a text is found under its number until as many others have come', () => {
  const texts = new RecentTexts(3);
  const first = texts.add('a');
  texts.add('b');
  texts.add('c');
  expect(texts.of(first)).toBe('a');
  texts.add('d');
  expect(texts.of(first)).toBe('');
});

test('the same text again takes no further place', () => {
  const texts = new RecentTexts(4);
  const other = texts.add('other');
  const first = texts.add('same');
  expect(texts.add('same')).toBe(first);
  for (let i = 0; i < 100; i++) texts.add('same');
  expect(texts.of(other)).toBe('other');
});

test('a text that returns shortly before it is forgotten is kept anew', () => {
  const texts = new RecentTexts(4);
  texts.add('a');
  texts.add('b');
  const again = texts.add('a');
  texts.add('c');
  texts.add('d');
  texts.add('e');
  expect(texts.of(again)).toBe('a');
});

test('no text has no number of its own', () => {
  const texts = new RecentTexts(2);
  expect(texts.of(texts.add(''))).toBe('');
});
