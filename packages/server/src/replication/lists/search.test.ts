import { encodeDefinition, State, type TimerRecord } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Usage } from '../../quotas/usage.ts';
import { SearchIndex } from '../../store/search/search-index.ts';
import { Store } from '../../store/store.ts';
import { anything, definitionOf, recordOf } from '../../testing/records.ts';
import type { Peers } from '../peers.ts';
import { BackupCounts } from '../backup-counts.ts';
import type { Replica } from '../replica.ts';
import { ScanTurns } from '../scan-turns.ts';
import type { Answer } from '../wire/answer.ts';
import type { Message } from '../wire/message.ts';
import type { RankedPlace, SearchAsk } from '../wire/search.ts';
import { matches } from './list-filter.ts';
import { searchHere } from './search-here.ts';
import { orderStart } from './search-order.ts';
import type { SearchParts } from './search-range.ts';
import { searchEverywhere, type SearchPage } from './search.ts';

const wallMs = 1_700_000_000_000;
const everything: SearchAsk = {
  ask: anything,
  fromMs: Number.NEGATIVE_INFINITY,
  toMs: Number.POSITIVE_INFINITY,
  after: orderStart,
  wantTotal: false,
};

/** Members that ask each other without bytes in between. Each has a monotonic clock of its own. */
function clusterOf(
  names: readonly string[],
  indexes: 'on' | 'off',
  silent: readonly string[] = [],
) {
  const clock = new VirtualClock();
  const members = new Map<string, SearchParts>();
  names.forEach((self, i) => {
    const store = new Store({ searchIndexes: indexes === 'on' });
    store.buildSearch(1);
    const replica = {
      store,
      scans: new ScanTurns(clock),
      usage: new Usage(),
      backups: new BackupCounts(),
      get: (hi: number, lo: number) => store.get(hi, lo),
    } as Replica;
    const peers = {
      silent: (name: string) => silent.includes(name),
      send: (name: string, message: Message, done: (answer: Answer | null) => void) => {
        const other = members.get(name);
        if (other === undefined || silent.includes(name) || message.type !== 'search')
          return done(null);
        void searchHere(other, message.search).then((found) => done({ type: 'found', ...found }));
      },
    } as unknown as Peers;
    members.set(self, { self, clock, replica, peers, distanceMs: () => wallMs - i * 1_000_000 });
  });
  const put = (record: TimerRecord): void => {
    for (const [i, name] of names.entries()) {
      const member = members.get(name);
      if (member === undefined || !record.replicas.includes(name)) continue;
      const byMs = i * 1_000_000;
      const { dueMs, retryMs, triedMs, startMs } = record;
      const own = { dueMs: dueMs + byMs, retryMs: retryMs + byMs, triedMs: triedMs + byMs };
      const shifted = { ...record, ...own, startMs: startMs + byMs };
      member.replica.store.put(shifted);
      member.replica.usage.count(shifted, 1, record.replicas[0] === name);
      member.replica.backups.count(shifted, record.replicas.indexOf(name), 1);
    }
  };
  const given = async <T>(result: Promise<T>): Promise<T> => {
    const results: T[] = [];
    const errors: unknown[] = [];
    result.then(
      (value) => results.push(value),
      (error: unknown) => errors.push(error),
    );
    while (results.length + errors.length === 0) await clock.advance(0);
    return result;
  };
  const search = (self: string, ask: SearchAsk): Promise<SearchPage> =>
    given(searchEverywhere(members.get(self) as SearchParts, ask, names));
  return { put, search };
}

const oneTimer = fc.record({
  dueMs: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 900_000 })),
  holders: fc.constantFrom(['a', 'b'], ['b', 'c'], ['c', 'a'], ['b']),
  tags: fc.array(fc.constantFrom('x:1', 'x:2', 'y'), { maxLength: 2 }),
  uri: fc.constantFrom('http://r:1/', 'http://s/p'),
  attempt: fc.nat({ max: 1 }),
  namespace: fc.constantFrom('default', 'default', 'other'),
});
const question = fc.record({
  tag: fc.constantFrom(null, null, 'y'),
  tagPrefix: fc.constantFrom('', '', 'x:', 'x', 'x:1'),
  receiver: fc.constantFrom('', '', 'http://s'),
  state: fc.constantFrom('', '', 'retrying'),
  fromMs: fc.constantFrom(Number.NEGATIVE_INFINITY, wallMs + 10, wallMs + 100_000),
  toMs: fc.constantFrom(Number.POSITIVE_INFINITY, wallMs + 20, wallMs + 500_000),
  limit: fc.integer({ min: 1, max: 9 }),
});

