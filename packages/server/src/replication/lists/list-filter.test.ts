import { encodeDefinition, State } from '@carillon/core';
import { describe, expect, test } from 'vitest';
import { anything, definitionOf, recordOf } from '../../testing/records.ts';
import { leadsTo, matches } from './list-filter.ts';

describe('a receiver', () => {
  test.each([
    ['http://a:80', 'http://a:80/x', true],
    ['http://a:80', 'http://a:80', true],
    ['http://a:80', 'http://a:8080/x', false],
    ['http://a', 'http://a.evil/', false],
    ['http://a/orders', 'http://a/orders?id=1', true],
    ['http://a/orders', 'http://a/orders-old', false],
    ['http://a/', 'http://a/orders', true],
    ['', 'http://a/', true],
  ])('%s is called by %s: %s', (receiver, uri, expected) => {
    expect(leadsTo(uri, receiver)).toBe(expected);
  });

  test('is one of the timer, not of its tags', () => {
    const body = encodeDefinition(definitionOf({ uri: 'http://a/x', tags: ['http://b'] }));
    const record = recordOf({ body });
    expect(matches(record, { ...anything, receiver: 'http://a' })).toBe(true);
    expect(matches(record, { ...anything, receiver: 'http://b' })).toBe(false);
  });
});

test.each([
  [503, '5xx', true],
  [503, '503', true],
  [503, '500', false],
  [1, 'refused', true],
  [200, '5xx', false],
  [0, '5xx', false],
])('the outcome %d is the failure %s: %s', (outcome, failure, expected) => {
  expect(matches(recordOf({ outcome }), { ...anything, failure })).toBe(expected);
});

test('dead letters are shown where they are asked for, and tombstones never', () => {
  const dead = recordOf({ state: State.dead });
  expect(matches(dead, anything)).toBe(false);
  expect(matches(dead, { ...anything, state: 'dead' })).toBe(true);
  const ended = recordOf({ state: State.tombstone, body: new Uint8Array(0) });
  expect(matches(ended, anything)).toBe(false);
});
