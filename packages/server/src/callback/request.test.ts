import { expect, it } from 'vitest';
import { definitionOf, recordOf } from '../testing/records.ts';
import { DueTexts } from './request.ts';

const at = { nowMs: 10_000, wallMs: 1_700_000_010_000 };
const origin = {
  id: '0000001900000001-1',
  versionMs: 5,
  versionTie: 6,
  sequence: 7,
  dueMs: 86_400_000,
  missed: 2,
  attempts: 3,
  reason: 'gone',
  gaveUpMs: 9,
};

it('due times are told on the wall clock, one after the other, and that of a letter is that of its pop', () => {
  const texts = new DueTexts();
  const first = recordOf({ dueMs: 9000 });
  const second = recordOf({ dueMs: 9500 });
  const letter = definitionOf({ origin });
  const told = [first, first, second, first].map((record) => texts.of(record, definitionOf(), at));
  expect(told).toEqual([
    '2023-11-14T22:13:29.000Z',
    '2023-11-14T22:13:29.000Z',
    '2023-11-14T22:13:29.500Z',
    '2023-11-14T22:13:29.000Z',
  ]);
  expect(texts.of(first, letter, at)).toBe('1970-01-02T00:00:00.000Z');
});
