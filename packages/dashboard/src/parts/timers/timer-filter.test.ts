import { expect, test } from 'vitest';
import {
  addressOf,
  filterOf,
  instantOf,
  isFiltered,
  localOf,
  noFilter,
  parametersOf,
} from './timer-filter.ts';

test('a filter comes back from its address', () => {
  const filter = {
    search: 'a&b=ü *',
    state: 'retrying',
    order: 'any',
    from: '2030-01-31T09:00:00.000Z',
    to: '2030-02-01T09:00:00.000Z',
  };
  const [, query = ''] = addressOf(filter, 'c1,c2').split('?');
  expect(filterOf(new URLSearchParams(query))).toEqual(filter);
  expect(new URLSearchParams(query).get('at')).toBe('c1,c2');
  expect(addressOf(noFilter)).toBe('#/timers');
  expect([isFiltered(filter), isFiltered({ ...noFilter, order: 'any' })]).toEqual([true, false]);
});

test('a link that names a tag shows the timers with it', () => {
  expect(filterOf(new URLSearchParams('tag=ticks'))).toEqual({ ...noFilter, search: 'ticks' });
});

test.each([
  ['', 'order=due'],
  ['ticks', 'tag=ticks&order=due'],
  ['order:*', 'tag-prefix=order%3A&order=due'],
  ['*', 'tag=*&order=due'],
  ['http://a.example:8080/x', 'receiver=http%3A%2F%2Fa.example%3A8080%2Fx&order=due'],
])('%j is asked as %s', (search, parameters) => {
  expect(parametersOf({ ...noFilter, search }).toString()).toBe(parameters);
});

test('state, range and no order reach the API', () => {
  const filter = { search: '', state: 'failing', order: 'any', from: 'F', to: 'T' };
  expect(parametersOf(filter).toString()).toBe('state=failing&from=F&to=T');
});

test('local times and instants are each other turned round', () => {
  const instant = '2030-07-31T09:05:00.000Z';
  expect(instantOf(localOf(instant))).toBe(instant);
  expect([localOf(''), instantOf('')]).toEqual(['', '']);
});
