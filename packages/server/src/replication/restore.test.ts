import { State, type TimerRecord } from '@carillon/core';
import { describe, expect, it } from 'vitest';
import { replicaOf } from '../testing/quiet-members.ts';
import { recordOf } from '../testing/records.ts';
import { Replica } from './replica.ts';

function restored(...records: readonly TimerRecord[]): Replica {
  const replica = replicaOf();
  for (const record of records) replica.restore(record);
  return replica;
}

const written = recordOf({ replicas: ['a', 'b'] });

describe('a record that was written twice, in a snapshot and behind it', () => {
  it('is one: counted once, due when it was due', () => {
    const { store, primaries } = restored(written, written);
    expect([store.counts.live, primaries]).toEqual([1, 1]);
    expect(store.get(written.hi, written.lo)?.dueMs).toBe(written.dueMs);
    expect(store.nextAlarmMs()).toBe(restored(written).store.nextAlarmMs());
  });

  it.each([
    ['of another version', { versionMs: 2000, dueMs: 20_000 }],
    ['of a later pop', { sequence: 1, dueMs: 20_000 }],
    ['of a later attempt', { attempt: 1, retryMs: 12_000 }],
    ['cancelled', { state: State.tombstone }],
    ['held by others', { replicas: ['c', 'a'] }],
    ['held by one more', { replicas: ['a', 'b', 'c'] }],
  ])('is the record that was written last, %s', (_, change) => {
    const later = { ...written, ...change };
    const { store, primaries } = restored(written, later);
    expect(store.get(written.hi, written.lo)).toMatchObject(change);
    const alone = restored(later);
    expect([primaries, store.counts]).toEqual([alone.primaries, alone.store.counts]);
    expect(store.nextAlarmMs()).toBe(alone.store.nextAlarmMs());
  });
});
