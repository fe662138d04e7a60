import { compareProgress, State, type TimerRecord } from '@carillon/core';
import { expect, it } from 'vitest';
import { recordOf } from '../testing/records.ts';
import { merge, sameNames, startsWith } from './merge.ts';

/** Every state of one timer that two versions, three states, two sequences and two attempts make, oldest first. */
const ladder: TimerRecord[] = [];
for (const version of [
  { versionMs: 1, versionTie: 0 },
  { versionMs: 1, versionTie: 1 },
  { versionMs: 2, versionTie: 0 },
]) {
  for (const state of [State.live, State.dead, State.tombstone]) {
    for (const sequence of [0, 1]) {
      for (const attempt of [0, 1]) {
        ladder.push(recordOf({ ...version, state, sequence, attempt }));
      }
    }
  }
}

it('takes what it has nothing of', () => {
  expect(merge(undefined, recordOf(), [])).toBe('take');
});

it('decides every pair of states by version, then state, then sequence, then attempt', () => {
  for (const [i, stored] of ladder.entries()) {
    for (const [j, incoming] of ladder.entries()) {
      const expected = j > i ? 'take' : 'keep';
      expect(merge(stored, incoming, ['a', 'b']), `${i} meets ${j}`).toBe(expected);
    }
  }
});

it('a pop of an old version never beats a newer update or cancel', () => {
  const update = recordOf({ versionMs: 2, sequence: 0 });
  const popped = recordOf({ versionMs: 1, sequence: 99 });
  expect(merge(update, popped, [])).toBe('keep');
  expect(merge({ ...update, state: State.tombstone }, popped, [])).toBe('keep');
});

it('gives the same survivor whichever of two records arrives first', () => {
  for (const a of ladder) {
    for (const b of ladder) {
      const afterAb = merge(a, b, []) === 'take' ? b : a;
      const afterBa = merge(b, a, []) === 'take' ? a : b;
      expect(compareProgress(afterAb, afterBa)).toBe(0);
    }
  }
});

it('takes over a list of replicas only when it is the one its own view asks for', () => {
  const stored = recordOf({ replicas: ['a', 'b'] });
  const moved = recordOf({ replicas: ['d', 'b'] });
  expect(merge(stored, moved, ['d', 'b'])).toBe('list');
  expect(merge(stored, moved, ['a', 'b'])).toBe('keep');
});

it('takes over a stand-in listed behind the replicas its own view asks for', () => {
  const stored = recordOf({ replicas: ['a', 'b'] });
  expect(merge(stored, recordOf({ replicas: ['a', 'b', 'c'] }), ['a', 'b'])).toBe('list');
  expect(merge(recordOf({ replicas: ['a', 'b', 'c'] }), stored, ['a', 'b'])).toBe('list');
});

it('compares lists of names in order', () => {
  expect(sameNames(['a', 'b'], ['a', 'b'])).toBe(true);
  expect(sameNames(['a', 'b'], ['b', 'a'])).toBe(false);
  expect(sameNames(['a', 'b'], ['a'])).toBe(false);
  expect(startsWith(['a', 'b'], ['a'])).toBe(true);
  expect(startsWith(['a'], ['a', 'b'])).toBe(false);
});
