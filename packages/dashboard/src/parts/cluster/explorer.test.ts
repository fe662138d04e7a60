import { compileLabelled } from '@carillon/placement';
import { expect, test } from 'vitest';
import { domainTree, expectedShares, membersBelow, type Placed } from './domains.ts';
import { find, keyOf, movement, parseMember, sampleKeys } from './explorer.ts';
import { outline, picture } from './flows.ts';

const flat: Placed[] = ['n0', 'n1', 'n2', 'n3'].map((name) => ({ name, weight: 1, labels: {} }));
const zoned: Placed[] = flat.map((member, i) => ({
  ...member,
  labels: { zone: i < 2 ? 'a' : 'b', rack: `r${i}` },
}));
const nobody = { removed: new Set<string>(), added: [] };

test('a timer id and 16 hex digits are numbers, everything else is a text', () => {
  expect(keyOf('00000000000004D2')).toEqual({ hi: 0, lo: 1234 });
  expect(keyOf('0d1e1d1ab81140010000204080102040-2')).toEqual({ hi: 0x0d1e1d1a, lo: 0xb8114001 });
  expect(keyOf('order-4711')).toBe('order-4711');
  expect(keyOf('order-4711', 'team-a')).toBe('order-4711');
  expect(keyOf('00000000000004d2-2', 'team-a')).toBeNull();
});

test.each([
  ['flat', flat],
  ['zoned', zoned],
])('the order and the walk are the ones that a member computes: %s', (_, members) => {
  for (const text of ['a', 'order-4711', '00000000000004d2', '0d1e1d1ab8114001']) {
    for (const replicas of [1, 2, 3, 9]) {
      const key = keyOf(text) ?? '';
      const { ranked, steps } = find(members, key, replicas);
      const placer = compileLabelled(members);
      const out = new Int32Array(16);
      const size =
        typeof key === 'object'
          ? placer.pick(key.hi, key.lo, replicas, out)
          : placer.pickText(String(key), replicas, out);
      const picks = Array.from(out.subarray(0, size), (i) => placer.names[i]);
      const holders = ranked.filter(({ role }) => role !== '').map(({ name }) => name);
      expect(holders).toEqual(picks);
      expect(ranked[0]?.role).toBe('primary');
      expect(new Set(ranked.map(({ name }) => name)).size).toBe(members.length);
      const chosen = steps
        .filter(({ level }) => level === 'member')
        .flatMap(({ candidates }) => candidates.filter(({ share }) => share > 0));
      expect(new Set(chosen.map(({ id }) => id))).toEqual(new Set(picks));
    }
  }
});

test('without members a key has no replicas, which is no error', () => {
  expect(find([], 'x', 2)).toEqual({ ranked: [], steps: [] });
  expect(
    movement(flat, { removed: new Set(flat.map(({ name }) => name)), added: [] }, 2),
  ).toBeNull();
});

test('domains are nested by label, in name order, with all their members', () => {
  const tree = domainTree(zoned);
  expect(tree.domains.map(({ level, name }) => `${level} ${name}`)).toEqual(['zone a', 'zone b']);
  expect(tree.domains[0]?.domains.map(({ name }) => name)).toEqual(['r0', 'r1']);
  expect(membersBelow(tree)).toHaveLength(4);
  const mixed = domainTree([...zoned, { name: 'n9', weight: 1, labels: {} }]);
  expect(mixed.domains.map(({ name }) => name)).toEqual(['(none)', 'a', 'b']);
});

test('expected shares add up to one and follow the weights', () => {
  const heavy = flat.map((member, i) => ({ ...member, weight: i === 0 ? 3 : 1 }));
  const shares = expectedShares(heavy, 1);
  expect([...shares.values()].reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
  expect(shares.get('n0')).toBeGreaterThan(0.45);
  expect(shares.get('n1')).toBeLessThan(0.22);
});

test('nothing moves without a change; a new member takes its share from all and nothing else moves', () => {
  expect(movement(flat, nobody, 2)?.moved).toBe(0);
  const added = [{ name: 'n4', weight: 1, labels: {} }];
  const grown = movement(flat, { removed: new Set(), added }, 2);
  expect(grown?.flows.map(({ to }) => to)).toEqual(['n4', 'n4', 'n4', 'n4']);
  expect(grown?.moved).toBe(grown?.after.get('n4'));
  expect((grown?.after.get('n4') ?? 0) / (2 * sampleKeys)).toBeCloseTo(0.2, 1);
});

test('the picture gives every copy of every member its place, once', () => {
  const change = { removed: new Set(['n1']), added: [{ name: 'n4', weight: 1, labels: {} }] };
  const moved = movement(flat, change, 2);
  if (moved === null) throw new Error('There are members.');
  const { left, right, ribbons } = picture(moved, 400);
  for (const [bars, end, side] of [
    [left, 'from', 'left'],
    [right, 'to', 'right'],
  ] as const) {
    for (const bar of bars) {
      const mine = ribbons.filter((ribbon) => ribbon[end] === bar.name);
      expect(mine.reduce((sum, { copies }) => sum + copies, 0)).toBe(bar.copies);
      expect(bar.y + bar.height).toBeLessThanOrEqual(400.001);
      // The ribbons of a bar lie on it one below the other.
      let y = bar.y;
      for (const ribbon of mine) {
        expect(ribbon[side]).toBeCloseTo(y);
        y += ribbon.height;
      }
      expect(y).toBeCloseTo(bar.y + bar.height);
    }
  }
  expect(left.map(({ name }) => name)).not.toContain('n4');
  expect(right.map(({ name }) => name)).not.toContain('n1');
  const [ribbon] = ribbons;
  if (ribbon !== undefined) expect(outline(ribbon, 0, 10)).toMatch(/^M 0 [\d.]+ C .* Z$/);
});

test('a member as typed: a name, labels, a weight; nonsense is answered with the right form', () => {
  expect(parseMember(' n4 zone=b weight=2 ', ['n0'])).toEqual({
    name: 'n4',
    weight: 2,
    labels: { zone: 'b' },
  });
  for (const [text, words] of [
    ['', 'Type a name'],
    ['a/b', 'Type a name'],
    ['n0', 'already'],
    ['n4 zone', 'no label'],
    ['n4 weight=x', 'weight'],
  ] as const) {
    expect(() => parseMember(text, ['n0'])).toThrow(words);
  }
});
