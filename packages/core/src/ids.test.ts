import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  factorMax,
  formatTimerId,
  hex16,
  NumberSource,
  parseHex16,
  parseLooseTimerId,
  parseTimerId,
  shortKey,
} from './ids.ts';

const half = fc.oneof(
  fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
);
const id = fc.record({
  hi: half,
  lo: half,
  bloomHi: half,
  bloomLo: half,
  factor: fc.integer({ min: 1, max: factorMax }),
});

describe('timer ids', () => {
  it('format and parse are inverse, for any id', () => {
    fc.assert(
      fc.property(id, (one) => {
        expect(parseTimerId(formatTimerId(one))).toEqual(one);
      }),
    );
  });

  it.each([
    ['0123456789abcdef-2', { hi: 0x01234567, lo: 0x89abcdef, bloomHi: 0, bloomLo: 0, factor: 2 }],
    [
      'ffffffff00000000800000000000000f-16',
      { hi: 0xffffffff, lo: 0, bloomHi: 0x80000000, bloomLo: 15, factor: 16 },
    ],
  ])('%s', (text, expected) => {
    expect(parseTimerId(text)).toEqual(expected);
    expect(formatTimerId(expected)).toBe(text);
  });

  it('a bloom filter of zeros is none', () => {
    const number = '0123456789abcdef';
    expect(parseTimerId(`${number}${'0'.repeat(16)}-2`)).toEqual(parseTimerId(`${number}-2`));
  });

  it.each([
    '',
    '-',
    '0123456789abcdef',
    '0123456789abcdef-',
    '0123456789abcdef-0',
    '0123456789abcdef-00',
    '0123456789abcdef-01',
    '0123456789abcdef-17',
    '0123456789abcdef-99',
    '0123456789abcdef-100',
    '0123456789abcdef--1',
    '0123456789abcdef-1 ',
    '0123456789abcdef-1\n',
    ' 0123456789abcdef-1',
    '0123456789ABCDEF-1',
    '0123456789abcde-1',
    '0123456789abcdef0-1',
    '0123456789abcdef0123456789abcde-1',
    '0123456789abcdef0123456789abcdef0-1',
    '0123456789abcdeg-1',
    '../etc-1',
  ])('%j is no id', (text) => expect(parseTimerId(text)).toBeNull());

  it('any text is an id in its one spelling, or none', () => {
    const near = fc.string({
      unit: fc.constantFrom('0', '9', 'a', 'f', '-', '1', 'g', 'A'),
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), (text) => {
        const parsed = parseTimerId(text);
        if (parsed === null || (parsed.bloomHi === 0 && parsed.bloomLo === 0)) return;
        expect(formatTimerId(parsed)).toBe(text);
      }),
    );
  });

  it('hex16 and parseHex16 are each other turned round', () => {
    fc.assert(
      fc.property(half, half, (hi, lo) => {
        expect(parseHex16(hex16(hi, lo))).toEqual({ hi, lo });
      }),
    );
    for (const text of [
      '',
      '0'.repeat(15),
      '0'.repeat(17),
      'G'.repeat(16),
      `0x${'0'.repeat(14)}`,
    ]) {
      expect(parseHex16(text)).toBeNull();
    }
  });
});

