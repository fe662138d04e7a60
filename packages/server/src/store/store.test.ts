import { State, type TimerRecord } from '@carillon/core';
import { SeededRandom } from '@carillon/core/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordOf } from '../testing/records.ts';
import { compareNumbers, type Position } from './number-index.ts';
import { Store } from './store.ts';

const lists = [['a'], ['a', 'b'], ['b', 'a', 'c'], []];

const u32 = fc.integer({ min: 0, max: 0xffffffff });
/** Without -0: a time that equals the due time is kept as that one, and `toEqual` tells the zeros apart. */
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const wholeOrNot = fc.oneof(fc.nat(), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), finite);

/** Few distinct numbers, so that replacing and removing really meet something. */
const number = fc.oneof(
  fc.record({ hi: fc.nat(3), lo: fc.nat(3) }),
  fc.record({ hi: u32, lo: fc.constant(0) }),
);

const record: fc.Arbitrary<TimerRecord> = fc
  .record({
    number,
    namespace: fc.constantFrom('default', 'other', 'ä ö'),
    factor: fc.integer({ min: 1, max: 16 }),
    versionMs: wholeOrNot,
    versionTie: u32,
    state: fc.constantFrom(State.live, State.dead, State.tombstone),
    sequence: fc.oneof(fc.nat(200), fc.integer({ min: 0, max: 2 ** 40 })),
    attempt: fc.oneof(fc.constant(0), fc.nat(1000)),
    startMs: finite,
    dueMs: fc.option(finite),
    gapMs: wholeOrNot,
    retryMs: fc.option(finite),
    triedMs: fc.option(finite),
    outcome: fc.oneof(fc.constant(0), fc.constantFrom(1, 200, 503, 65535)),
    replicas: fc.constantFrom(...lists),
    body: fc.oneof(
      { weight: 9, arbitrary: fc.uint8Array({ maxLength: 200 }) },
      {
        weight: 1,
        arbitrary: fc.nat(70_000).map((length) => new Uint8Array(length).fill(length)),
      },
    ),
  })
  .map(({ number: { hi, lo }, dueMs, retryMs, triedMs, ...rest }) => {
    const due = dueMs ?? rest.startMs + (rest.sequence + 1) * rest.gapMs;
    return { ...rest, hi, lo, dueMs: due, retryMs: retryMs ?? due, triedMs: triedMs ?? due };
  });

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('put' as const), record }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), number }) },
);

function keyOf({ hi, lo }: { hi: number; lo: number }): string {
  return `${hi}.${lo}`;
}

function plain(hi: number, lo: number, body: Uint8Array = new Uint8Array(100)): TimerRecord {
  return {
    hi,
    lo,
    namespace: 'default',
    factor: 2,
    versionMs: 1_800_000_000_000,
    versionTie: 1024,
    state: State.live,
    sequence: 0,
    attempt: 0,
    startMs: 1234.5,
    dueMs: 11_234.5,
    gapMs: 10_000,
    retryMs: 11_234.5,
    triedMs: 11_234.5,
    outcome: 0,
    replicas: ['a', 'b'],
    body,
  };
}

/** All handles in order, taken in slices. */
function everything(store: Store, limit: number): number[] {
  const out: number[] = [];
  let after: Position | null = null;
  do after = store.next(after, limit, out);
  while (after !== null);
  return out;
}

