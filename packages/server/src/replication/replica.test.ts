import { DiskError, State, type TimerRecord } from '@carillon/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replicaOf } from '../testing/quiet-members.ts';
import { recordOf } from '../testing/records.ts';
import type { Journal } from '../store/journal/journal.ts';
import { Digests } from './digests.ts';
import type { Replica } from './replica.ts';
import type { Answer } from './wire/answer.ts';
import type { StoreMode } from './wire/message.ts';

function receive(replica: Replica, record: TimerRecord, mode: StoreMode = 'any'): Answer[] {
  const answers: Answer[] = [];
  replica.receive(record, mode, (answer) => answers.push(answer));
  return answers;
}

/** A replica that holds `stored`, after `incoming` has come. */
function met(stored: TimerRecord, incoming: TimerRecord, wanted: readonly string[] = ['a', 'b']) {
  const replica = replicaOf({ desired: () => wanted });
  receive(replica, stored);
  const answers = receive(replica, incoming);
  return { answers, kept: replica.get(stored.hi, stored.lo) };
}

const live = recordOf({ versionMs: 1000, sequence: 3 });
const tombstone = { ...live, state: State.tombstone };

describe('of two records of a timer', () => {
  it.each([
    ['a higher version', live, recordOf({ versionMs: 1001 })],
    ['a tombstone of the same version', live, tombstone],
    ['a later pop', live, { ...live, sequence: 4 }],
    ['a later attempt', live, { ...live, attempt: 1 }],
    ['a higher version over a tombstone', tombstone, recordOf({ versionMs: 1001 })],
  ])('%s wins, whichever comes first', (_, lower, higher) => {
    const first = met(lower, higher);
    expect(first.kept).toMatchObject(higher);
    expect(first.answers).toEqual([{ type: 'stored' }]);
    const second = met(higher, lower);
    expect(second.kept).toMatchObject(higher);
    expect(second.answers).toEqual([{ type: 'have', progress: expect.objectContaining(higher) }]);
  });

  it('equal ones keep the stored list, unless the view asks for the incoming one', () => {
    const moved = { ...live, replicas: ['c', 'a'] };
    expect(met(live, moved, ['a', 'b']).kept?.replicas).toEqual(['a', 'b']);
    expect(met(live, moved, ['c', 'a']).kept?.replicas).toEqual(['c', 'a']);
    // A stand-in behind the view's list is taken over with it.
    expect(met(live, { ...live, replicas: ['a', 'b', 'c'] }).kept?.replicas).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('the earlier due time is the right one', () => {
    const late = recordOf({ startMs: 500, dueMs: 10_500 });
    expect(met(late, recordOf()).kept).toMatchObject({ startMs: 0, dueMs: 10_000 });
    expect(met(recordOf(), late).kept).toMatchObject({ startMs: 0, dueMs: 10_000 });
    // By as little as a message takes it is not written again.
    const soon = recordOf({ startMs: 20, dueMs: 10_020 });
    expect(met(soon, recordOf()).kept).toMatchObject({ dueMs: 10_020 });
  });
});

describe('a record that comes in', () => {
  it('is not created for an update, and not overwritten by a creation', () => {
    const replica = replicaOf();
    expect(receive(replica, live, 'update')).toEqual([{ type: 'stored' }]);
    expect(replica.get(live.hi, live.lo)).toBeUndefined();
    expect(receive(replica, live, 'create')).toEqual([{ type: 'stored' }]);
    const again = receive(replica, recordOf({ versionMs: 2000 }), 'create');
    expect(again).toMatchObject([{ type: 'have', progress: { versionMs: 1000 } }]);
    expect(replica.get(live.hi, live.lo)?.versionMs).toBe(1000);
  });

  it('of another namespace is refused', () => {
    const { answers, kept } = met(live, { ...live, versionMs: 2000, namespace: 'other' });
    expect(answers).toEqual([{ type: 'refused', why: 'namespace' }]);
    expect(kept?.namespace).toBe('default');
  });

  it('counts as unknown where this member means to give its copy away and the sender counts on it', () => {
    const given = { ...live, replicas: ['b', 'c'] };
    const { answers, kept } = met(given, { ...live, replicas: ['a', 'b'] }, ['b', 'c']);
    expect(answers).toEqual([{ type: 'unknown' }]);
    expect(kept?.replicas).toEqual(['b', 'c']);
  });

  it('is told of once, with the list that the view asks for where that was worked out', () => {
    const told: (readonly string[] | undefined)[] = [];
    let placed = 0;
    const desired = (): readonly string[] => {
      placed++;
      return ['a', 'b'];
    };
    const replica = replicaOf({ desired, onSaved: (_, wanted) => told.push(wanted) });
    receive(replica, live);
    receive(replica, { ...live, sequence: 4 });
    replica.relist({ ...live, sequence: 4 }, ['b', 'c']);
    expect([told, placed]).toEqual([[undefined, ['a', 'b']], 1]);
    expect(replica.get(live.hi, live.lo)?.replicas).toEqual(['b', 'c']);
  });
});

describe('a change that is stored beside many others', () => {
  const records = fc
    .record({
      versionMs: fc.integer({ min: 999, max: 1001 }),
      versionTie: fc.nat(1),
      state: fc.constantFrom(State.live, State.dead, State.tombstone),
      sequence: fc.nat(3),
      attempt: fc.nat(1),
      startMs: fc.integer({ min: 0, max: 3000 }),
      namespace: fc.constantFrom('default', 'default', 'other'),
      lo: fc.constantFrom(1, 1, 2),
    })
    .map((fields) => recordOf(fields));

  it('leaves the same record as one that came by itself, or none and is left to that way', () => {
    const seen = { taken: 0, left: 0 };
    fc.assert(
      fc.property(records, records, (stored, incoming) => {
        const replica = replicaOf();
        receive(replica, stored);
        const isTaken = replica.replace(incoming);
        const left = replica.get(incoming.hi, incoming.lo);
        seen[isTaken ? 'taken' : 'left']++;
        if (!isTaken) {
          expect(replica.get(stored.hi, stored.lo)).toEqual(stored);
          return;
        }
        const twin = replicaOf();
        receive(twin, stored);
        expect(receive(twin, incoming)).toEqual([{ type: 'stored' }]);
        expect(left).toEqual(twin.get(incoming.hi, incoming.lo));
        expect(replica.usage.of('default')).toEqual(twin.usage.of('default'));
        expect(replica.primaries).toBe(twin.primaries);
      }),
    );
    expect(Math.min(seen.taken, seen.left)).toBeGreaterThan(10);
  });
});

describe('on a full disk', () => {
  const full = { full: true, put: () => undefined, drop: () => undefined };
  const replicaWith = (error: DiskError | null): Replica => {
    const commit: Journal['commit'] = (done) => done(error);
    return replicaOf({ journal: () => ({ ...full, commit }) as unknown as Journal });
  };

  it('a new timer is refused, the end of one is taken', () => {
    const replica = replicaWith(null);
    expect(receive(replica, live)).toEqual([{ type: 'refused', why: 'full' }]);
    expect(receive(replica, tombstone)).toEqual([{ type: 'stored' }]);
  });

  it('nothing is promised that could not be synced', () => {
    const replica = replicaWith(new DiskError('full', 'no room'));
    expect(receive(replica, tombstone)).toEqual([{ type: 'refused', why: 'full' }]);
  });
});

it('counts live timers, primaries and retries as they come, move and go', () => {
  const replica = replicaOf();
  receive(replica, live);
  expect([replica.primaries, replica.retrying, replica.store.counts.live]).toEqual([1, 0, 1]);
  receive(replica, { ...live, attempt: 1 });
  expect([replica.primaries, replica.retrying]).toEqual([1, 1]);
  replica.relist({ ...live, attempt: 1 }, ['b', 'a']);
  expect([replica.primaries, replica.retrying]).toEqual([0, 1]);
  receive(replica, tombstone);
  expect([replica.retrying, replica.store.counts.live]).toEqual([0, 0]);
  replica.drop(tombstone);
  expect(replica.store.size).toBe(0);
});

it('speaks for the records of which it is the first replica that is not silent', () => {
  const replica = replicaOf();
  receive(replica, { ...live, replicas: ['b', 'c', 'a'] });
  receive(replica, { ...live, lo: 3, replicas: ['b', 'a'], attempt: 1 });
  receive(replica, { ...live, lo: 4, replicas: ['c', 'a'], state: State.dead });
  receive(replica, { ...live, lo: 5, replicas: ['a', 'b'] });
  const spoken = (...silent: string[]): readonly number[] =>
    Object.values(replica.spokenFor((name) => silent.includes(name)));
  expect([spoken(), spoken('b'), spoken('c'), spoken('b', 'c')]).toEqual([
    [1, 0, 0],
    [2, 0, 1],
    [1, 1, 0],
    [3, 1, 1],
  ]);
  receive(replica, { ...live, replicas: ['b', 'c', 'a'], state: State.tombstone });
  expect(spoken('b', 'c')).toEqual([2, 1, 1]);
});

it('a dead letter stays for ever unless its namespace says for how long', () => {
  const letter = recordOf({ state: State.dead, dueMs: 5000, replicas: ['b', 'a'] });
  const times = { tombstoneMs: 1000, idempotentMs: 1000 };
  const alarm = (letterMs: () => number | null): number =>
    replicaOf({ retention: { ...times, letterMs } }).alarm(letter);
  expect(alarm(() => null)).toBeGreaterThan(50 * 365 * 86_400_000);
  // The second replica gives the first one the time to drop it.
  expect(alarm(() => 60_000)).toBe(5000 + 60_000 + 2000);
});

describe('doubt', () => {
  it('of all records, begun twice, leaves the digests as they were when it is over', () => {
    const digests = new Digests('a', () => 0);
    const replica = replicaOf({ digests });
    receive(replica, live);
    const before = digests.of('b')[0];
    expect(before).not.toBe(0);
    replica.doubtAll();
    expect(digests.of('b')[0]).toBe(0);
    replica.doubtAll();
    expect(digests.of('b')[0]).toBe(0);
    replica.trust(live);
    expect(digests.of('b')[0]).toBe(before);
  });
});
