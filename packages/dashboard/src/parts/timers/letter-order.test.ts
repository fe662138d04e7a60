import { expect, test } from 'vitest';
import { listNote, newestFirst } from './letter-order.ts';

const letter = (id: string, due: string, sequence: number) => ({ id, due, sequence });

test('letters of a page stand by due time, then by pop, then by id, the newest first', () => {
  const letters = [
    letter('b', '2026-11-18T14:35:06.000Z', 6),
    letter('c', '2026-11-18T14:35:56.000Z', 16),
    letter('d', '2026-11-18T14:35:06.000Z', 7),
    letter('a', '2026-11-18T14:35:06.000Z', 6),
    letter('e', '2026-11-18T14:34:46.000Z', 2),
  ];
  expect(newestFirst(letters).map(({ id }) => id)).toEqual(['c', 'd', 'a', 'b', 'e']);
});

test('the order is told: of all letters where one page has them, of each page otherwise', () => {
  expect(listNote(17, true)).toBe('17 letters, the newest first');
  expect(listNote(419, false)).toBe(
    '419 letters, the newest of each page first; pages follow the ids',
  );
  expect([listNote(0, true), listNote(null, true)]).toEqual(['', '']);
});
