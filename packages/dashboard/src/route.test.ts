import { expect, test } from 'vitest';
import { parseRoute } from './route.ts';

test('addresses name a view, a part of it and a query; broken ones do not throw', () => {
  expect(parseRoute('')).toMatchObject({ view: 'overview', part: '' });
  expect(parseRoute('#/topology/n%200')).toMatchObject({ view: 'topology', part: 'n 0' });
  expect(parseRoute('#/timers?tag=a%26b').query.get('tag')).toBe('a&b');
  expect(parseRoute('#/timers/%E0%A4%A')).toMatchObject({ part: '%E0%A4%A' });
});
