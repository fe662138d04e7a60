/** Rows that leave a store in blocks and come back into another one. */
import { State, type TimerRecord } from '@carillon/core';
import { SeededRandom } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import { recordOf } from '../testing/records.ts';
import { Store } from './store.ts';

interface Block {
  readonly bytes: Uint8Array;
  readonly count: number;
}

function blocksOf(store: Store, baseMs = 0, limit = 100): Block[] {
  const blocks: Block[] = [];
  const next = store.rowBlocks();
  while (
    next(baseMs, limit, (bytes, count) => blocks.push({ bytes: bytes.slice(), count })) === limit
  );
  return blocks;
}

function restored(blocks: readonly Block[], baseMs = 0): Store {
  const store = new Store({ searchIndexes: true });
  for (const { bytes, count } of blocks) {
    expect(store.restoreRows(bytes, baseMs, ({ retryMs }) => retryMs)).toBe(count);
  }
  store.endRestore(() => expect.unreachable('no number came twice'));
  return store;
}

function recordsOf(store: Store): TimerRecord[] {
  const all: TimerRecord[] = [];
  const next = store.records();
  for (let record = next(); record !== undefined; record = next()) {
    all.push({ ...record, body: record.body.slice() });
  }
  return all;
}

/** Records of all kinds, some with long bodies, some failing, with shared fields of their own or of many. */
function someRecords(random: SeededRandom, count: number): TimerRecord[] {
  const below = (end: number): number => random.between(0, end - 1);
  return Array.from({ length: count }, (_, i) => {
    const attempt = below(4) === 0 ? below(3) : 0;
    const dueMs = below(1_000_000) + 0.25;
    return recordOf({
      hi: random.u32(),
      lo: random.u32(),
      namespace: `n${below(i % 10 === 0 ? 300 : 3)}`,
      factor: 1 + below(3),
      replicas: ['a', `m${below(3)}`],
      versionMs: 1_800_000_000_000 + below(1000),
      versionTie: random.u32(),
      state: ([State.live, State.live, State.dead, State.tombstone] as const)[below(4)] ?? 0,
      sequence: below(1000),
      attempt,
      startMs: below(1_000_000) - 500_000.5,
      dueMs,
      gapMs: below(2) === 0 ? 60_000 : 1.5,
      retryMs: attempt === 0 ? dueMs : dueMs + 1000,
      triedMs: dueMs,
      outcome: below(2) === 0 ? 0 : 503,
      body: new Uint8Array(below(20) === 0 ? 70_000 : below(300)).fill(i),
    });
  });
}

