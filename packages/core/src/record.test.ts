import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter, MalformedError } from './bytes.ts';
import { factorMax } from './ids.ts';
import {
  compareProgress,
  decodeRecord,
  decodeRecordInto,
  encodeRecord,
  type Progress,
  RecordBuffer,
  State,
  type TimerRecord,
} from './record.ts';

const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
/** Whole milliseconds far below 2⁵³, so that moving them by a base is exact. */
const ms = fc.integer({ min: -(2 ** 43), max: 2 ** 43 });
const text = fc.string({ unit: 'binary' });

const record: fc.Arbitrary<TimerRecord> = fc
  .record({
    hi: u32,
    lo: u32,
    versionMs: fc.nat({ max: 2 ** 48 - 1 }),
    versionTie: u32,
    namespace: text,
    factor: fc.integer({ min: 1, max: factorMax }),
    state: fc.constantFrom(State.live, State.dead, State.tombstone),
    sequence: fc.maxSafeNat(),
    attempt: fc.oneof(fc.constant(0), fc.maxSafeNat()),
    startMs: ms,
    dueMs: ms,
    gapMs: ms,
    retryMs: ms,
    triedMs: fc.option(ms),
    outcome: fc.integer({ min: 0, max: 65_535 }),
    replicas: fc.array(text, { maxLength: 20 }),
    body: fc.uint8Array({ maxLength: 200 }),
  })
  .map(({ triedMs, ...one }) =>
    one.attempt === 0
      ? { ...one, retryMs: one.dueMs, triedMs: one.dueMs }
      : { ...one, triedMs: triedMs ?? one.dueMs },
  );

function bytesOf(one: TimerRecord, baseMs: number): Uint8Array {
  const out = new ByteWriter(8);
  encodeRecord(out, one, baseMs);
  return out.copy();
}

