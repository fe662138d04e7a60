import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeRange, decodeTxn, decodeWatch, prefixEnd } from './etcd-messages.ts';
import { ProtoReader, ProtoWriter } from './protobuf.ts';

describe('protobuf', () => {
  test('written fields can be read back', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: Number.MAX_SAFE_INTEGER }),
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        fc.string(),
        (number, big, text) => {
          const bytes = new ProtoWriter()
            .int(1, number)
            .bigint(2, big)
            .string(3, text)
            .message(300, (nested) => nested.int(1, 7))
            .finish();
          const reader = new ProtoReader(bytes);
          const seen: unknown[] = [0, 0n, '', 0];
          for (let field = reader.next(); field !== 0; field = reader.next()) {
            if (field === 1) seen[0] = reader.int();
            else if (field === 2) seen[1] = reader.bigint();
            else if (field === 3) seen[2] = reader.string();
            else if (field === 300) {
              const nested = reader.nested();
              nested.next();
              seen[3] = nested.int();
            }
          }
          expect(seen).toEqual([
            number,
            big,
            new TextDecoder().decode(new TextEncoder().encode(text)),
            7,
          ]);
        },
      ),
    );
  });

  test('the known bytes of a varint: 300 is ac 02', () => {
    expect([...new ProtoWriter().int(1, 300).finish()]).toEqual([0x08, 0xac, 0x02]);
  });

  test('bytes that are no message end in a RangeError, never in a hang or anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        for (const decode of [decodeRange, decodeTxn, decodeWatch]) {
          try {
            decode(bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('fixed-size fields of other versions are skipped', () => {
    const bytes = Uint8Array.of(0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4, 0x18, 5);
    const reader = new ProtoReader(bytes);
    expect([reader.next(), reader.next(), reader.next()]).toEqual([1, 2, 3]);
    expect(reader.int()).toBe(5);
  });
});

test('the end of a prefix is the first key after all that start with it', () => {
  expect([...prefixEnd('a/')]).toEqual([0x61, 0x30]);
  expect([...prefixEnd('')]).toEqual([0]);
});
