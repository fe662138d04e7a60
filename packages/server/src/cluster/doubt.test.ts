import { State } from '@carillon/core';
import { expect, it } from 'vitest';
import { recordOf } from '../testing/records.ts';
import { judgeDoubt } from './doubt.ts';

const hour = 3_600_000;
/** Set three hours ago; this member was away for the last two. */
const record = recordOf({ startMs: -3 * hour, replicas: ['a', 'b'] });
const time = { nowMs: 0, awaySinceMs: -2 * hour };

it('a record that one of its replicas must have had and no longer has, has ended', () => {
  expect(judgeDoubt(record, [{ name: 'b', record: null, historyMs: 10 * hour }], time)).toBe(
    'drop',
  );
});

it('a replica that joined after the timer was set, and long enough before this member went away, must have had it', () => {
  const testimony = { name: 'b', record: null, historyMs: 2.2 * hour };
  expect(judgeDoubt(record, [testimony], time)).toBe('drop');
});

it.each([
  ['a replica still has it', record, [{ name: 'b', record, historyMs: 10 * hour }]],
  [
    'somebody has its tombstone',
    record,
    [{ name: 'c', record: { ...record, state: State.tombstone }, historyMs: hour }],
  ],
  ['nobody else remembers that far back', record, [{ name: 'b', record: null, historyMs: hour }]],
  [
    'a replica joined just before this member went away',
    record,
    [{ name: 'b', record: null, historyMs: 2 * hour + 1000 }],
  ],
  [
    'only a member asked that never had it',
    record,
    [{ name: 'c', record: null, historyMs: 10 * hour }],
  ],
  [
    'it was set just before this member went away',
    { ...record, startMs: -2 * hour - 1000 },
    [{ name: 'b', record: null, historyMs: 10 * hour }],
  ],
  ['it has one replica', { ...record, replicas: ['a'] }, []],
])('keeps it when %s', (_, doubtful, testimonies) => {
  expect(judgeDoubt(doubtful, testimonies, time)).toBe('trust');
});