describe('records as bytes', () => {
  it('come back as they were under the same base', () => {
    fc.assert(
      fc.property(record, ms, (one, baseMs) => {
        const from = new ByteReader(bytesOf(one, baseMs));
        expect(decodeRecord(from, baseMs)).toEqual(one);
        expect(from.left).toBe(0);
      }),
    );
  });

  it('times move with the base, durations and versions do not', () => {
    fc.assert(
      fc.property(record, ms, ms, (one, writtenMs, readMs) => {
        const moved = decodeRecord(new ByteReader(bytesOf(one, writtenMs)), readMs);
        const byMs = readMs - writtenMs;
        expect(moved).toEqual({
          ...one,
          startMs: one.startMs + byMs,
          dueMs: one.dueMs + byMs,
          retryMs: one.retryMs + byMs,
          triedMs: one.triedMs + byMs,
        });
      }),
    );
  });

  it('follow one another in one message', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 5 }), (all) => {
        const out = new ByteWriter();
        for (const one of all) encodeRecord(out, one, 0);
        const from = new ByteReader(out.copy());
        expect(all.map(() => decodeRecord(from, 0))).toEqual(all);
      }),
    );
  });

  it('read one after the other into one buffer they are the same', () => {
    const buffer = new RecordBuffer();
    fc.assert(
      fc.property(record, ms, (one, baseMs) => {
        decodeRecordInto(buffer, new ByteReader(bytesOf(one, baseMs)), baseMs);
        expect(buffer).toEqual(one);
      }),
    );
  });

  it('cut anywhere they are malformed', () => {
    fc.assert(
      fc.property(record, fc.double({ min: 0, max: 0.999, noNaN: true }), (one, share) => {
        const bytes = bytesOf(one, 0);
        const cut = bytes.subarray(0, Math.floor(bytes.length * share));
        expect(() => decodeRecord(new ByteReader(cut), 0)).toThrow(MalformedError);
      }),
    );
  });

  it('any bytes, and any damage to good ones, give a sound record or MalformedError', () => {
    const change = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
    const damaged = fc
      .tuple(record, fc.array(change, { minLength: 1, maxLength: 4 }))
      .map(([one, changes]) => {
        const bytes = bytesOf(one, 0);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 120 }), damaged), (bytes) => {
        try {
          expectSound(decodeRecord(new ByteReader(bytes), 0));
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedError);
        }
      }),
      { numRuns: 1000 },
    );
  });

  function expectSound(one: TimerRecord): void {
    for (const time of [
      one.versionMs,
      one.startMs,
      one.dueMs,
      one.gapMs,
      one.retryMs,
      one.triedMs,
    ]) {
      if (!Number.isFinite(time)) throw new Error('A time is not finite.');
    }
    if (one.factor < 1 || one.factor > factorMax) throw new Error('The factor is out of range.');
    if (one.state > State.tombstone) throw new Error('The state is unknown.');
  }

  const good: TimerRecord = {
    hi: 1,
    lo: 2,
    versionMs: 3,
    versionTie: 4,
    namespace: 'default',
    factor: 2,
    state: State.live,
    sequence: 5,
    attempt: 1,
    startMs: 6,
    dueMs: 7,
    gapMs: 8,
    retryMs: 9,
    triedMs: 10,
    outcome: 503,
    replicas: ['a', 'b'],
    body: Uint8Array.of(1),
  };

  it.each([
    ['an unknown state', { state: 3 as State }],
    ['factor 0', { factor: 0 }],
    ['factor 17', { factor: 17 }],
    ['an endless version', { versionMs: Number.POSITIVE_INFINITY }],
    ['a version far in the future', { versionMs: 2 ** 48 }],
    ['a version before all time', { versionMs: -1 }],
    ['a start that is no number', { startMs: Number.NaN }],
    ['an endless due time', { dueMs: Number.NEGATIVE_INFINITY }],
    ['a gap that is no number', { gapMs: Number.NaN }],
    ['a retry that is no number', { retryMs: Number.NaN }],
    ['a first attempt that is no number', { triedMs: Number.NaN }],
  ])('%s is malformed', (_, change) => {
    const bytes = bytesOf({ ...good, ...change }, 0);
    expect(() => decodeRecord(new ByteReader(bytes), 0)).toThrow(MalformedError);
  });

  it('a body of a decoded record is a view: it costs no copy', () => {
    const bytes = bytesOf(good, 0);
    expect(decodeRecord(new ByteReader(bytes), 0).body.buffer).toBe(bytes.buffer);
  });
});

describe('compareProgress', () => {
  /** Each is newer than the one before, by the rule named. */
  const rising: [string, Progress][] = [
    ['the oldest', { versionMs: 1, versionTie: 9, state: 2, sequence: 9, attempt: 9 }],
    ['version', { versionMs: 2, versionTie: 0, state: 0, sequence: 5, attempt: 5 }],
    ['tie', { versionMs: 2, versionTie: 1, state: 0, sequence: 1, attempt: 7 }],
    ['attempt', { versionMs: 2, versionTie: 1, state: 0, sequence: 1, attempt: 8 }],
    ['sequence', { versionMs: 2, versionTie: 1, state: 0, sequence: 2, attempt: 0 }],
    ['state dead', { versionMs: 2, versionTie: 1, state: 1, sequence: 0, attempt: 0 }],
    ['state tombstone', { versionMs: 2, versionTie: 1, state: 2, sequence: 0, attempt: 0 }],
    ['version again', { versionMs: 3, versionTie: 0, state: 0, sequence: 0, attempt: 0 }],
  ];

  it('every pair: version, then state, then sequence, then attempt', () => {
    for (const [i, [nameA, a]] of rising.entries()) {
      for (const [j, [nameB, b]] of rising.entries()) {
        expect(Math.sign(compareProgress(a, b)), `${nameA} against ${nameB}`).toBe(
          Math.sign(i - j),
        );
      }
    }
  });
});
