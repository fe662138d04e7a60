import { compareProgress, encodeDefinition, State, type TimerRecord } from '@carillon/core';
import { expect, it } from 'vitest';
import { definitionOf, recordOf } from '../testing/records.ts';
import { isDueLater, isLate, merge, onTime, sameNames, startsWith } from './merge.ts';

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

it('takes a record of a timer that is not here', () => {
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

/** A record that lay unread on its way for so long. */
function delayed(record: TimerRecord, byMs: number): TimerRecord {
  const { startMs, dueMs, retryMs, triedMs } = record;
  return {
    ...record,
    startMs: startMs + byMs,
    dueMs: dueMs + byMs,
    retryMs: retryMs + byMs,
    triedMs: triedMs + byMs,
  };
}

const at = encodeDefinition(definitionOf({ timing: { kind: 'at', atMs: 1e12 } }));

it('of two records of an interval timer the earlier start is right, whichever of them is further', () => {
  const second = recordOf({ sequence: 1, dueMs: 20_000 });
  const first = recordOf();
  expect(onTime(delayed(second, 4000), first)).toEqual(second);
  expect(onTime(delayed(first, 4000), second)).toEqual(first);
  expect(onTime(delayed(first, 4000), first)).toEqual(first);
  expect(onTime(second, delayed(first, 4000))).toBe(second);
});

it('a retry counts from the failed attempt, not from the start', () => {
  const retried = recordOf({ attempt: 1, retryMs: 11_000 });
  const late = delayed(retried, 4000);
  expect(onTime(late, recordOf())).toEqual({ ...retried, retryMs: 15_000 });
});

it('a time of the wall clock is right where two records of the very same state tell it earlier', () => {
  const record = recordOf({ body: at });
  expect(onTime(delayed(record, 4000), record)).toEqual(record);
  const next = delayed({ ...record, sequence: 1 }, 4000);
  expect(onTime(next, record)).toBe(next);
});

it('another version is another start, and a timer that has ended is due no more', () => {
  const record = delayed(recordOf({ versionMs: 2000 }), 4000);
  expect(onTime(record, recordOf())).toBe(record);
  const ended = delayed(recordOf({ state: State.tombstone }), 4000);
  expect(onTime(ended, recordOf())).toBe(ended);
  expect(isDueLater(ended, 10_000)).toBe(false);
});

it('the usual time of a message on its way is no reason to write a record again', () => {
  expect(isLate(delayed(recordOf(), 20), recordOf())).toBe(false);
  expect(isLate(delayed(recordOf(), 21), recordOf())).toBe(true);
  expect(isDueLater(delayed(recordOf(), 20), 10_000)).toBe(false);
  expect(isDueLater(delayed(recordOf(), 21), 10_000)).toBe(true);
  // A frame of an older release does not tell when the timer is due.
  expect(isDueLater(recordOf(), Number.POSITIVE_INFINITY)).toBe(false);
});
