import { expect, test } from 'vitest';
import { instant } from '../../format.ts';
import { endWords } from './end-words.ts';

const at = '2026-11-17T09:00:00.500Z';

test.each([
  [{ ended: 'cancelled' }, /^It was cancelled at .*\.$/],
  [{ ended: 'delivered' }, /^Its last pop was delivered at .*\.$/],
  [{ ended: 'given-up', 'dead-letter': 'bb-2' }, /^Its last pop was given up at [\d: -]*\.$/],
  [{ ended: 'given-up' }, /given up at .*\. Its dead letter was sent again or dropped since\.$/],
] as const)('%j is told in words, with the time of its end', (end, words) => {
  const text = endWords({ ...end, 'ended-at': at });
  expect(text).toMatch(words);
  expect(text).toContain(instant(at));
});

test('an end that members do not remember has no words', () => {
  expect([endWords(undefined), endWords({})]).toEqual(['', '']);
});
