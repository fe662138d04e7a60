import { expect, it } from 'vitest';
import {
  attributesText,
  attributeText,
  integerAttribute,
  KnownTexts,
  stringAttribute,
} from './attribute-text.ts';

const awkward = 'a "quoted" \\ line\n\u0001 and é \ud83d\ude00';

it('attributes are JSON, separated by commas', () => {
  const text = attributesText([
    ['a', awkward],
    ['b', 7],
    ['c', 0.5],
  ]);
  expect(JSON.parse(`[${text}]`)).toEqual([
    { key: 'a', value: { stringValue: awkward } },
    { key: 'b', value: { intValue: '7' } },
    { key: 'c', value: { doubleValue: 0.5 } },
  ]);
  expect(attributesText([])).toBe('');
});

it('an attribute whose name is put in once is the same text', () => {
  expect(stringAttribute('a')(awkward)).toBe(attributeText('a', awkward));
  expect(integerAttribute('b')(7)).toBe(attributeText('b', 7));
});

it('known texts are written once, and forgotten where there are too many', () => {
  const written: string[] = [];
  const texts = new KnownTexts((value) => {
    written.push(value);
    return `<${value}>`;
  });
  const all = Array.from({ length: 256 }, (_, i) => `${i}`);
  for (let round = 0; round < 3; round++)
    expect(all.map((value) => texts.of(value))).toEqual(all.map((value) => `<${value}>`));
  expect(written).toEqual(all);
  expect([texts.of('more'), texts.of('0')]).toEqual(['<more>', '<0>']);
  expect(written.slice(256)).toEqual(['more', '0']);
});
