import { encodeDefinition, hex16, type TimerRecord } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareNumbers, hashOf } from '../../store/number-index.ts';
import { Store } from '../../store/store.ts';
import { anything, definitionOf, recordOf } from '../../testing/records.ts';
import type { ReadParts } from '../read.ts';
import { listEverywhere, type RecordPage } from './list.ts';
import { Patience } from './patience.ts';
import type { Peers } from '../peers.ts';
import type { Replica } from '../replica.ts';
import { ScanTurns } from '../scan-turns.ts';
import type { HolderRole, ListAsk } from '../wire/list.ts';
import type { Numbered } from '../wire/parts.ts';

const holders = [['a', 'b'], ['b', 'a'], ['b', 'c'], ['c']];

function parts(): ReadParts {
  const store = new Store();
  holders.forEach((replicas, lo) => {
    store.put(recordOf({ hi: 0, lo, replicas }));
  });
  const clock = new VirtualClock();
  const replica = { store, scans: new ScanTurns(clock) } as Replica;
  return { self: 'a', clock, peers: null, replica };
}

test.each<[string, HolderRole, number[]]>([
  ['', '', [0, 1, 2, 3]],
  ['a', '', [0, 1]],
  ['a', 'primary', [0]],
  ['a', 'backup', [1]],
  ['b', 'primary', [1, 2]],
  ['nobody', '', []],
])('of records that %j holds as %j', async (holder, role, found) => {
  const { records, cursor } = await listEverywhere(parts(), { ...anything, holder, role }, ['a']);
  expect(records.map(({ lo }) => lo).toSorted((a, b) => a - b)).toEqual(found);
  expect(cursor).toBeNull();
});

const someRecord = fc.record({
  tags: fc.array(fc.constantFrom('often', 'seldom'), { maxLength: 1 }),
  uri: fc.constantFrom('http://x:1/a', 'http://x:1/b', 'http://y/'),
  namespace: fc.constantFrom('default', 'other'),
  attempt: fc.nat({ max: 1 }),
  outcome: fc.constantFrom(0, 503),
});
const someAsk = fc.record({
  tag: fc.constantFrom(null, 'often', 'seldom', 'never'),
  receiver: fc.constantFrom('', 'http://x:1', 'http://x:1/a', 'http://z'),
  state: fc.constantFrom('', 'pending', 'retrying', 'failing'),
  failure: fc.constantFrom('', '5xx'),
  limit: fc.integer({ min: 1, max: 7 }),
});

async function given<T>(clock: VirtualClock, result: Promise<T>): Promise<T> {
  const settled: true[] = [];
  const settle = (): number => settled.push(true);
  result.then(settle, settle);
  while (settled.length === 0) await clock.advance(0);
  return result;
}

/** All pages, one after the other. */
async function allPages(store: Store, ask: ListAsk): Promise<string[]> {
  const clock = new VirtualClock();
  const replica = {
    store,
    scans: new ScanTurns(clock),
    get: (hi: number, lo: number) => store.get(hi, lo),
  } as Replica;
  const found: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: RecordPage = await given(
      clock,
      listEverywhere({ self: 'a', clock, peers: null, replica }, { ...ask, cursor }, ['a']),
    );
    // A page may be empty only where it is the only one.
    if (found.length > 0) expect(page.records).not.toHaveLength(0);
    found.push(...page.records.map(({ hi, lo }) => hex16(hi, lo)));
    ({ cursor } = page);
    if (cursor !== null) expect(page.records).toHaveLength(ask.limit);
  }
  return found;
}

test('a list finds the same records in the same order with search indexes and without', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someRecord, { maxLength: 60 }), someAsk, async (records, asked) => {
      const indexed = new Store({ searchIndexes: true });
      indexed.buildSearch(1);
      const plain = new Store();
      records.forEach(({ tags, uri, ...fields }, lo) => {
        const body = encodeDefinition(definitionOf({ tags, uri }));
        const record: TimerRecord = recordOf({ hi: 3, lo, body, ...fields });
        indexed.put(record);
        plain.put(record);
      });
      const ask = { ...anything, ...asked };
      expect(await allPages(indexed, ask)).toEqual(await allPages(plain, ask));
    }),
  );
});

test('a member that does not answer is left out, and the page goes on to the timers of the others', async () => {
  const clock = new VirtualClock();
  const store = new Store();
  // One part of a page looks at 200,000 timers: the only match comes in a later one.
  const many = 205_000;
  const [last] = lastOf(many);
  for (let lo = 0; lo < many; lo++) {
    const tags = lo === last ? ['seldom'] : [];
    const body = encodeDefinition(definitionOf({ tags }));
    store.put(recordOf({ hi: 3, lo, replicas: ['a'], body }));
  }
  let askedCount = 0;
  const peers = {
    send: (_name: string, _message: unknown, done: (answer: null) => void) => {
      askedCount++;
      done(null);
    },
  } as unknown as Peers;
  const replica = { store, scans: new ScanTurns(clock) } as Replica;
  const ask = { ...anything, tag: 'seldom' };
  const page = await given(
    clock,
    listEverywhere({ self: 'a', clock, peers, replica }, ask, ['a', 'b']),
  );
  expect(page.records.map(({ lo }) => lo)).toEqual([last]);
  expect(page.missing).toEqual(['b']);
  expect(askedCount).toBe(1);
});

/** The number that comes last in the order of all lists. */
function lastOf(count: number): readonly [number] {
  const numbers = Array.from({ length: count }, (_, lo) => ({ hi: 3, lo }));
  const order = (a: Numbered, b: Numbered): number =>
    hashOf(a.hi, a.lo) - hashOf(b.hi, b.lo) || compareNumbers(a, b);
  return [numbers.reduce((one, other) => (order(other, one) > 0 ? other : one)).lo];
}

test('after a minute without a match a list is refused in a sentence, and never shown empty', async () => {
  const clock = new VirtualClock();
  const patience = new Patience(clock);
  await clock.advance(4000);
  expect(patience.isOver(1)).toBe(true);
  expect(patience.isOver(0)).toBe(false);
  await clock.advance(60_000);
  expect(() => patience.isOver(0)).toThrow(/for a minute, not at all timers yet, and found none/);
});
