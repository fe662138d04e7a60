import fc from 'fast-check';
import { expect, it } from 'vitest';
import { desiredReplicas } from './desired.ts';
import { View, type ViewMember } from './view.ts';

function member(name: string, fields: Partial<ViewMember> = {}): ViewMember {
  return {
    name,
    address: `${name}:1`,
    peer: `${name}:2`,
    phase: 'active',
    weight: 1,
    labels: {},
    ...fields,
  };
}

function view(...members: ViewMember[]): View {
  return new View({ source: 'test', revision: 1, members });
}

const five = ['a', 'b', 'c', 'd', 'e'].map((name) => member(name));
const numbers = fc.record({ hi: fc.nat(0xffffffff), lo: fc.nat(0xffffffff) });

it('the order in which members are listed changes neither id nor placement', () => {
  const other = view(...five.toReversed());
  expect(other.id).toBe(view(...five).id);
  fc.assert(
    fc.property(numbers, ({ hi, lo }) => {
      expect(other.place(hi, lo, 3)).toEqual(view(...five).place(hi, lo, 3));
    }),
  );
});

it('the id changes with anything a member says of itself', () => {
  const ids = [
    view(member('a')),
    view(member('a', { phase: 'leaving' })),
    view(member('a', { weight: 2 })),
    view(member('a', { labels: { zone: 'x' } })),
    view(member('a', { peer: 'a:3' })),
    view(member('a'), member('b')),
  ].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

it('only active members are given timers', () => {
  const mixed = view(
    member('a'),
    member('b', { phase: 'joining' }),
    member('c', { phase: 'leaving' }),
  );
  expect(mixed.place(1, 2, 3)).toEqual(['a']);
  expect(mixed.activeCount).toBe(1);
});

it('replicas spread over zones', () => {
  const zoned = view(
    ...['a', 'b', 'c', 'd'].map((name, i) => member(name, { labels: { zone: i < 2 ? 'x' : 'y' } })),
  );
  fc.assert(
    fc.property(numbers, ({ hi, lo }) => {
      const zones = zoned.place(hi, lo, 2).map((name) => zoned.member(name)?.labels['zone']);
      expect(new Set(zones).size).toBe(2);
    }),
  );
});

it('a view with labels names its rule, and the member that distinct zones make hot', () => {
  const zoned = view(
    ...['a', 'b', 'b', 'b', 'c', 'c', 'c'].map((zone, i) => member(`n${i}`, { labels: { zone } })),
    member('gone', { labels: { zone: 'a' }, phase: 'leaving' }),
  );
  expect(zoned.placementId).toBe('carillon-labels-2');
  expect(zoned.hotSentences(3)).toHaveLength(1);
  expect(zoned.hotSentences(3)[0]).toMatch(/^n0 holds about 100 % .* zone a has no other member/);
  expect(zoned.hotSentences(2)).toEqual([]);
  expect(view(...five).placementId).toBe('carillon-placement-1');
});

it('every member finds the holders of a timer in the filter of its id', () => {
  const present = view(...five);
  fc.assert(
    fc.property(numbers, ({ hi, lo }) => {
      const replicas = present.place(hi, lo, 3);
      expect(present.heldBy(present.bloomOf(replicas))).toEqual(
        expect.arrayContaining([...replicas]),
      );
    }),
  );
  expect(present.heldBy({ hi: 0, lo: 0 })).toEqual([]);
});

it('gives each of a thousand members a number of its own', () => {
  const many = view(...Array.from({ length: 1000 }, (_, i) => member(`m${i}`)));
  const given = new Set(many.members.map(({ name }) => many.numberOf(name)));
  expect(given.size).toBe(1000);
});

it('an absent replica gets the next in rank as stand-in, listed last; the others stay where they are', () => {
  const present = view(...five);
  fc.assert(
    fc.property(numbers, fc.integer({ min: 1, max: 3 }), (number, factor) => {
      const ideal = present.place(number.hi, number.lo, factor);
      const ranked = present.place(number.hi, number.lo, 5);
      const [primary] = ideal;
      const desired = desiredReplicas(present, number, factor, (name) => name === primary);
      expect(desired).toEqual([...ideal, ranked[factor]]);
      expect(desiredReplicas(present, number, factor, () => false)).toEqual(ideal);
    }),
  );
});

it('the list stays as it is when no member is left to stand in', () => {
  const two = view(member('a'), member('b'));
  const ideal = two.place(1, 2, 2);
  expect(desiredReplicas(two, { hi: 1, lo: 2 }, 2, (name) => name === 'a')).toEqual(ideal);
});
