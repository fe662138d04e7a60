import { describe, expect, test } from 'vitest';
import { namesOf, refuseUnknown, refuseUnless, shown } from './argument.ts';

const known = namesOf<{ tag: string; tagPrefix?: string }>({ tag: 1, tagPrefix: 1 });

describe('the names of an argument', () => {
  test.each<[unknown, string, string]>([
    [{ tags: 'a' }, '', 'A list has no tags; did you mean tag?'],
    [{ tagprefix: 'a' }, 'which.', 'A list has no which.tagprefix; did you mean which.tagPrefix?'],
    [{ colour: 1 }, '', 'A list has no colour; the names are tag, tagPrefix'],
    [null, '', 'A list needs an object (of tag, tagPrefix), not null.'],
    ['a', '', 'A list needs an object (of tag, tagPrefix), not "a".'],
    [['a'], 'which.', 'A list needs an object as which (of tag, tagPrefix), not a list.'],
  ])('%j is refused: %s%s', (given, base, sentence) => {
    expect(() => refuseUnknown(given, 'list', known, base)).toThrow(new TypeError(sentence));
  });

  test.each([[{}], [{ tag: 'a' }], [{ tagPrefix: undefined, tag: 7 }]])('%j is taken', (given) => {
    expect(() => refuseUnknown(given, 'list', known)).not.toThrow();
  });
});

test('an argument of another form is refused by its name', () => {
  expect(() => refuseUnless(true, 'fetch', 'a function', 7)).not.toThrow();
  const sentence = 'fetch must be a function, not 7.';
  expect(() => refuseUnless(false, 'fetch', 'a function', 7)).toThrow(new TypeError(sentence));
});

test.each<[string, unknown]>([
  ['"10 s"', '10 s'],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['undefined', undefined],
  ['null', null],
  ['17', 17n],
  ['Symbol(a)', Symbol('a')],
  ['a function', () => 1],
  ['a list', [1]],
  ['an object', new Date(0)],
  [`"${'x'.repeat(100)}"`, 'x'.repeat(1000)],
])('a sentence tells %s', (words, given) => {
  expect(shown(given)).toBe(words);
});
