import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { desiredReplicas, possibleHolders } from './desired.ts';
import { View, type ViewMember } from './view.ts';

function member(name: string, labels: Record<string, string> = {}): ViewMember {
  return { name, phase: 'active', address: `${name}:1`, peer: `${name}:2`, weight: 1, labels };
}

function viewOf(names: readonly string[]): View {
  return new View({ source: 'static', revision: 1, members: names.map((name) => member(name)) });
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

test('with labels too, and a stand-in is none of the replicas', () => {
  const shape = fc.record({
    hi: numbers,
    lo: numbers,
    factor: fc.integer({ min: 1, max: 4 }),
    zones: fc.array(fc.nat(3), { minLength: 2, maxLength: 16 }),
    gone: fc.array(fc.nat(15), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(shape, ({ hi, lo, factor, zones, gone }) => {
      const members = zones.map((zone, i) => member(`m${i}`, { zone: `z${zone}` }));
      const present = new View({ source: 'static', revision: 1, members });
      const possible = possibleHolders(present, { hi, lo, factor });
      const left = members.filter((_, i) => !gone.includes(i));
      const without = new View({ source: 'static', revision: 2, members: left });
      for (const name of without.place(hi, lo, factor)) expect(possible).toContain(name);
      const ideal = present.place(hi, lo, factor);
      const desired = desiredReplicas(present, { hi, lo }, factor, (name) => name === ideal[0]);
      expect(desired.slice(0, ideal.length)).toEqual(ideal);
      expect(new Set(desired).size).toBe(desired.length);
      expect(desired).toHaveLength(Math.min(ideal.length + 1, members.length));
    }),
  );
});

test('members that join and members that leave may hold a record too', () => {
  const phases = ['active', 'joining', 'leaving'] as const;
  const members = phases.map((phase) => ({ ...member(phase), phase }));
  const view = new View({ source: 'etcd', revision: 1, members });
  expect(possibleHolders(view, { hi: 1, lo: 2, factor: 2 }).toSorted()).toEqual(phases);
});