describe('NumberSource', () => {
  const startMs = Date.UTC(2026, 0, 1);

  function take(source: NumberSource, wallMs: number, member = 5): string {
    const { hi, lo } = source.next(wallMs, member);
    return hex16(hi, lo);
  }

  it('has milliseconds, member and counter in their places', () => {
    const source = new NumberSource(0);
    const first = source.next(startMs, 1023);
    expect(first.hi * 2 ** 10 + (first.lo >>> 22)).toBe(startMs);
    expect((first.lo >>> 12) & 1023).toBe(1023);
    expect(first.lo & 4095).toBe(0);
    expect(source.next(startMs, 1023).lo & 4095).toBe(1);
  });

  it('never repeats, and only rises, over clock steps and restarts of any kind', () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant('take' as const), count: fc.integer({ min: 1, max: 5000 }) }),
      fc.record({
        kind: fc.constant('step' as const),
        ms: fc.integer({ min: -10_000, max: 10_000 }),
      }),
      fc.record({ kind: fc.constant('restart' as const) }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        let source = new NumberSource(0);
        let wallMs = startMs;
        let last = '';
        for (const one of events) {
          if (one.kind === 'step') wallMs += one.ms;
          else if (one.kind === 'restart') source = new NumberSource(source.usedMs);
          for (let i = 0; one.kind === 'take' && i < one.count; i++) {
            const next = take(source, wallMs);
            if (next <= last) throw new Error(`${next} came after ${last}.`);
            last = next;
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('a restart within the same millisecond goes on with the next one', () => {
    const before = new NumberSource(0);
    const used = Array.from({ length: 10 }, () => take(before, startMs));
    const after = new NumberSource(before.usedMs);
    const fresh = Array.from({ length: 10 }, () => take(after, startMs));
    expect(new Set([...used, ...fresh]).size).toBe(20);
  });

  it('two members never give out the same number', () => {
    const one = new NumberSource(0);
    const other = new NumberSource(0);
    const numbers = Array.from({ length: 5000 }, () => [
      take(one, startMs, 1),
      take(other, startMs, 2),
    ]);
    expect(new Set(numbers.flat()).size).toBe(10_000);
  });

  it('borrows from the next millisecond when 4096 are not enough', () => {
    const source = new NumberSource(0);
    for (let i = 0; i < 4096; i++) take(source, startMs);
    expect(source.usedMs).toBe(startMs);
    take(source, startMs);
    expect(source.usedMs).toBe(startMs + 1);
  });
});

/** Reads an id as its form says; slower. */
function twinOf(text: string): ReturnType<typeof parseLooseTimerId> {
  const match = /^([0-9a-f]{16})([0-9a-f]{16})?(?:-([1-9][0-9]?))?$/.exec(text);
  if (match === null || Number(match[3] ?? 1) > factorMax) return null;
  const [, number = '', bloom = '0'.repeat(16)] = match;
  const word = (digits: string, at: number): number => Number(`0x${digits.slice(at, at + 8)}`);
  return {
    hi: word(number, 0),
    lo: word(number, 8),
    bloomHi: word(bloom, 0),
    bloomLo: word(bloom, 8),
    factor: match[3] === undefined ? null : Number(match[3]),
  };
}

describe('a text that may be an id', () => {
  const hex = (length: number) =>
    fc.string({
      unit: fc.constantFrom('0', '1', '8', '9', 'a', 'f'),
      minLength: length,
      maxLength: length,
    });
  const factors = fc.constantFrom(
    '',
    '-',
    '-0',
    '-1',
    '-9',
    '-01',
    '-16',
    '-17',
    '-1a',
    '-100',
    '-1-1',
  );
  const texts = fc
    .tuple(fc.constantFrom(0, 15, 16, 17, 31, 32, 33).chain(hex), factors)
    .map((parts) => parts.join(''));
  const spoilt = fc
    .tuple(
      texts,
      fc.nat(40),
      fc.constantFrom('', 'g', 'A', 'F', '`', '/', ':', '-', ' ', 'é', '\n'),
    )
    .map(([text, at, put]) => text.slice(0, at) + put + text.slice(at + 1));

  it('is read as its form says, or not at all', () => {
    const seen = { ids: 0, others: 0 };
    fc.assert(
      fc.property(fc.oneof(texts, spoilt), (text) => {
        const read = parseLooseTimerId(text);
        seen[read === null ? 'others' : 'ids']++;
        expect(read).toEqual(twinOf(text));
      }),
      { numRuns: 1000 },
    );
    expect(Math.min(seen.ids, seen.others)).toBeGreaterThan(20);
  });
});

describe('shortKey', () => {
  it('is one for all ids of a timer, and differs among numbers that a client counts up', () => {
    fc.assert(
      fc.property(id, half, (one, bloomHi) => {
        const other = { ...one, bloomHi };
        expect(shortKey(other)).toBe(shortKey(one));
      }),
    );
    const keys = [0, 1, 0xdeadbeef].map(
      (hi) => new Set(Array.from({ length: 1000 }, (_, lo) => shortKey({ hi, lo }))).size,
    );
    expect(keys).toEqual([1000, 1000, 1000]);
  });
});
