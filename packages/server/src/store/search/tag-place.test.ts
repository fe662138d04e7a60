import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { tagPlace, tagSpans } from './tag-place.ts';

const encoder = new TextEncoder();

function placeOf(tag: string): number {
  const bytes = encoder.encode(tag);
  return tagPlace(bytes, 0, bytes.length);
}

function isBetween(place: number, beginning: string): boolean {
  return tagSpans(encoder.encode(beginning)).some(({ from, to }) => place >= from && place <= to);
}

const letters = fc.array(fc.constantFrom('a', 'o', '1', '2', '9', '0', ':', '-', '_', ' ', 'é'), {
  maxLength: 12,
});

test('a tag is in a span of each of its beginnings', () => {
  fc.assert(
    fc.property(letters, fc.nat({ max: 12 }), (text, length) => {
      const place = placeOf(text.join(''));
      expect(place).toBeLessThan(2 ** 38);
      expect(isBetween(place, text.slice(0, length).join(''))).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('spans of one text have no number in common', () => {
  fc.assert(
    fc.property(letters, (text) => {
      const [one, other] = tagSpans(encoder.encode(text.join('')));
      expect(one?.to).toBeLessThan(other?.from ?? Number.POSITIVE_INFINITY);
      expect(one?.from).toBeLessThanOrEqual(one?.to ?? -1);
    }),
  );
});

test.each([
  ['order:', 'invoice:7'],
  ['ord', 'invoice:7'],
  ['o', 'invoice:7'],
  ['order:12', 'order:13'],
  ['order:1', 'order:2'],
  ['user12', 'user13'],
  ['user1', 'user:1'],
  ['urgentl', 'urgent'],
  ['2026-11', '2026-12'],
])('tags that begin with %s are found without a look at %s', (beginning, tag) => {
  expect(isBetween(placeOf(tag), beginning)).toBe(false);
});
