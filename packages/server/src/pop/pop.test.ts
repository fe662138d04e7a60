import { type Definition, State, type TimerRecord } from '@carillon/core';
import { expect, test } from 'vitest';
import { definitionOf, recordOf } from '../testing/records.ts';
import { concerns, missedFrom, newPop, type Pop } from './pop.ts';

/** A call for the pop of this record, which stands for some that were missed. */
function popOf(record: TimerRecord, missed: number, phase: Pop['phase'] = 'calling'): Pop {
  const definition: Definition = definitionOf();
  const to = { uri: '', split: null, namespace: '', batch: false, alone: false };
  const claim = { position: 0, rank: 0, others: [], serial: 1 };
  return { ...newPop({ handle: 1, record, definition, to }, claim), phase, missed };
}

const third = recordOf({ sequence: 2 });

test.each([
  { record: 'the same state', now: third, missed: 0, is: true, left: 0 },
  { record: 'its pop delivered', now: { ...third, sequence: 3 }, missed: 0, is: false, left: -1 },
  { record: 'one of two delivered', now: { ...third, sequence: 3 }, missed: 1, is: true, left: 0 },
  {
    record: 'one of three delivered',
    now: { ...third, sequence: 3 },
    missed: 2,
    is: true,
    left: 1,
  },
  { record: 'both delivered', now: { ...third, sequence: 4 }, missed: 1, is: false, left: -1 },
  { record: 'an older state', now: { ...third, sequence: 1 }, missed: 0, is: false, left: 1 },
  { record: 'another version', now: { ...third, versionMs: 2000 }, missed: 0, is: false, left: 0 },
  { record: 'the end', now: { ...third, state: State.tombstone }, missed: 0, is: false, left: 0 },
])(
  'the outcome of a call for pop 3 and $missed before it is news for $record: $is',
  ({ now, missed, is, left }) => {
    const pop = popOf(third, missed);
    expect(concerns(pop, now)).toBe(is);
    expect(missedFrom(pop, now)).toBe(left);
  },
);

test('a pop whose call has not begun stands for nothing but itself', () => {
  const pop = popOf(third, 5, 'queued');
  expect(concerns(pop, third)).toBe(true);
  expect(concerns(pop, { ...third, sequence: 3 })).toBe(false);
  expect(concerns(pop, null)).toBe(false);
});
