import { State, type TimerRecord, VersionClock } from '@carillon/core';
import { describe, expect, it } from 'vitest';
import { Store } from '../store/store.ts';
import { replicaOf } from '../testing/quiet-members.ts';
import { recordOf } from '../testing/records.ts';
import { Digests } from './digests.ts';
import type { Replica } from './replica.ts';

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

describe('records that come in rows of a snapshot', () => {
  const records = [
    written,
    { ...written, lo: 11, replicas: ['b', 'a'], versionMs: 9000 },
    { ...written, lo: 12, replicas: ['a'] },
    { ...written, lo: 13, attempt: 2, retryMs: 12_000, outcome: 500 },
    { ...written, lo: 14, state: State.dead },
    { ...written, lo: 15, state: State.tombstone, body: new Uint8Array(0) },
    { ...written, lo: 16, state: State.tombstone, replicas: ['c', 'b'] },
    { ...written, lo: 17, namespace: 'other', gapMs: 50 },
  ];

  /** Everything that a replica counts about its records. */
  function countsOf(replica: Replica, digests: Digests, versions: VersionClock): unknown {
    const due: string[] = [];
    for (let nowMs = 0; nowMs < 4_000_000; nowMs += 500) {
      const handles: number[] = [];
      replica.store.takeDue(nowMs, 100, handles);
      for (const handle of handles) due.push(`${nowMs} ${replica.store.loOf(handle)}`);
    }
    return {
      due: due.toSorted(),
      usage: ['default', 'other'].map((namespace) => ({ ...replica.usage.of(namespace) })),
      digests: ['b', 'c'].map((name) => [...digests.of(name)]),
      version: versions.stamp(0, 1),
      counts: replica.store.counts,
      primaries: replica.primaries,
      spoken: [replica.spokenFor(() => false), replica.spokenFor(() => true)],
      singles: replica.singles,
      retrying: replica.retrying,
    };
  }

  it('are counted, compared and due like records that come one by one', () => {
    const counted = (restore: (replica: Replica) => void): unknown => {
      const digests = new Digests('a', (_, lo) => lo);
      const versions = new VersionClock();
      const replica = replicaOf({ digests, versions });
      restore(replica);
      return countsOf(replica, digests, versions);
    };
    const store = new Store();
    for (const record of records) store.put(record);
    const rows = counted((replica) => {
      store.rowBlocks()(0, 100, (bytes) => replica.restoreRows(bytes, 0));
      replica.endRestore();
    });
    expect(rows).toEqual(
      counted((replica) => {
        for (const record of records) replica.restore(record);
      }),
    );
  });

  it('of a number that came twice are counted once', () => {
    const store = new Store();
    for (const record of records) store.put(record);
    const replica = replicaOf();
    for (let i = 0; i < 2; i++) {
      store.rowBlocks()(0, 100, (bytes) => replica.restoreRows(bytes, 0));
    }
    replica.endRestore();
    const { primaries, singles, retrying } = restored(...records);
    expect([replica.primaries, replica.singles, replica.retrying]).toEqual([
      primaries,
      singles,
      retrying,
    ]);
    expect(replica.usage.records).toBe(records.length);
  });
});
