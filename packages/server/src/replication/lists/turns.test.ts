/** However a list finds its timers, it reads a bounded part of them before other work has its turn. */
import { encodeDefinition } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { describe, expect, test } from 'vitest';
import { Usage } from '../../quotas/usage.ts';
import { Store } from '../../store/store.ts';
import { anything, definitionOf, recordOf } from '../../testing/records.ts';
import { BackupCounts } from '../backup-counts.ts';
import type { Replica } from '../replica.ts';
import { ScanTurns } from '../scan-turns.ts';
import { turnBytesMax } from '../sizes.ts';
import type { ListAsk } from '../wire/list.ts';
import type { SearchAsk } from '../wire/search.ts';
import { listHere } from './list.ts';
import { searchHere } from './search-here.ts';
import { orderStart } from './search-order.ts';
import type { SearchParts } from './search-range.ts';

const receiver = 'http://a.example';

interface Read {
  readonly found: number;
  /** The most bytes and records that one turn read. */
  readonly bytes: number;
  readonly count: number;
}

interface Stored {
  readonly count: number;
  readonly opaqueBytes: number;
  readonly indexes: boolean;
}

/** The bytes and records that one turn of the question reads, at a member with such timers. */
async function readBy(
  { count, opaqueBytes, indexes }: Stored,
  question: (parts: SearchParts) => Promise<number>,
): Promise<Read> {
  const clock = new VirtualClock();
  const store = new Store({ searchIndexes: indexes });
  store.buildSearch(1);
  const opaque = 'x'.repeat(opaqueBytes);
  for (let lo = 0; lo < count; lo++) {
    const definition = definitionOf({ opaque, uri: `${receiver}/${lo}`, tags: ['all', `n:${lo}`] });
    store.put(recordOf({ hi: 0, lo, body: encodeDefinition(definition), replicas: ['a'] }));
  }
  const scans = new ScanTurns(clock);
  const get = (hi: number, lo: number) => store.get(hi, lo);
  const replica = { store, scans, usage: new Usage(), backups: new BackupCounts(), get } as Replica;
  let [turnBytes, turnCount, bytes, most] = [0, 0, 0, 0];
  const read = store.read.bind(store);
  store.read = (handle) => {
    const record = read(handle);
    bytes = Math.max(bytes, (turnBytes += record.body.length));
    most = Math.max(most, ++turnCount);
    return record;
  };
  const soon = clock.soon.bind(clock);
  clock.soon = (fn) =>
    soon(() => {
      [turnBytes, turnCount] = [0, 0];
      fn();
    });
  const founds: number[] = [];
  void question({ self: 'a', clock, peers: null, replica, distanceMs: () => 0 }).then((found) =>
    founds.push(found),
  );
  while (founds.length === 0) await clock.advance(0);
  return { found: founds[0] ?? 0, bytes, count: most };
}

async function listed(parts: SearchParts, ask: Partial<ListAsk>): Promise<number> {
  return (await listHere(parts, { ...anything, limit: 1000, ...ask })).records.length;
}

async function searched(
  parts: SearchParts,
  ask: Partial<ListAsk>,
  rest: Partial<SearchAsk> = {},
): Promise<number> {
  const { entries, total } = await searchHere(parts, {
    ask: { ...anything, limit: 1000, ...ask },
    fromMs: Number.NEGATIVE_INFINITY,
    toMs: Number.POSITIVE_INFINITY,
    after: orderStart,
    wantTotal: true,
    ...rest,
  });
  return total?.count ?? entries.length;
}

const nowhere = { receiver: `${receiver}/nowhere` };
const questions: [string, (parts: SearchParts) => Promise<number>, 'all' | 'none'][] = [
  ['a list by tag, none of which matches', (at) => listed(at, { tag: 'all', ...nowhere }), 'none'],
  ['a count by tag', (at) => searched(at, { tag: 'all' }), 'all'],
  ['a count by the beginning of a tag', (at) => searched(at, { tagPrefix: 'n:' }), 'all'],
  ['a count by receiver', (at) => searched(at, nowhere), 'none'],
  ['a count in a range', (at) => searched(at, { state: 'pending' }, { fromMs: 0 }), 'all'],
  [
    'an order by due time, none of which matches',
    (at) => searched(at, { tagPrefix: 'n:', ...nowhere }, { wantTotal: false }),
    'none',
  ],
  [
    'an order by due time in a range',
    (at) => searched(at, { holder: 'b' }, { wantTotal: false, fromMs: 0 }),
    'none',
  ],
];

describe.each([true, false])('with indexes: %j', (indexes) => {
  test.each(questions)(
    'of large timers, %s reads few in one turn',
    async (_, question, matching) => {
      const opaqueBytes = 64 * 1024;
      const { found, bytes } = await readBy({ count: 60, opaqueBytes, indexes }, question);
      expect(found).toBe(matching === 'all' ? 60 : 0);
      expect(bytes).toBeGreaterThan(turnBytesMax / 2);
      // The record that fills the turn is in it.
      expect(bytes).toBeLessThan(turnBytesMax + 2 * opaqueBytes);
    },
  );

  test.each(questions)(
    'of small timers, %s reads a thousand in one turn',
    async (_, question, matching) => {
      const { found, count } = await readBy({ count: 2000, opaqueBytes: 0, indexes }, question);
      expect(found).toBe(matching === 'all' ? 2000 : 0);
      expect(count).toBeGreaterThan(500);
      expect(count).toBeLessThan(1024);
    },
  );
});
