import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter } from './bytes.ts';
import {
  decodeTrace,
  encodeTrace,
  isSampled,
  parseTraceparent,
  spanIdOf,
  traceBytes,
  traceIdOf,
} from './traceparent.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const span = 'b7ad6b7169203331';

describe('traceparent', () => {
  it.each([
    [`00-${trace}-${span}-01`, `00-${trace}-${span}-01`],
    [`00-${trace}-${span}-00`, `00-${trace}-${span}-00`],
    [`cc-${trace}-${span}-01`, `00-${trace}-${span}-01`],
    [`cc-${trace}-${span}-01-what-the-future-is-like`, `00-${trace}-${span}-01`],
    [`00-${trace}-${span}-01-more`, null],
    [`00-${trace}-${span}-01 `, null],
    [`cc-${trace}-${span}-01.more`, null],
    [`ff-${trace}-${span}-01`, null],
    [`00-${trace.toUpperCase()}-${span}-01`, null],
    [`00-${'0'.repeat(32)}-${span}-01`, null],
    [`00-${trace}-${'0'.repeat(16)}-01`, null],
    [`00-${trace}-${span}-0x`, null],
    [`00_${trace}_${span}_01`, null],
    [`00-${trace}-${span}`, null],
    ['', null],
  ])('%j is read as %j', (text, expected) => {
    expect(parseTraceparent(text)).toBe(expected);
  });

  it('has a trace, a span and a flag that tells whether it is recorded', () => {
    const parsed = `00-${trace}-${span}-03`;
    expect([traceIdOf(parsed), spanIdOf(parsed)]).toEqual([trace, span]);
    expect(isSampled(parsed)).toBe(true);
    expect(isSampled(`00-${trace}-${span}-02`)).toBe(false);
  });

  it('agrees with the form of the standard on any text near it', () => {
    const form = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
    const hex = (length: number) =>
      fc.string({
        unit: fc.constantFrom(...'0123456789abcdefAg-'.split('')),
        minLength: length,
        maxLength: length,
      });
    const near = fc.tuple(hex(32), hex(16), hex(2)).map(([a, b, c]) => `00-${a}-${b}-${c}`);
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), (text) => {
        expect(parseTraceparent(text) !== null).toBe(form.test(text));
      }),
    );
  });

  it('is 25 bytes, and the same again when they are read', () => {
    const hex = (length: number) =>
      fc
        .string({
          unit: fc.constantFrom(...'0123456789abcdef'.split('')),
          minLength: length,
          maxLength: length,
        })
        .filter((text) => /[^0]/.test(text));
    fc.assert(
      fc.property(hex(32), hex(16), fc.constantFrom('00', '01', 'ff'), (a, b, flags) => {
        const text = `00-${a}-${b}-${flags}`;
        const out = new ByteWriter();
        encodeTrace(out, text);
        expect(out.length).toBe(traceBytes);
        expect(decodeTrace(new ByteReader(out.copy()))).toBe(text);
      }),
    );
  });
});