describe('rows in blocks', () => {
  it('come back as the same records, in the same order, with the same counts and alarms', () => {
    for (let seed = 1; seed <= 5; seed++) {
      const random = new SeededRandom(seed);
      const store = new Store();
      for (const record of someRecords(random, 400)) store.arm(store.put(record), record.retryMs);
      const again = restored(blocksOf(store));
      expect(recordsOf(again)).toEqual(recordsOf(store));
      expect(again.counts).toEqual(store.counts);
      expect(again.rowBytes).toBe(store.rowBytes);
      expect(dueNumbers(again)).toEqual(dueNumbers(store));
      const [letters, before]: [number[], number[]] = [[], []];
      again.nextLetters(null, 1000, letters);
      store.nextLetters(null, 1000, before);
      expect(letters.map((handle) => again.loOf(handle))).toEqual(
        before.map((handle) => store.loOf(handle)),
      );
    }
  });

  it('are found, changed and removed like records that were put', () => {
    const random = new SeededRandom(9);
    const records = someRecords(random, 500);
    const store = new Store();
    for (const record of records) store.put(record);
    const again = restored(blocksOf(store));
    for (const [i, record] of records.entries()) {
      if (i % 3 === 0) {
        for (const each of [store, again]) expect(each.remove(record.hi, record.lo)).toBe(true);
      } else {
        const changed = { ...record, sequence: 7, namespace: 'other', body: new Uint8Array(i) };
        for (const each of [store, again]) each.put(changed);
      }
    }
    for (const record of someRecords(random, 500))
      for (const each of [store, again]) each.put(record);
    expect(recordsOf(again)).toEqual(recordsOf(store));
    while (!again.buildSearch(100));
    expect(again.search?.countOf('other')).toBe(
      recordsOf(store).filter((one) => one.namespace === 'other' && one.state === State.live)
        .length,
    );
  });

  it('have times on the clock of the store that they come into', () => {
    const store = new Store();
    store.put(recordOf({ startMs: 100, dueMs: 700, attempt: 1, retryMs: 900, triedMs: 800 }));
    const [found] = recordsOf(restored(blocksOf(store, 50), 1050));
    expect(found).toMatchObject({ startMs: 1100, dueMs: 1700, retryMs: 1900, triedMs: 1800 });
  });

  it('of a clock that was set meanwhile are in another block', () => {
    const store = new Store();
    for (let lo = 0; lo < 300; lo++) store.put(recordOf({ lo, dueMs: 1000 }));
    const blocks: Block[] = [];
    const next = store.rowBlocks();
    const emit = (bytes: Uint8Array, count: number): void => {
      blocks.push({ bytes: bytes.slice(), count });
    };
    expect([next(0, 100, emit), next(0.9, 100, emit)]).toEqual([100, 100]);
    expect(blocks).toEqual([]);
    // An hour ahead: the same due time is an hour later by the wall clock.
    expect(next(-3_600_000, 150, emit)).toBe(100);
    expect(blocks.map(({ count }) => count)).toEqual([200, 100]);
    const dues = recordsOf(restored(blocks)).map(({ dueMs }) => dueMs);
    expect(dues.filter((dueMs) => dueMs === 1000).length).toBe(200);
    expect(dues.filter((dueMs) => dueMs === 3_601_000).length).toBe(100);
  });

  it('keep their shared fields although the number of these was given to others in between', () => {
    const store = new Store();
    for (let lo = 0; lo < 200; lo++) store.put(recordOf({ lo, namespace: 'first' }));
    const blocks: Block[] = [];
    const next = store.rowBlocks();
    const emit = (bytes: Uint8Array, count: number): void => {
      blocks.push({ bytes: bytes.slice(), count });
    };
    next(0, 100, emit);
    const seen = recordsOf(store).slice(0, 100);
    // The fields of the first records are given up with the last of them, and their number goes to the next.
    for (const { hi, lo } of recordsOf(store)) store.remove(hi, lo);
    for (let lo = 0; lo < 200; lo++) store.put(recordOf({ lo, namespace: 'second' }));
    next(0, 200, emit);
    const found = recordsOf(restored(blocks));
    expect(found.filter(({ namespace }) => namespace === 'first').length).toBe(seen.length);
    expect(found.filter(({ namespace }) => namespace === 'second').length).toBe(100);
  });
});

describe('blocks that are wrong behind a checksum that fits', () => {
  it('a row that is none is left out, the others are taken', () => {
    const store = new Store();
    for (let lo = 0; lo < 50; lo++) store.put(recordOf({ lo, body: new Uint8Array(100) }));
    const [block] = blocksOf(store) as [Block];
    const stride = store.rowBytes / 50;
    const first = block.bytes.length - 50 * stride;
    for (const [what, at, value] of [
      ['an unknown state', first + 3 * stride, 3],
      ['a body longer than its room', block.bytes.indexOf(100, first + 3 * stride), 120],
    ] as const) {
      const bytes = block.bytes.slice();
      bytes[at] = value;
      const again = new Store();
      expect(
        again.restoreRows(bytes, 0, ({ dueMs }) => dueMs),
        what,
      ).toBeLessThan(50);
      again.endRestore(() => {});
      expect(again.size).toBe(recordsOf(again).length);
      for (const { hi, lo } of recordsOf(again)) expect(again.remove(hi, lo)).toBe(true);
      expect(again.rowBytes).toBe(0);
    }
  });

  it('a number that comes twice is there once', () => {
    const store = new Store();
    for (let lo = 0; lo < 40; lo++) store.put(recordOf({ lo, state: State.dead }));
    const [{ bytes }] = blocksOf(store) as [Block];
    const again = new Store();
    for (let i = 0; i < 2; i++) again.restoreRows(bytes, 0, ({ dueMs }) => dueMs);
    const givenUp: number[] = [];
    again.endRestore(({ lo }) => givenUp.push(lo));
    expect(givenUp.length).toBe(40);
    expect(recordsOf(again)).toEqual(recordsOf(store));
    expect(again.counts).toEqual(store.counts);
  });
});

/** All numbers in the order in which they fall due. */
function dueNumbers(store: Store): string[] {
  const handles: number[] = [];
  for (let nowMs = -1e6; nowMs < 3e6; nowMs += 1000) while (store.takeDue(nowMs, 10, handles) > 0);
  return handles.map((handle) => `${store.retryOf(handle)} ${store.hiOf(handle)}`).toSorted();
}
