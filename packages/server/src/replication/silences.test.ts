import { expect, test } from 'vitest';
import { Silences } from './silences.ts';

test('a silence is told of until it ended too long ago; a short one is none', () => {
  const silences = new Silences();
  silences.ended('b', 1000, 5000);
  silences.ended('c', 5000, 5900);
  silences.ended('d', 6000, 8000);
  expect(silences.namesSince(0)).toEqual(['b', 'd']);
  expect(silences.namesSince(5001)).toEqual(['d']);
  silences.ended('b', 9000, 12_000);
  expect(silences.namesSince(5001)).toEqual(['d', 'b']);
});

test('silences that ended long ago are forgotten', () => {
  const silences = new Silences();
  for (let i = 0; i < 100; i++) silences.ended(`m${i}`, i * 60_000, i * 60_000 + 2000);
  expect(silences.namesSince(0).length).toBeLessThan(15);
});
