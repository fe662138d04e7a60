import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fifo } from './fifo.ts';

describe('Fifo', () => {
  it('gives the same as an array, for any order of pushes and shifts', () => {
    // Runs of one kind, long enough to cross the point where the space in front is given back.
    const run = fc.record({ push: fc.boolean(), count: fc.integer({ min: 1, max: 3000 }) });
    fc.assert(
      fc.property(fc.array(run, { maxLength: 12 }), (runs) => {
        const fifo = new Fifo<number>();
        const twin: number[] = [];
        let next = 0;
        for (const { push, count } of runs) {
          for (let i = 0; i < count; i++) {
            if (push) {
              fifo.push(next);
              twin.push(next++);
            } else if (fifo.shift() !== twin.shift()) {
              return false;
            }
          }
          if (fifo.length !== twin.length) return false;
        }
        return true;
      }),
      { numRuns: 50 },
    );
    expect(new Fifo().shift()).toBeUndefined();
  });
});
