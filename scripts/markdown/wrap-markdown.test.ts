import { expect, test } from 'vitest';
import { lineLengthMax, wrapMarkdown } from './wrap-markdown.ts';

const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');

test('lines are as long as fits, and no word is lost', () => {
  const lines = wrapMarkdown(words(100)).split('\n');
  expect(lines.map((line) => line.length)).toEqual([119, 119, 119, 119, 19]);
  expect(lines.join(' ')).toBe(words(100));
});

test('a code span is never broken', () => {
  const span = '`GET /timers with blanks`';
  expect(wrapMarkdown(`${words(23)} ${span}, and more`).split('\n')[1]).toBe(`${span}, and more`);
});

test.each(['-', '1.', '#', '>', '|a'])(
  'no line begins with %s, which would begin a block',
  (mark) => {
    const text = `${words(24)} ${mark} ${words(3)}`;
    for (const line of wrapMarkdown(text).split('\n')) {
      expect(line).toMatch(/^word/);
      expect(line.length).toBeLessThanOrEqual(lineLengthMax);
    }
  },
);

test('a word that is longer than a line stays whole', () => {
  const long = 'x'.repeat(lineLengthMax + 1);
  expect(wrapMarkdown(`a ${long} b`)).toBe(`a\n${long}\nb`);
});
