import { CarillonError } from '@carillon/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrayItems, type BatchItem } from './batch-items.ts';
import { BatchJson } from './batch-json.ts';
import { parseJson } from './json.ts';
import type { Steps } from './long-work.ts';

const limits = { batchItemCountMax: 1000, jsonDepthMax: 100, bodyBytesMax: 100_000 };
const utf8 = new TextEncoder();

function done<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Values and the words of errors, item by item. */
function each(body: Uint8Array, at: (index: number, item: BatchItem) => unknown): unknown[] {
  return done(arrayItems(body, limits)).map((item, index) => {
    try {
      return { value: at(index, item) };
    } catch (error) {
      if (error instanceof CarillonError) return error.message;
      throw error;
    }
  });
}

function together(body: Uint8Array, depthMax = 100): unknown[] {
  const items = done(arrayItems(body, limits));
  const json = new BatchJson({ body, items, isArray: true, depthMax });
  return each(body, (index) => json.at(index));
}

function oneByOne(body: Uint8Array): unknown[] {
  return each(body, (_, { from, to }) => parseJson(body.subarray(from, to), 101));
}

describe('items of a batch', () => {
  it('have the values and errors that each has by itself, however many are parsed in one go', () => {
    const broken = fc.constantFrom('', ' ', '}', '{]', '1 2', '"a', '[1', 'nul', '{"a":}', '\\');
    const good = fc.json({ maxDepth: 3 });
    const text = fc.oneof({ weight: 30, arbitrary: good }, { weight: 1, arbitrary: broken });
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 60 }),
        fc.nat(9000),
        (texts, blanks) => {
          const body = utf8.encode(`[${texts.join(`,${' '.repeat(blanks)}`)}]`);
          let expected: unknown[];
          try {
            expected = oneByOne(body);
          } catch (error) {
            // No array at all: brackets of a broken text ended it.
            expect(error).toBeInstanceOf(CarillonError);
            return;
          }
          expect(together(body)).toEqual(expected);
        },
      ),
    );
  });

  it('that are not UTF-8 are refused alone, and their neighbours are read', () => {
    const body = utf8.encode('[1,"x",{"a":2}]');
    body[4] = 0xff;
    expect(together(body)).toEqual([
      { value: 1 },
      'The body is not valid UTF-8.',
      { value: { a: 2 } },
    ]);
  });

  it('nested too deeply are refused, unless they name a change', () => {
    const body = utf8.encode('[{"timing":[[]]},{"change":[[]]},[[]]]');
    expect(together(body, 2)).toEqual([
      'The body is nested deeper than 2 levels.',
      { value: { change: [[]] } },
      { value: [[]] },
    ]);
  });
});
