import { expect, test } from 'vitest';
import { byWish, memberFor, slotCount } from './lock-placement.ts';

const member = (id: string, weight = 1) => ({ id, weight });
const slotOf = (key: string) => byWish.slotOf(key, slotCount);

test('a key goes to a member that wants it, and to no other', () => {
  const a = memberFor('export', 'a');
  const b = memberFor('billing', 'b');
  const owners = byWish.assign([member(a), member(b), member('stranger')], slotCount);
  expect(owners[slotOf('export')]).toBe(a);
  expect(owners[slotOf('billing')]).toBe(b);
  expect(owners.filter((owner) => owner !== null)).toHaveLength(2);
});

test('of several that want a key one has it, in any order of theirs; when it goes, another one', () => {
  const names = ['a', 'b', 'c'].map((name) => memberFor('export', name));
  const owner =
    byWish.assign(
      names.map((id) => member(id)),
      slotCount,
    )[slotOf('export')] ?? '';
  const reversed = names.toReversed().map((id) => member(id));
  expect(byWish.assign(reversed, slotCount)[slotOf('export')]).toBe(owner);
  const rest = names.filter((id) => id !== owner);
  expect(rest).toContain(
    byWish.assign(
      rest.map((id) => member(id)),
      slotCount,
    )[slotOf('export')],
  );
});

test('impossible wishes are ignored', () => {
  const owners = byWish.assign([member('x@99999'), member('y@'), member('@12z')], slotCount);
  expect(owners).toHaveLength(slotCount);
  expect(owners.every((owner) => owner === null)).toBe(true);
});
