import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter, MalformedError } from './bytes.ts';

const text = fc.string({ unit: 'binary' });
const blob = fc.uint8Array({ maxLength: 300 });
const whole = fc.maxSafeNat();

/** Anything that can be written, with the reading that must give it back. */
const item = fc.oneof(
  fc.record({ kind: fc.constant('u8' as const), value: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ kind: fc.constant('u16' as const), value: fc.integer({ min: 0, max: 65_535 }) }),
  fc.record({ kind: fc.constant('u32' as const), value: fc.integer({ min: 0, max: 2 ** 32 - 1 }) }),
  fc.record({ kind: fc.constant('f64' as const), value: fc.double() }),
  fc.record({ kind: fc.constant('varint' as const), value: whole }),
  fc.record({ kind: fc.constant('text' as const), value: text }),
  fc.record({ kind: fc.constant('blob' as const), value: blob }),
);
type Item = typeof item extends fc.Arbitrary<infer T> ? T : never;

function write(out: ByteWriter, one: Item): void {
  if (one.kind === 'text') out.text(one.value);
  else if (one.kind === 'blob') out.blob(one.value);
  else out[one.kind](one.value);
}

function read(from: ByteReader, { kind }: Item): unknown {
  return from[kind]();
}

describe('ByteWriter and ByteReader', () => {
  it('give back any sequence of values, for every first capacity', () => {
    fc.assert(
      fc.property(fc.array(item), fc.integer({ min: 0, max: 64 }), (items, capacity) => {
        const out = new ByteWriter(capacity);
        for (const one of items) write(out, one);
        const bytes = out.copy();
        expect(bytes).toHaveLength(out.length);
        const from = new ByteReader(bytes);
        for (const one of items) expect(read(from, one)).toEqual(one.value);
        expect(from.left).toBe(0);
      }),
    );
  });

  it('throw MalformedError for any cut message, and never read past its end', () => {
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 1 }),
        fc.double({ min: 0, max: 0.99, noNaN: true }),
        (items, share) => {
          const out = new ByteWriter();
          for (const one of items) write(out, one);
          const written = out.copy();
          // The bytes behind the cut are still in the buffer: reading past the end would succeed instead of throwing.
          const cut = written.subarray(0, Math.floor(written.length * share));
          expect(() => {
            const from = new ByteReader(cut);
            for (const one of items) read(from, one);
          }).toThrow(MalformedError);
        },
      ),
    );
  });

  it('throw nothing but MalformedError for any bytes read in any way', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.array(item), (bytes, items) => {
        const from = new ByteReader(bytes);
        try {
          for (const one of items) read(from, one);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedError);
        }
      }),
    );
  });

  it.each([
    [0, 1],
    [127, 1],
    [128, 2],
    [16_383, 2],
    [16_384, 3],
    [2 ** 32, 5],
    [Number.MAX_SAFE_INTEGER, 8],
  ])('varint %d takes %d bytes', (value, length) => {
    const out = new ByteWriter();
    out.varint(value);
    expect(out.length).toBe(length);
    expect(new ByteReader(out.written()).varint()).toBe(value);
  });

  it.each([
    ['nine bytes', [255, 255, 255, 255, 255, 255, 255, 255, 1]],
    ['54 bits', [255, 255, 255, 255, 255, 255, 255, 31]],
  ])('a number longer than 53 bits is malformed (%s)', (_, bytes) => {
    expect(() => new ByteReader(Uint8Array.from(bytes)).varint()).toThrow(MalformedError);
  });

  it('a blob that claims more than there is, is malformed and reserves nothing', () => {
    const out = new ByteWriter();
    out.varint(Number.MAX_SAFE_INTEGER);
    expect(() => new ByteReader(out.written()).blob()).toThrow(MalformedError);
    expect(() => new ByteReader(out.written()).text()).toThrow(MalformedError);
  });

  it.each([
    ['a lone continuation byte', [1, 0x80]],
    ['an overlong form', [2, 0xc0, 0x80]],
    ['half a character', [2, 0xe2, 0x82]],
    ['a surrogate', [3, 0xed, 0xa0, 0x80]],
  ])('text that is not UTF-8 is malformed (%s)', (_, bytes) => {
    expect(() => new ByteReader(Uint8Array.from(bytes)).text()).toThrow(MalformedError);
    expect(() => new ByteReader(Uint8Array.from(bytes)).uniqueText()).toThrow(MalformedError);
  });

  it.each([
    '\ufeff',
    '\ufeffabc',
    'a\ufeff',
    '\0',
    'x'.repeat(127),
    'x'.repeat(128),
    'ü'.repeat(127),
    `${'x'.repeat(126)}ü`,
  ])('text %j comes back as it was', (value) => {
    const out = new ByteWriter(1);
    out.text(value);
    expect(new ByteReader(out.written()).text()).toBe(value);
    expect(new ByteReader(out.written()).uniqueText()).toBe(value);
  });

  it('reset starts over, copy stays as it was, patchU32 changes only its four bytes', () => {
    const out = new ByteWriter(4);
    out.u32(1);
    out.u32(2);
    const kept = out.copy();
    out.patchU32(0, 0xffffffff);
    expect([...out.written()]).toEqual([255, 255, 255, 255, 2, 0, 0, 0]);
    expect([...kept]).toEqual([1, 0, 0, 0, 2, 0, 0, 0]);
    out.reset();
    out.u8(9);
    expect([...out.written()]).toEqual([9]);
  });

  it('a reader on a part of a buffer sees that part only', () => {
    const from = new ByteReader(Uint8Array.of(1, 2, 3, 4, 5, 6).subarray(1, 5));
    expect(from.u32()).toBe(0x05040302);
    expect(() => from.u8()).toThrow(MalformedError);
  });

  it('texts from one buffer that is filled again and again are each right', () => {
    const buffer = Buffer.alloc(6, 5);
    for (let i = 10_000; i < 14_000; i++) {
      buffer.write(String(i), 1);
      expect(new ByteReader(buffer).text()).toBe(String(i));
    }
  });

  it('a lent blob has the bytes of a blob, until the next one is lent', () => {
    fc.assert(
      fc.property(blob, blob, (first, second) => {
        const out = new ByteWriter();
        out.blob(first);
        out.blob(second);
        const from = new ByteReader(out.written());
        expect([...from.lentBlob()]).toEqual([...first]);
        expect([...from.lentBlob()]).toEqual([...second]);
        expect(from.left).toBe(0);
      }),
    );
    expect(() => new ByteReader(Uint8Array.of(3, 1, 2)).lentBlob()).toThrow(MalformedError);
  });
});
