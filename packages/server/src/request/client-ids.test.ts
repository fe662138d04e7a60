import { OpenNumbering } from '@carillon/core';
import { expect, test } from 'vitest';
import { memberOf } from '../testing/quiet-members.ts';
import { View } from '../cluster/view/view.ts';
import { ClientIds } from './client-ids.ts';

const view = new View({ source: 'test', revision: 1, members: [memberOf('a')] });
const ids = new ClientIds(new OpenNumbering(), () => view);

test.each([
  { ms: 0, handle: 0, rank: 0 },
  { ms: 8.64e15, handle: 2 ** 26 - 1, rank: 3 },
])('the cursor of a place in a list by due time leads to that place: %j', (place) => {
  expect(ids.readPlace('shop', ids.place('shop', place))).toEqual(place);
});

test.each([
  ['a time that no date has', { ms: 8.64e15 + 1, handle: 1, rank: 0 }],
  ['a handle that no store gives out', { ms: 1, handle: 2 ** 26, rank: 0 }],
])('a cursor that leads to %s is refused', (_, place) => {
  const cursor = ids.place('shop', place);
  expect(() => ids.readPlace('shop', cursor)).toThrow('The parameter cursor must be one');
});
