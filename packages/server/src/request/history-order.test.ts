/** The order in which entries of members are shown, against a sort of all of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Entry } from '../history/entry.ts';
import type { HistoryRead, PlacedEntry } from '../history/read.ts';
import { attemptEntry, changeEntry } from '../history/testing/entries.ts';
import { aheadCount, atOf, type Reach, type Spot, takeNewest } from './history-order.ts';

const wall = Date.UTC(2026, 0, 1);

/** A member that wrote these entries down, the oldest first, and answers with so many at once. */
function answer(entries: readonly Entry[], spot: Spot | null, countMax: number): HistoryRead {
  const from = spot === null ? entries.length : spot.position.index;
  const found: PlacedEntry[] = entries
    .map((entry, index) => ({ entry, position: { file: 1, offset: 0, index } }))
    .slice(0, from)
    .toReversed();
  const more = found.length > countMax ? { file: 1, offset: 0, index: from - countMax } : null;
  return { entries: found.slice(0, countMax), more };
}

/** All pages, one after the other. */
function pages(
  members: ReadonlyMap<string, readonly Entry[]>,
  limit: number,
  countMax = limit + aheadCount,
): Entry[][] {
  const reached = new Map<string, Reach>();
  const all: Entry[][] = [];
  for (let round = 0; round < 2000; round++) {
    const reads = new Map<string, HistoryRead | null>();
    for (const [name, entries] of members) {
      const reach = reached.get(name);
      if (typeof reach === 'string') continue;
      reads.set(name, answer(entries, reach ?? null, countMax));
    }
    if (reads.size === 0) return all;
    const { found, reaches } = takeNewest(reads, reached, limit);
    all.push(found.map(({ entry }) => entry));
    for (const [name, reach] of reaches) reached.set(name, reach);
  }
  throw new Error('The pages do not end.');
}

function change(at: number, action: 'set' | 'redeliver' | 'give-up' | 'drop', lo = 2): Entry {
  return changeEntry({ wallMs: wall + at, action, lo, versionMs: wall });
}

function attempt(begin: number, end: number): Entry {
  return attemptEntry({ wallMs: wall + end, tookMs: end - begin });
}

describe('the order of the history', () => {
  const written = [
    attempt(2, 4),
    change(1, 'set'),
    change(5, 'give-up'),
    attempt(96, 97),
    change(97, 'give-up'),
    change(95, 'redeliver'),
  ];

  test.each([1, 2, 3, 100])(
    'goes by the times that are shown, and not by that of writing, in pages of %i',
    (limit) => {
      const shown = pages(new Map([['a', written]]), limit).flat();
      expect(shown.map((entry) => atOf(entry) - wall)).toEqual([97, 96, 95, 5, 2, 1]);
    },
  );

  test('has a set below the attempt, the give-up and the drop of the same millisecond', () => {
    const same = [attempt(7, 7), change(7, 'drop'), change(7, 'set'), change(7, 'give-up')];
    const [page = []] = pages(new Map([['a', same]]), 10);
    const kinds = page.map((entry) => (entry.kind === 'attempt' ? 'attempt' : entry.action));
    expect(kinds).toEqual(['drop', 'give-up', 'attempt', 'set']);
  });

  test('shows a member whose entries come after the whole page of another one', () => {
    const a = [change(10, 'set', 1), change(11, 'set', 2)];
    const b = [change(1, 'set', 3)];
    const shown = pages(new Map(Object.entries({ a, b })), 2).flat();
    expect(shown.map(({ lo }) => lo)).toEqual([2, 1, 3]);
  });

  const members = fc.dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 100 }),
    { minKeys: 1 },
  );
  const entriesOf = (times: Record<string, readonly number[]>): Map<string, readonly Entry[]> =>
    new Map(
      Object.entries(times).map(([name, list], m) => [
        name,
        list.map((at, i) => change(at, 'set', m * 1000 + i)),
      ]),
    );

  test('is that of a sort, over all pages, where entries are out of order by fewer than it looks ahead', () => {
    fc.assert(
      fc.property(members, fc.integer({ min: 1, max: 40 }), (times, limit) => {
        const shown = pages(entriesOf(times), limit).flat().map(atOf);
        const sorted = Object.values(times)
          .flat()
          .map((at) => wall + at);
        expect(shown).toEqual(sorted.toSorted((a, b) => b - a));
      }),
    );
  });

  test('has each entry once, however short the answers of members are', () => {
    fc.assert(
      fc.property(
        members,
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 50 }),
        (times, limit, countMax) => {
          const entries = entriesOf(times);
          const shown = pages(entries, limit, countMax).flat();
          const all = [...entries.values()].flat();
          expect(new Set(shown.map(({ lo }) => lo)).size).toBe(all.length);
          expect(shown.length).toBe(all.length);
        },
      ),
    );
  });

  test('has each entry once where a clock went back by more than it looks ahead', () => {
    const times = Array.from({ length: 1000 }, (_, i) => (i < 500 ? i + 10_000 : i));
    const entries = entriesOf({ a: times });
    const shown = pages(entries, 7).flat();
    expect(new Set(shown.map(({ lo }) => lo)).size).toBe(1000);
    expect(shown.length).toBe(1000);
  });
});
