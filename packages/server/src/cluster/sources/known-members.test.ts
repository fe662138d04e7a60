import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { KnownMembers } from './known-members.ts';
import type { ViewSpec } from '../view/view.ts';

function view(...names: string[]): ViewSpec {
  const members = names.map((name) => ({
    name,
    address: `${name}:7253`,
    peer: `${name}:7353`,
    phase: 'active' as const,
    weight: 1,
    labels: {},
  }));
  return { source: 'static', revision: 1, members };
}

test('the members of the view are known, by name and by where they listen for peers', () => {
  const known = new KnownMembers(new VirtualClock(), 1000);
  expect([...known.names()]).toEqual([]);
  known.update(view('a', 'b'));
  expect([...known.names()]).toEqual(['a', 'b']);
  expect([known.at('b:7353'), known.at('b:7253'), known.at('c:7353')]).toEqual([
    'b',
    undefined,
    undefined,
  ]);
});

test('a member that left the view is let in for a while, so that it can hand its timers on, and called, so that it can be told', async () => {
  const clock = new VirtualClock();
  const known = new KnownMembers(clock, 1000);
  known.update(view('a', 'b'));
  known.update(view('a'));
  expect([...known.names()]).toEqual(['a', 'b']);
  expect(known.at('b:7353')).toBe('b');
  await clock.advance(999);
  known.update(view('a', 'c'));
  expect([...known.names()]).toEqual(['a', 'c', 'b']);
  await clock.advance(1);
  expect([...known.names()]).toEqual(['a', 'c']);
  expect(known.at('b:7353')).toBeUndefined();
});

test('a member that comes back is a member like any other', async () => {
  const clock = new VirtualClock();
  const known = new KnownMembers(clock, 1000);
  known.update(view('a', 'b'));
  known.update(view('a'));
  known.update(view('a', 'b'));
  await clock.advance(5000);
  expect([...known.names()]).toEqual(['a', 'b']);
});
