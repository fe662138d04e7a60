import { expect, test } from 'vitest';
import { parseRoute } from './route.ts';
import { titleOf } from './titles.ts';

test.each([
  ['', 'Overview · n0 · Carillon'],
  ['#/timers?tag=x', 'Timers · n0 · Carillon'],
  ['#/timers/new', 'Set a timer · n0 · Carillon'],
  [
    '#/timers/edit?id=0d1e1d1ab81140010000204080102040-2',
    'Edit timer 0d1e1d1ab8114001 · n0 · Carillon',
  ],
  ['#/timers/0d1e1d1ab81140010000204080102040-2', 'Timer 0d1e1d1ab8114001 · n0 · Carillon'],
  [
    '#/dead-letters/0d1e1d1ab81140010000204080102040-2',
    'Dead letter 0d1e1d1ab8114001 · n0 · Carillon',
  ],
  ['#/topology/fra-1', 'Member fra-1 · n0 · Carillon'],
  ['#/some-day', 'Some day · n0 · Carillon'],
])('%s has the title %s', (hash, title) => {
  expect(titleOf(parseRoute(hash), 'n0')).toBe(title);
});

test('before a member is heard its name is left out', () => {
  expect(titleOf(parseRoute('#/locks'), null)).toBe('Locks · Carillon');
});