describe('store', () => {
  it('holds the same as a map, field by field, after any puts and removals', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
        const store = new Store();
        const twin = new Map<string, TimerRecord>();
        const handles = new Map<string, number>();
        for (const op of operations) {
          if (op.do === 'put') {
            const handle = store.put(op.record);
            const known = handles.get(keyOf(op.record));
            if (known !== undefined) expect(handle).toBe(known);
            handles.set(keyOf(op.record), handle);
            twin.set(keyOf(op.record), op.record);
          } else {
            const { hi, lo } = op.number;
            expect(store.remove(hi, lo)).toBe(twin.delete(keyOf(op.number)));
            handles.delete(keyOf(op.number));
            expect(store.get(hi, lo)).toBeUndefined();
            expect(store.find(hi, lo)).toBe(-1);
          }
        }
        expect(store.size).toBe(twin.size);
        for (const expected of twin.values()) {
          expect(store.get(expected.hi, expected.lo)).toEqual(expected);
          const handle = store.find(expected.hi, expected.lo);
          const { versionMs, versionTie, state, sequence, attempt } = expected;
          expect(store.progressOf(handle)).toEqual({
            versionMs,
            versionTie,
            state,
            sequence,
            attempt,
          });
          expect(store.stateOf(handle)).toBe(expected.state);
          expect(store.replicasOf(handle)).toEqual(expected.replicas);
          expect(store.namespaceOf(handle)).toBe(expected.namespace);
        }
        const states = [...twin.values()].map((one) => one.state);
        expect(store.counts).toEqual({
          live: states.filter((state) => state === State.live).length,
          dead: states.filter((state) => state === State.dead).length,
          tombstone: states.filter((state) => state === State.tombstone).length,
        });
        const seen = everything(store, 3).map((handle) => keyOf(store.read(handle)));
        expect(seen.toSorted()).toEqual([...twin.keys()].toSorted());
      }),
      { numRuns: 150 },
    );
  });

  it('walks in one order, for any order of insertion and any size of slices', () => {
    const random = new SeededRandom(1);
    const numbers = Array.from({ length: 5000 }, () => ({ hi: random.u32(), lo: random.u32() }));
    const forward = new Store();
    const backward = new Store();
    for (const { hi, lo } of numbers) forward.put(plain(hi, lo));
    for (const { hi, lo } of numbers.toReversed()) backward.put(plain(hi, lo));
    const keys = (store: Store, limit: number): string[] =>
      everything(store, limit).map((handle) => keyOf(store.read(handle)));
    expect(keys(forward, 7)).toEqual(keys(backward, 5000));
    const byRange: string[] = [];
    for (let range = 0; range < 256; range++) {
      forward.walk(range, (handle) => {
        const { hi, lo } = forward.read(handle);
        expect(forward.rangeOf(hi, lo)).toBe(range);
        byRange.push(keyOf({ hi, lo }));
      });
    }
    expect(byRange).toEqual(keys(forward, 100));
  });

  it('shows each record that stays exactly once to a walk, while others come and go', () => {
    const random = new SeededRandom(2);
    const store = new Store();
    const staying = new Set<string>();
    for (let i = 0; i < 3000; i++) {
      const hi = random.u32();
      store.put(plain(hi, 1));
      staying.add(keyOf({ hi, lo: 1 }));
    }
    const passing: number[] = [];
    const seen: string[] = [];
    const next = store.records();
    let last: Position | null = null;
    for (let found = next(); found !== undefined; found = next()) {
      expect(found).toMatchObject(store.get(found.hi, found.lo) as TimerRecord);
      expect(last === null ? -1 : compareNumbers(last, found)).toBeLessThan(0);
      last = { hi: found.hi, lo: found.lo };
      if (found.lo === 1) seen.push(keyOf(found));
      // Now and then: between two changes, handles that were read ahead are used.
      if (random.u32() % 8 > 0) continue;
      const hi = random.u32();
      store.put(plain(hi, 2));
      passing.push(hi);
      if (passing.length > 100) store.remove(passing.shift() as number, 2);
    }
    expect(seen.length).toBe(staying.size);
    expect(new Set(seen)).toEqual(staying);
    expect(next()).toBeUndefined();
  });

  it('goes on behind a cursor whose record is gone', () => {
    const store = new Store();
    for (let lo = 0; lo < 100; lo++) store.put(plain(1, lo));
    const all = everything(store, 100).map((handle) => store.loOf(handle));
    const first: number[] = [];
    const cursor = store.next(null, 40, first) as Position;
    store.remove(cursor.hi, cursor.lo);
    const rest: number[] = [];
    store.next(cursor, 100, rest);
    expect(rest.map((handle) => store.loOf(handle))).toEqual(all.slice(40));
  });

  it('gives memory back after a great many records have gone, and keeps the rest intact', () => {
    const store = new Store();
    const random = new SeededRandom(3);
    const body = (lo: number): Uint8Array => new Uint8Array(250 + (lo % 90)).fill(lo & 255);
    const count = 100_000;
    for (let lo = 0; lo < count; lo++) store.put(plain(0, lo, body(lo)));
    const before = store.bytes;
    const left: number[] = [];
    for (let lo = 0; lo < count; lo++) {
      if (random.chance(0.7)) store.remove(0, lo);
      else left.push(lo);
    }
    // Compaction goes on with each change.
    for (let i = 0; i < count / 16; i++)
      store.put(plain(0, left[0] as number, body(left[0] as number)));
    expect(store.size).toBe(left.length);
    expect(store.bytes).toBeLessThan(before * 0.6);
    for (const lo of left) {
      const { body: found } = store.get(0, lo) as TimerRecord;
      expect(Buffer.compare(found, body(lo))).toBe(0);
    }
  });

  it('takes less than half a megabyte for few records', () => {
    const store = new Store();
    for (let lo = 0; lo < 100; lo++) store.put(plain(0, lo, new Uint8Array(lo)));
    expect(store.bytes).toBeLessThan(500_000);
  });

  it('reuses the room of removed records instead of growing', () => {
    const store = new Store();
    for (let lo = 0; lo < 20_000; lo++) store.put(plain(0, lo));
    const { bytes } = store;
    for (let round = 0; round < 4; round++) {
      for (let lo = 0; lo < 20_000; lo++) {
        store.remove(round, lo);
        store.put(plain(round + 1, lo));
      }
    }
    expect(store.size).toBe(20_000);
    expect(store.bytes).toBeLessThan(bytes * 1.1);
  });

  it('hands out records that do not change with the store', () => {
    const store = new Store();
    store.put(plain(1, 1, Uint8Array.of(1, 2, 3)));
    const taken = store.get(1, 1) as TimerRecord;
    store.put({ ...plain(1, 1, Uint8Array.of(9, 9, 9)), sequence: 4 });
    expect([...taken.body]).toEqual([1, 2, 3]);
    expect(taken.sequence).toBe(0);
  });

  it('keeps an alarm over a replacement and drops it with the record', () => {
    const store = new Store();
    const handle = store.put(plain(1, 1));
    expect(store.nextAlarmMs()).toBeNull();
    store.arm(handle, 500);
    store.put({ ...plain(1, 1), sequence: 1 });
    const out: number[] = [];
    expect([store.takeDue(499, 10, out), store.takeDue(500, 10, out), out]).toEqual([
      0,
      1,
      [handle],
    ]);
    store.arm(handle, 600);
    store.remove(1, 1);
    expect(store.nextAlarmMs()).toBeNull();
    expect(store.takeDue(1000, 10, out)).toBe(0);
    expect(() => store.arm(handle, 5)).toThrow(/invariant/);
  });

  it('hands out due alarms once, oldest first', () => {
    const store = new Store();
    const late = store.put(plain(1, 1));
    const early = store.put(plain(1, 2));
    store.arm(late, 300);
    store.arm(early, 200);
    const out: number[] = [];
    expect(store.takeDue(400, 10, out)).toBe(2);
    expect(out).toEqual([early, late]);
    expect(store.takeDue(400, 10, out)).toBe(0);
    expect(store.nextAlarmMs()).toBeNull();
  });
});

it('dead letters are walked by themselves, in the order of all walks', () => {
  const store = new Store();
  const all = Array.from({ length: 50 }, (_, lo) =>
    recordOf({ hi: 1, lo, state: lo % 3 === 0 ? State.dead : State.live }),
  );
  for (const one of all) store.put(one);
  store.put(recordOf({ hi: 1, lo: 0, state: State.tombstone }));
  store.remove(1, 3);
  store.put(recordOf({ hi: 1, lo: 1, state: State.dead }));
  const expected: number[] = [];
  const handles: number[] = [];
  store.next(null, 1000, handles);
  for (const handle of handles)
    if (store.stateOf(handle) === State.dead) expected.push(store.loOf(handle));
  const walked: number[] = [];
  let after: Position | null = null;
  do {
    const slice: number[] = [];
    after = store.nextLetters(after, 4, slice);
    walked.push(...slice.map((handle) => store.loOf(handle)));
  } while (after !== null);
  expect(walked).toEqual(expected);
  expect(walked).toHaveLength(16);
});
