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
  /** The index is asked before the change, and so brought up to date. */
  isAsked: fc.boolean(),
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
  store.next(null, 5000, handles);
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

function make(one: Change, store: Store, latest: Map<number, Change>): void {
  if (one.isAsked) store.search?.countOf('default');
  if (!one.isPut) store.remove(7, one.number);
  else {
    store.put(recordFor(one));
    latest.set(one.number, one);
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
            make(one, store, latest);
          });
          while (!store.buildSearch(pieceLength));
          expect(store.search?.whole).toBe(true);
          compare(store, latest);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('finds the same records after more changes than it brings up to date at once', () => {
    const one = fc.tuple(change, fc.integer({ min: 0, max: 3000 })).map(([made, number]) => ({
      ...made,
      number,
      isPut: made.isPut || number % 2 === 0,
      isAsked: false,
    }));
    fc.assert(
      fc.property(fc.array(one, { minLength: 2000, maxLength: 2400 }), (changes) => {
        const store = new Store({ searchIndexes: true });
        store.buildSearch(1);
        const latest = new Map<number, Change>();
        for (const made of changes) make(made, store, latest);
        compare(store, latest);
      }),
      { numRuns: 4 },
    );
  });

  it('pages by due show each record that stays once and in order, while others come, move, pop and go', () => {
    const store = new Store({ searchIndexes: true });
    store.buildSearch(1);
    const due = (lo: number, dueMs: number): TimerRecord =>
      recordOf({ hi: 7, lo, dueMs, retryMs: dueMs });
    const stayCount = 400;
    for (let lo = 0; lo < stayCount * 2; lo++) store.put(due(lo, (lo * 7919) % 10_007));
    const found: number[] = [];
    let place: { ms: number; handle: number } | null = { ms: 0, handle: -1 };
    for (let page = 0; place !== null; page++) {
      const handles: number[] = [];
      place = store.search?.nextDue('default', place, 7, handles) ?? null;
      found.push(...handles.map((handle) => store.loOf(handle)).filter((lo) => lo < stayCount));
      for (let i = 0; i < 9; i++) {
        const lo = stayCount + ((page * 9 + i) % stayCount);
        if (i % 3 === 0) store.remove(7, lo);
        else if (i % 3 === 1) store.put({ ...due(lo, 1), state: State.tombstone });
        else store.put(due(lo, (page * 31) % 10_007));
      }
    }
    const staying = Array.from({ length: stayCount }, (_, lo) => lo);
    expect(found).toEqual(
      staying.toSorted((a, b) => ((a * 7919) % 10_007) - ((b * 7919) % 10_007)),
    );
  });

  it('long bodies are told apart after they have changed, popped and gone', () => {
    const store = new Store({ searchIndexes: true });
    store.buildSearch(1);
    const tagged = (lo: number, tag: string, length: number): TimerRecord =>
      recordOf({
        hi: 7,
        lo,
        body: encodeDefinition({
          ...definitionOf(),
          tags: [tag],
          opaque: 'x'.repeat(length),
        }),
      });
    for (let lo = 0; lo < 20; lo++) store.put(tagged(lo, 'one', lo * 5000));
    expect(byText(store, 'default', 'tag', 'one')).toHaveLength(20);
    for (let lo = 0; lo < 20; lo++) store.put(tagged(lo, lo % 2 === 0 ? 'two' : 'one', 90_000));
    for (let lo = 0; lo < 5; lo++) store.remove(7, lo);
    expect(byText(store, 'default', 'tag', 'one')).toHaveLength(8);
    expect(byText(store, 'default', 'tag', 'two')).toHaveLength(7);
    expect(store.search?.countOf('default')).toBe(15);
  });

  it('records with more tags than are put off together are found by each, and lose the ones that they lose', () => {
    const store = new Store({ searchIndexes: true });
    store.buildSearch(1);
    const tagged = (lo: number, count: number): TimerRecord => {
      const many = Array.from({ length: count }, (_, i) => `tag-${i}`);
      return recordOf({ hi: 7, lo, body: encodeDefinition({ ...definitionOf(), tags: many }) });
    };
    for (const [lo, count] of [3000, 4500, 2000].entries()) store.put(tagged(lo, count));
    expect(byText(store, 'default', 'tag', 'tag-2999')).toHaveLength(2);
    for (let lo = 0; lo < 3; lo++) store.put(tagged(lo, 2500));
    expect(byText(store, 'default', 'tag', 'tag-2499')).toHaveLength(3);
    expect(byText(store, 'default', 'tag', 'tag-2500')).toHaveLength(0);
  });

  it('a body that is no definition is found by its time alone', () => {
    const store = new Store({ searchIndexes: true });
    store.buildSearch(1);
    store.put(recordOf({ body: Uint8Array.of(200, 1, 2) }));
    expect(byDue(store, 'default', 5)).toHaveLength(1);
    store.put(recordOf({ body: Uint8Array.of(201), dueMs: 5, retryMs: 5 }));
    expect(byDue(store, 'default', 5)).toHaveLength(1);
  });

  it('a timer without tags costs 20 bytes and one with a tag 38, in any order of due times, beside the bytes of an empty index', () => {
    for (const [tagsOf, bytesMax] of [
      [() => [], 21],
      [(i: number) => [`user-${i}`], 39],
    ] as const) {
      const store = new Store({ searchIndexes: true });
      store.buildSearch(1);
      const count = 30_000;
      const emptyBytes = store.search?.bytes ?? 0;
      for (let i = 0; i < count; i++) {
        const body = encodeDefinition({ ...definitionOf(), tags: tagsOf(i) });
        const dueMs = (i * 7_919_777) % 86_400_000;
        store.put(recordOf({ hi: i, lo: i, body, dueMs, retryMs: dueMs }));
      }
      expect(((store.search?.bytes ?? 0) - emptyBytes) / count).toBeLessThan(bytesMax);
    }
  });
});
