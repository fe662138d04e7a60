import { expect, test } from 'vitest';
import { Vanished } from './vanished.ts';
import type { Phase, ViewMember } from './view.ts';

const hourMs = 3_600_000;

function member(name: string, phase: Phase = 'active'): ViewMember {
  return { name, phase, address: `${name}:1`, peer: `${name}:2`, weight: 1, labels: {} };
}

function names({ members }: Vanished): string[] {
  return members.map(({ name }) => name);
}

test('a member that goes without a word is remembered for an hour, or until it is back', () => {
  const vanished = new Vanished();
  const [a, b, c] = [member('a'), member('b'), member('c')];
  vanished.update([], [a, b, c], 0);
  expect(names(vanished)).toEqual([]);
  vanished.update([a, b, c], [a], 1000);
  expect(vanished.members).toEqual([b, c]);
  vanished.update([a], [a, b], 2000);
  expect(names(vanished)).toEqual(['c']);
  vanished.update([a, b], [a, b], 1000 + hourMs - 1);
  expect(names(vanished)).toEqual(['c']);
  vanished.update([a, b], [a, b], 1000 + hourMs);
  expect(names(vanished)).toEqual([]);
});

test('a member that said that it leaves has handed its records on', () => {
  const vanished = new Vanished();
  vanished.update([member('a'), member('b', 'leaving')], [member('a')], 0);
  expect(names(vanished)).toEqual([]);
});
