import { expect, it } from 'vitest';
import { defaultConfig } from './config.ts';
import { Wrong } from './options/kinds.ts';
import { quotaFor, type Quotas, quotasKind } from './quota.ts';
import { QuotaTable } from '../quotas/quota-table.ts';

const { limits } = defaultConfig;

it('a namespace that the configuration does not name has a default that leaves room for others', () => {
  expect(quotaFor({}, 'a', limits)).toEqual({
    timerCountMax: limits.pendingTimerCountMax * 0.8,
    bytesMax: 2 * 1024 ** 3,
    letterCountMax: limits.deadLetterCountMax / 2,
    letterAgeMsMax: null,
    letterKeptCountMax: null,
    ratePerSecond: null,
    callbackShare: 1,
    strict: false,
    keepAnswers: true,
    events: null,
    historyBytesMax: null,
  });
});

it('the quota of a namespace goes before the quota of all, and that before the default', () => {
  const quotas = { '*': { timerCountMax: 10, callbackShare: 2 }, a: { timerCountMax: 5 } };
  expect(quotaFor(quotas, 'a', limits)).toMatchObject({ timerCountMax: 5, callbackShare: 2 });
  expect(quotaFor(quotas, 'b', limits)).toMatchObject({
    timerCountMax: 10,
    letterCountMax: 50_000,
  });
});

it('an object in a file and JSON in a flag say the same', () => {
  const given = { billing: { bytesMax: '1MiB', ratePerSecond: 100 } };
  const read = { billing: { bytesMax: 1024 ** 2, ratePerSecond: 100 } };
  expect(quotasKind(given)).toEqual(read);
  expect(quotasKind(JSON.stringify(given))).toEqual(read);
});

it.each([
  ['a list', [], /object of namespaces/],
  ['no JSON', '{', /object of namespaces/],
  ['a name that no namespace can have', { 'A B': {} }, /each name is/],
  ['the name of a prototype', JSON.parse('{"__proto__": {}}'), /each name is/],
  ['a quota that is none', { a: 1 }, /"a" is an object of timerCountMax/],
  ['a member that is not known', { a: { timers: 1 } }, /timers is none of them/],
  ['a share of nothing', { a: { callbackShare: 0 } }, /callbackShare is a whole number from 1/],
  ['events without a uri', { a: { events: {} } }, /with a uri at least/],
  ['events to nowhere', { a: { events: { uri: 'x' } } }, /uri is an absolute http or https URI/],
  [
    'a kind of event that there is not',
    { a: { events: { uri: 'http://a.test/', kinds: ['lunch'] } } },
    /kinds is a list in which each item is one of dead-letter/,
  ],
  [
    'a form of events that there is not',
    { a: { events: { uri: 'http://a.test/', form: 'xml' } } },
    /form is one of plain, cloudevents/,
  ],
  [
    'a member of events that there is not',
    { a: { events: { uri: 'http://a.test/', to: 1 } } },
    /to is none of them/,
  ],
  [
    'letters of no age',
    { a: { letterAgeMsMax: 0 } },
    /letterAgeMsMax is a whole number from 60000/,
  ],
  ['fewer than none', { a: { timerCountMax: -1 } }, /timerCountMax is a whole number/],
])('%s is refused with the right form', (_, given, expected) => {
  const read = quotasKind(given);
  expect(read).toBeInstanceOf(Wrong);
  expect((read as Wrong).expected).toMatch(expected);
});

it('changed quotas are in force at once', () => {
  const table = new QuotaTable(defaultConfig);
  expect(table.of('a').callbackShare).toBe(1);
  table.use({ a: { callbackShare: 7 } });
  expect(table.of('a').callbackShare).toBe(7);
});

it('a namespace is told of its own events, and of the cluster where it names them', () => {
  const uri = 'http://a.test/';
  const kinds = (given: object) => {
    const read = quotasKind({ a: { events: { uri, ...given } } }) as Quotas;
    return read['a']?.events?.kinds;
  };
  expect(kinds({})).toContain('dead-letter');
  expect(kinds({})).not.toContain('disk-nearly-full');
  expect(kinds({ kinds: ['disk-nearly-full'] })).toEqual(['disk-nearly-full']);
  expect(kinds({ kinds: ['all'] })).toHaveLength(8);
});
