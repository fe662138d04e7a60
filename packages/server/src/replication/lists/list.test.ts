import { encodeDefinition, hex16, type TimerRecord } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Store } from '../../store/store.ts';
import { anything, definitionOf, recordOf } from '../../testing/records.ts';
import type { ReadParts } from '../read.ts';
import { listHere } from './list.ts';
import type { Replica } from '../replica.ts';
import { ScanTurns } from '../scan-turns.ts';
import type { HolderRole, ListAsk } from '../wire/list.ts';

const holders = [['a', 'b'], ['b', 'a'], ['b', 'c'], ['c']];

function parts(): ReadParts {
  const store = new Store();
  holders.forEach((replicas, lo) => {
    store.put(recordOf({ hi: 0, lo, replicas }));
  });
  const replica = { store } as Replica;
  return { self: 'a', clock: new VirtualClock(), peers: null, replica };
}

test.each<[string, HolderRole, number[]]>([
  ['', '', [0, 1, 2, 3]],
  ['a', '', [0, 1]],
  ['a', 'primary', [0]],
  ['a', 'backup', [1]],
  ['b', 'primary', [1, 2]],
  ['nobody', '', []],
])('of what %j holds as %j', async (holder, role, found) => {
  const { records, stopped } = await listHere(parts(), { ...anything, holder, role });
  expect(records.map(({ lo }) => lo).toSorted((a, b) => a - b)).toEqual(found);
  expect(stopped).toBeNull();
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
    const pages: Awaited<ReturnType<typeof listHere>>[] = [];
    const asked = { ...ask, cursor };
    void listHere({ self: 'a', clock, peers: null, replica }, asked).then((one) => pages.push(one));
    while (pages.length === 0) await clock.advance(0);
    const [page] = pages;
    found.push(...(page?.records ?? []).map(({ hi, lo }) => hex16(hi, lo)));
    cursor = page?.stopped ?? null;
    if (cursor !== null) expect(page?.records).toHaveLength(ask.limit);
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
