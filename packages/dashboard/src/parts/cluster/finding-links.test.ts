import { expect, test } from 'vitest';
import { linksOf } from './finding-links.ts';

const finding = { id: 'x', weight: 'look', member: null, says: 'So.', do: 'Do.' };

test.each([
  [
    { receiver: 'http://a:1' },
    ['#/timers?search=http%3A%2F%2Fa%3A1', '#/dead-letters?receiver=http%3A%2F%2Fa%3A1'],
  ],
  [{ id: 'dead-letters' }, ['#/dead-letters']],
  [{ id: 'clock-off', member: 'fra 1' }, ['#/topology/fra%201']],
  [{ id: 'views-differ' }, []],
])('a finding with %j leads to %j', (part, to) => {
  expect(linksOf({ ...finding, ...part }).map((link) => link.to)).toEqual(to);
});