describe.each(['on', 'off'] as const)('a list by due time, search indexes %s', (indexes) => {
  it('shows each timer once, by due time, page by full page, and counts all of them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(oneTimer, { maxLength: 30 }),
        question,
        async (timers, { fromMs, toMs, ...filter }) => {
          const { put, search } = clusterOf(['a', 'b', 'c'], indexes);
          const records = timers.map(({ holders, tags, uri, dueMs, ...fields }, lo) => {
            const timing = { kind: 'at', atMs: wallMs + dueMs } as const;
            const body = encodeDefinition(definitionOf({ timing, tags, uri }));
            return recordOf({ hi: 9, lo, replicas: holders, body, dueMs, ...fields });
          });
          for (const record of records) put(record);
          const ask = { ...anything, ...filter };
          const expected = records
            .filter((one) => one.namespace === 'default' && matches(one, ask))
            .filter(({ retryMs }) => wallMs + retryMs >= fromMs && wallMs + retryMs < toMs);
          const found: TimerRecord[] = [];
          let after = orderStart;
          for (;;) {
            const asked = { ask, fromMs, toMs, after, wantTotal: true };
            const page = await search('b', asked);
            found.push(...page.records);
            expect(page.total).toEqual({ count: expected.length, exact: true });
            // Only where nothing matches at all.
            if (page.records.length === 0) expect(expected).toHaveLength(0);
            if (page.cursor === null) break;
            expect(page.records).toHaveLength(filter.limit);
            after = page.cursor;
          }
          const times = found.map(({ lo }) => (records[lo] as TimerRecord).retryMs);
          expect(times).toEqual(times.toSorted((a, b) => a - b));
          expect(found.map(({ lo }) => lo).toSorted((a, b) => a - b)).toEqual(
            expected.map(({ lo }) => lo),
          );
        },
      ),
      { numRuns: 25 },
    );
  });

  it('a silent member hides nothing that others hold; the page names it, and the total is not exact', async () => {
    const { put, search } = clusterOf(['a', 'b', 'c'], indexes, ['a']);
    put(recordOf({ lo: 1, replicas: ['a', 'b'] }));
    put(recordOf({ lo: 2, replicas: ['b', 'a'] }));
    const page = await search('b', { ...everything, wantTotal: true });
    expect(page.records.map(({ lo }) => lo)).toEqual([1, 2]);
    expect(page.missing).toEqual(['a']);
    expect(page.total).toEqual({ count: 2, exact: false });
  });

  it('ten timers of many are found by a tag or its beginning, wherever in the order they are', async () => {
    const { put, search } = clusterOf(['a'], indexes);
    for (let lo = 0; lo < 6000; lo++) {
      const tags = lo >= 5990 ? ['late:x'] : ['often'];
      const body = encodeDefinition(definitionOf({ tags }));
      put(recordOf({ hi: 5, lo, dueMs: lo, replicas: ['a'], body }));
    }
    for (const filter of [{ tag: 'late:x' }, { tagPrefix: 'late:' }, { tagPrefix: 'la' }]) {
      const ask = { ...anything, ...filter };
      const page = await search('a', { ...everything, ask, wantTotal: true });
      expect(page.records.map(({ lo }) => lo - 5990)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(page.total).toEqual({ count: 10, exact: true });
    }
  });
});

it('half of all timers with a tag, all of them due last, are found after a walk is given up', async () => {
  const { put, search } = clusterOf(['a'], 'on');
  for (let lo = 0; lo < 8000; lo++) {
    const body = encodeDefinition(definitionOf({ tags: [lo < 4000 ? 'early' : 'late'] }));
    put(recordOf({ hi: 5, lo, dueMs: lo, replicas: ['a'], body }));
  }
  const found: number[] = [];
  let after = orderStart;
  for (let pages = 0; pages < 3; pages++) {
    const page = await search('a', { ...everything, ask: { ...anything, tag: 'late' }, after });
    found.push(...page.records.map(({ lo }) => lo));
    after = page.cursor ?? orderStart;
  }
  expect(found).toEqual(Array.from({ length: 30 }, (_, i) => 4000 + i));
});

it('timers of several members in one millisecond are shown once each, with pages of every length', async () => {
  const { put, search } = clusterOf(['a', 'b', 'c'], 'on');
  for (let lo = 0; lo < 12; lo++)
    put(recordOf({ lo, dueMs: 5, replicas: [['a', 'b', 'c'][lo % 3] ?? 'a'] }));
  for (const limit of [1, 2, 3, 5, 7]) {
    const found: number[] = [];
    let after: RankedPlace | null = orderStart;
    while (after !== null && found.length < 50) {
      const page: SearchPage = await search('b', {
        ...everything,
        ask: { ...anything, limit },
        after,
      });
      found.push(...page.records.map(({ lo }) => lo));
      after = page.cursor;
    }
    expect(found.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 12 }, (_, i) => i));
  }
});

it('a member that stopped early holds back the later records of others', async () => {
  const { put, search } = clusterOf(['a', 'b'], 'on');
  for (let lo = 0; lo < 20; lo++) put(recordOf({ lo, dueMs: lo, replicas: [lo < 10 ? 'a' : 'b'] }));
  const ask = { ...anything, limit: 4 };
  const first = await search('a', { ...everything, ask });
  expect(first.records.map(({ lo }) => lo)).toEqual([0, 1, 2, 3]);
  const after = first.cursor ?? orderStart;
  const second = await search('b', { ...everything, ask: { ...ask, limit: 9 }, after });
  expect(second.records.map(({ lo }) => lo)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

it('without indexes, or before they are built, very many timers are refused in a sentence', async () => {
  for (const [indexes, words] of [
    ['off', /are off at a \(search\.indexes\)/],
    ['on', /of a are being built after its start/],
  ] as const) {
    const { search } = crowded(indexes);
    await expect(search()).rejects.toThrow(words);
  }
});

function crowded(indexes: 'on' | 'off') {
  const clock = new VirtualClock();
  const store = {
    size: 300_000,
    search: indexes === 'on' ? new SearchIndex(() => null) : null,
    counts: { live: 300_000, dead: 0, tombstone: 0 },
  } as unknown as Store;
  const replica = {
    store,
    scans: new ScanTurns(clock),
    usage: new Usage(),
    backups: new BackupCounts(),
  } as Replica;
  const parts = { self: 'a', clock, replica, peers: null, distanceMs: () => 0 };
  return { search: () => searchEverywhere(parts, everything, ['a']) };
}

it('dead letters and tombstones are not due', async () => {
  const { put, search } = clusterOf(['a'], 'on');
  put(recordOf({ lo: 1, state: State.dead, replicas: ['a'] }));
  put(recordOf({ lo: 2, state: State.tombstone, replicas: ['a'], body: new Uint8Array(0) }));
  expect((await search('a', everything)).records).toEqual([]);
});
