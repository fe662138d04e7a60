import { type Definition, encodeDefinition, State, type TimerRecord } from '@carillon/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { definitionOf, recordOf } from '../../testing/records.ts';
import { Store } from '../store.ts';
import { type Lookup, SearchIndex, type TextPlace } from './search-index.ts';

const namespaces = ['default', 'shop'] as const;
const tags = ['ticks', 'order:1', 'order:2', 'order:', 'a-b-c', 'é/ü'] as const;
const origins = ['http://a.example', 'https://b.example:8443'] as const;

const change = fc.record({
  number: fc.integer({ min: 0, max: 40 }),
  isPut: fc.boolean(),
  namespace: fc.constantFrom(...namespaces),
  state: fc.constantFrom(State.live, State.live, State.live, State.dead, State.tombstone),
  attempt: fc.integer({ min: 0, max: 1 }),
  outcome: fc.constantFrom(0, 200, 503, 1),
  dueMs: fc.oneof(
    fc.integer({ min: 0, max: 200 }),
    fc.double({ min: -1e10, max: 1e12, noNaN: true }),
  ),
  origin: fc.constantFrom(...origins),
  path: fc.constantFrom('', '/x/y', '?q=/', '#f'),
  tags: fc.array(fc.constantFrom(...tags), { maxLength: 3 }),
  info: fc.array(fc.constantFrom(...tags), { maxLength: 1 }),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function recordFor(one: Change): TimerRecord {
  const definition: Definition = {
    ...definitionOf(),
    uri: one.origin + one.path,
    tags: one.tags,
    tagInfo: one.info.map((type) => ({ type, count: 1 })),
  };
  return recordOf({
    hi: 7,
    lo: one.number,
    namespace: one.namespace,
    state: one.state,
    attempt: one.attempt,
    outcome: one.outcome,
    dueMs: one.dueMs,
    retryMs: one.dueMs,
    body: one.state === State.tombstone ? new Uint8Array(0) : encodeDefinition(definition),
  });
}

/** The trivially correct answers: a look at every record. */
function live(store: Store, namespace: string): { handle: number; record: TimerRecord }[] {
  const handles: number[] = [];
  store.next(null, 1000, handles);
  return handles
    .map((handle) => ({ handle, record: store.read(handle) }))
    .filter(({ record }) => record.state === State.live && record.namespace === namespace);
}

function byDue(store: Store, namespace: string, pieceLength: number): number[] {
  const found: number[] = [];
  let place = { ms: Number.NEGATIVE_INFINITY, handle: -1 };
  for (;;) {
    const next = store.search?.nextDue(namespace, place, pieceLength, found) ?? null;
    if (next === null) return found;
    place = next;
  }
}

function byText(
  store: Store,
  namespace: string,
  kind: Lookup['kind'],
  text: string,
): readonly number[] {
  const found: number[] = [];
  let place: TextPlace | null = null;
  do {
    place = store.search?.nextText({ namespace, kind, text }, place, 3, found) ?? null;
  } while (place !== null);
  expect(store.search?.countText({ namespace, kind, text })).toBe(found.length);
  return [...new Set(found)].toSorted((a, b) => a - b);
}

function hasTag(one: Change, test: (tag: string) => boolean): boolean {
  return [...one.tags, ...one.info].some((tag) => test(tag));
}

function compare(store: Store, latest: ReadonlyMap<number, Change>): void {
  for (const namespace of namespaces) {
    const all = live(store, namespace);
    const ordered = all.toSorted(
      (a, b) =>
        SearchIndex.dueMs(a.record.retryMs) - SearchIndex.dueMs(b.record.retryMs) ||
        a.handle - b.handle,
    );
    expect(byDue(store, namespace, 3)).toEqual(ordered.map(({ handle }) => handle));
    expect(store.search?.countOf(namespace)).toBe(all.length);
    const where = (test: (one: Change) => boolean): number[] =>
      all
        .filter(({ record }) => test(latest.get(record.lo) as Change))
        .map(({ handle }) => handle)
        .toSorted((a, b) => a - b);
    for (const tag of tags) {
      expect(byText(store, namespace, 'tag', tag)).toEqual(
        where((one) => hasTag(one, (t) => t === tag)),
      );
    }
    for (const prefix of ['o', 'ord', 'order', 'order:', 'order:1', 'a-', 'é', 't', 'x']) {
      const begins = where((one) => hasTag(one, (t) => t.startsWith(prefix)));
      expect(byText(store, namespace, 'prefix', prefix)).toEqual(begins);
    }
    for (const origin of origins) {
      const calling = where((one) => one.origin === origin);
      expect(byText(store, namespace, 'receiver', origin)).toEqual(calling);
    }
    const failing = where((one) => one.attempt > 0 || one.outcome === 503 || one.outcome === 1);
    expect(byText(store, namespace, 'failing', '')).toEqual(failing);
  }
}

describe('SearchIndex', () => {
  it('finds the same records as a look at every one, in the same order, however records come, change and go', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 120 }),
        fc.nat({ max: 120 }),
        fc.integer({ min: 1, max: 9 }),
        (changes, startsAt, pieceLength) => {
          const store = new Store({ searchIndexes: true });
          const latest = new Map<number, Change>();
          changes.forEach((one, i) => {
            // From here on the indexes are built, a few records with each change.
            if (i >= startsAt) store.buildSearch(pieceLength);
            if (!one.isPut) store.remove(7, one.number);
            else {
              store.put(recordFor(one));
              latest.set(one.number, one);
            }
          });
          while (!store.buildSearch(pieceLength));
          expect(store.search?.whole).toBe(true);
          compare(store, latest);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('a body that is no definition is found by its time alone', () => {
    const store = new Store({ searchIndexes: true });
    store.buildSearch(1);
    store.put(recordOf({ body: Uint8Array.of(200, 1, 2) }));
    expect(byDue(store, 'default', 5)).toHaveLength(1);
    store.put(recordOf({ body: Uint8Array.of(201), dueMs: 5, retryMs: 5 }));
    expect(byDue(store, 'default', 5)).toHaveLength(1);
  });

  it('a timer without tags costs 20 bytes and one with a tag 38, in any order of due times, beside a page that is being filled', () => {
    for (const [tagsOf, bytesMax] of [
      [() => [], 21],
      [(i: number) => [`user-${i}`], 39],
    ] as const) {
      const store = new Store({ searchIndexes: true });
      store.buildSearch(1);
      const count = 30_000;
      for (let i = 0; i < count; i++) {
        const body = encodeDefinition({ ...definitionOf(), tags: tagsOf(i) });
        const dueMs = (i * 7_919_777) % 86_400_000;
        store.put(recordOf({ hi: i, lo: i, body, dueMs, retryMs: dueMs }));
      }
      const pageBytes = 128 * 1024;
      expect(((store.search?.bytes ?? 0) - pageBytes) / count).toBeLessThan(bytesMax);
    }
  });
});
