import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { arrayItems, type BatchItem, shapeOf } from './batch-items.ts';
import type { Steps } from './long-work.ts';

const limits = { batchItemCountMax: 1000, jsonDepthMax: 100, bodyBytesMax: 100_000 };

function done<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

it('the walk over an array finds the shape that each item has by itself', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), (values) => {
      const bytes = new TextEncoder().encode(JSON.stringify(values));
      const items: BatchItem[] = done(arrayItems(bytes, limits));
      expect(items).toHaveLength(values.length);
      for (const item of items) {
        expect(item.shape).toEqual(shapeOf(bytes.subarray(item.from, item.to)));
      }
    }),
  );
});
