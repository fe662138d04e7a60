import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { possibleHolders } from './desired.ts';
import { View, type ViewMember } from './view.ts';

function member(name: string): ViewMember {
  return { name, phase: 'active', address: `${name}:1`, peer: `${name}:2`, weight: 1, labels: {} };
}

function viewOf(names: readonly string[]): View {
  return new View({ source: 'static', revision: 1, members: names.map(member) });
}

const numbers = fc.integer({ min: 0, max: 2 ** 32 - 1 });

test('members that are given a record in a view without up to three others are all among the possible holders', () => {
  const shape = fc.record({
    hi: numbers,
    lo: numbers,
    factor: fc.integer({ min: 1, max: 4 }),
    count: fc.integer({ min: 1, max: 20 }),
    gone: fc.array(fc.nat(19), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(shape, ({ hi, lo, factor, count, gone }) => {
      const names = Array.from({ length: count }, (_, i) => `m${i}`);
      const possible = possibleHolders(viewOf(names), { hi, lo, factor });
      const left = viewOf(names.filter((_, i) => !gone.includes(i)));
      for (const name of left.place(hi, lo, factor)) expect(possible).toContain(name);
    }),
  );
});
