import { State } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { expect, it } from 'vitest';
import type { Answer } from '../replication/wire/answer.ts';
import { replicaOf } from '../testing/quiet-members.ts';
import { recordOf } from '../testing/records.ts';
import { Doubt, judgeDoubt } from './doubt.ts';

const hour = 3_600_000;
/** Set three hours ago; this member was away for the last two. */
const record = recordOf({ startMs: -3 * hour, replicas: ['a', 'b'] });
const time = { nowMs: 0, awaySinceMs: -2 * hour };

it('a record has ended if a replica must have had it and has it no more', () => {
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
    'another member has its tombstone',
    record,
    [{ name: 'c', record: { ...record, state: State.tombstone }, historyMs: hour }],
  ],
  [
    'no other member remembers that far back',
    record,
    [{ name: 'b', record: null, historyMs: hour }],
  ],
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

it('asks about a bounded number of records at a time, and about all of them in the end', async () => {
  const clock = new VirtualClock();
  const replica = replicaOf({ clock });
  const count = 10_000;
  for (let lo = 1; lo <= count; lo++) replica.restore(recordOf({ lo, replicas: ['a', 'b'] }));
  replica.doubtAll();
  const waiting: ((answer: Answer | null) => void)[] = [];
  const most = { asked: 0 };
  const trusted = new Set<number>();
  const doubt = new Doubt({
    clock,
    replica,
    peers: {
      send: (_name, _message, done) => {
        waiting.push(done);
        most.asked = Math.max(most.asked, waiting.length);
      },
    },
    othersOf: () => ['b'],
    historyMs: () => 1000,
    awaySinceMs: Number.NEGATIVE_INFINITY,
    onTrusted: ({ lo }) => trusted.add(lo),
  });
  doubt.start();
  for (let round = 0; round < 100 && replica.doubtfulCount > 0; round++) {
    await clock.advance(100);
    for (const done of waiting.splice(0)) done({ type: 'record', record: null });
  }
  expect(replica.doubtfulCount).toBe(0);
  expect(replica.store.counts.live).toBe(count);
  expect(trusted.size).toBe(count);
  expect(most.asked).toBeGreaterThan(1000);
  expect(most.asked).toBeLessThan(2500);
});
