import { expect, test } from 'vitest';
import { sameDefinition } from './api-timer.ts';

const http = { uri: 'http://r/', opaque: 'o', method: 'POST' };
const base = {
  timing: { interval: 5, until: '2030-01-01T00:00:00.000Z' },
  callback: { http, retry: { limit: 60, base: 1, 'max-wait': 300 } },
  reliability: { 'replication-factor': 2 },
  tags: ['a', 'b'],
};

test.each<[string, object]>([
  ['what it is', base],
  ['tags in another order', { ...base, tags: ['b', 'a'] }],
  [
    'an instant in another zone',
    { ...base, timing: { interval: 5, until: '2030-01-01T01:00:00+01:00' } },
  ],
  ['part of a retry policy', { ...base, callback: { http, retry: { limit: 60 } } }],
  ['forever: false', { ...base, timing: { ...base.timing, forever: false } }],
  [
    'POST left out',
    { ...base, callback: { ...base.callback, http: { uri: http.uri, opaque: 'o' } } },
  ],
])('setting %s changes nothing', (_, wanted) => {
  expect(sameDefinition(base, wanted as typeof base)).toBe(true);
});

test.each<[string, object]>([
  ['interval', { ...base, timing: { ...base.timing, interval: 6 } }],
  ['ending', { ...base, timing: { interval: 5, until: '2030-01-01T00:00:01Z' } }],
  ['uri', { ...base, callback: { ...base.callback, http: { ...http, uri: 'http://s/' } } }],
  ['method', { ...base, callback: { ...base.callback, http: { ...http, method: 'PUT' } } }],
  ['opaque', { ...base, callback: { ...base.callback, http: { ...http, opaque: '' } } }],
  ['header', { ...base, callback: { ...base.callback, http: { ...http, headers: { a: 'b' } } } }],
  ['timeout', { ...base, callback: { ...base.callback, http: { ...http, timeout: 2 } } }],
  ['retry limit', { ...base, callback: { http, retry: { limit: 61 } } }],
  ['absence of a retry policy', { ...base, callback: { http } }],
  ['factor', { ...base, reliability: { 'replication-factor': 3 } }],
  ['tag', { ...base, tags: ['a'] }],
  ['statistics', { ...base, statistics: { 'tag-info': [{ type: 'CALL', count: 1 }] } }],
])('another %s is another definition', (_, wanted) => {
  expect(sameDefinition(base, wanted as typeof base)).toBe(false);
});
