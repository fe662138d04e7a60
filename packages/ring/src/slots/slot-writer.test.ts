import { VirtualClock } from '@carillon/core/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Etcd, EtcdError, type KeyValue } from '../etcd/etcd.ts';
import type { LocalMember } from '../local-member.ts';
import { newSlot, type Slot } from './slot.ts';
import { SlotWriter } from './slot-writer.ts';
import { KeptLog } from '../testing/kept-log.ts';
import { type SimulatedClient, SimulatedEtcd } from '../testing/simulated-etcd.ts';

const lease = 7n;
let clock: VirtualClock;
let etcd: SimulatedEtcd;
let client: SimulatedClient;
let writer: SlotWriter;
let records: Map<number, KeyValue | null>;
let verified: (KeyValue | null)[];
let over: string[];

beforeEach(async () => {
  clock = new VirtualClock();
  etcd = new SimulatedEtcd({ clock });
  client = etcd.connect();
  etcd.store.grant(lease, 60_000, 0);
  records = new Map();
  verified = [];
  over = [];
  writer = new SlotWriter(
    { etcd: client, clock, log: new KeptLog() },
    {
      onRecord: (slot, entry) => records.set(slot.index, entry),
      onClaimOver: (slot) => over.push(`claim ${slot.index}`),
      onReleaseOver: (slot) => over.push(`release ${slot.index}`),
      onMoveOver: (slot, isKnown) => over.push(`move ${slot.index} ${isKnown}`),
      onTrouble: (error) => over.push(`trouble ${error.kind}`),
    },
  );
  await clock.advance(1);
});

/** A member as the writer sees it; its record is in etcd unless `there` is false. */
function member(there = true): LocalMember {
  if (there) put('p/m/a', 'record');
  const incarnation = there ? etcd.store.revision : 1;
  const verify = (_incarnation: number, seen: { entry: KeyValue | null } | null) => {
    if (seen !== null) verified.push(seen.entry);
  };
  return { id: 'a', key: 'p/m/a', incarnation, leaseId: lease, verify } as unknown as LocalMember;
}

function put(key: string, value: string): void {
  etcd.store.txn({ when: [], success: [{ put: key, value, lease }], failure: [] });
}

const slots = (count: number): Slot[] =>
  Array.from({ length: count }, (_, index) => newSlot('p/', index));

describe('slot writer', () => {
  test('1024 claims are nine transactions, and all are told', async () => {
    const a = member();
    const before = etcd.calls.txn;
    for (const slot of slots(1024)) writer.claim(slot, a);
    await clock.advance(20);
    expect(etcd.calls.txn - before).toBe(9);
    expect(records.size).toBe(1024);
    expect([...records.values()].every((entry) => entry?.lease === lease)).toBe(true);
  });

  test('without the own member record nothing is claimed, and the member is told which record is there', async () => {
    const a = member(false);
    for (const slot of slots(3)) writer.claim(slot, a);
    await clock.advance(20);
    expect(etcd.store.range('p/s/')).toEqual([]);
    expect(verified).toEqual([null]);
    expect(over).toEqual(['claim 0', 'claim 1', 'claim 2']);
  });

  test('a slot of another process is never touched; the others of the transaction are free to be tried again', async () => {
    const a = member();
    put('p/s/00001', 'somebody');
    for (const slot of slots(3)) writer.claim(slot, a);
    await clock.advance(20);
    expect(etcd.store.range('p/s/').map(({ value }) => value)).toEqual(['somebody']);
    expect(records.get(0)).toBeNull();
    expect(records.get(1)?.value).toBe('somebody');
  });

  test('only the very record that was claimed is released', async () => {
    const [slot] = slots(1) as [Slot];
    put(slot.key, 'newer');
    slot.epoch = etcd.store.revision - 1;
    writer.release(slot, null);
    await clock.advance(20);
    expect(etcd.store.entries.get(slot.key)?.value).toBe('newer');
    slot.epoch = etcd.store.revision;
    writer.release(slot, null);
    await clock.advance(20);
    expect(etcd.store.entries.has(slot.key)).toBe(false);
    expect(over).toEqual(['release 0', 'release 0']);
  });

  describe('a slot that goes to a member of another process', () => {
    const theirs = 8n;
    const key = 'p/m/b';

    /** The member of another process as its record in etcd shows it. */
    function nextOwner() {
      etcd.store.grant(theirs, 60_000, 0);
      const record = { put: key, value: 'record', lease: theirs };
      etcd.store.txn({ when: [], success: [record], failure: [] });
      return { id: 'b', key, incarnation: etcd.store.revision, leaseId: theirs };
    }

    /** Slots whose records are this process's. */
    function ownSlots(count: number): Slot[] {
      const own = slots(count);
      for (const slot of own) {
        put(slot.key, 'mine');
        slot.epoch = etcd.store.revision;
      }
      return own;
    }

    test('is written under its lease in one transaction, and is told as that member’s', async () => {
      const next = nextOwner();
      const own = ownSlots(2);
      const before = etcd.calls.txn;
      for (const slot of own) writer.release(slot, next);
      await clock.advance(20);
      expect(etcd.calls.txn - before).toBe(1);
      const value = JSON.stringify({ member: 'b', incarnation: next.incarnation });
      for (const slot of own) {
        expect(etcd.store.entries.get(slot.key)).toMatchObject({ value, lease: theirs });
        expect(records.get(slot.index)).toMatchObject({ value, lease: theirs });
      }
      expect(over).toEqual(['release 0', 'release 1']);
    });

    test('stays as it was if the member is gone, or another incarnation is there', async () => {
      const next = nextOwner();
      const own = ownSlots(1);
      etcd.store.revoke(theirs);
      nextOwner();
      for (const slot of own) writer.release(slot, next);
      await clock.advance(20);
      expect(etcd.store.entries.get('p/s/00000')?.value).toBe('mine');
      expect(over).toEqual(['release 0']);
    });

    test('stays as it was if its record is no longer the one of the epoch', async () => {
      const next = nextOwner();
      const [slot] = ownSlots(1) as [Slot];
      put(slot.key, 'newer');
      writer.release(slot, next);
      await clock.advance(20);
      expect(etcd.store.entries.get(slot.key)?.value).toBe('newer');
    });

    test('one record of a lock is inherited, and the others go', async () => {
      const next = nextOwner();
      const [slot] = ownSlots(1) as [Slot];
      for (const name of ['x', 'y', 'z']) put(`p/k/${name}`, name);
      writer.release(slot, next);
      const record = (name: string, value: string | null) =>
        writer.removedWith(slot, { key: `p/k/${name}`, inherited: () => value });
      const gone = [record('x', null), record('y', 'next'), record('z', 'next')];
      await clock.advance(20);
      expect(await Promise.all(gone)).toEqual([true, true, true]);
      expect(etcd.store.range('p/k/')).toMatchObject([
        { key: 'p/k/y', value: 'next', lease: theirs },
      ]);
    });
  });

  test('releases that etcd refuses at once are tried ever less often, together, and made once it takes them', async () => {
    const all = slots(300);
    for (const slot of all) {
      put(slot.key, 'own');
      slot.epoch = etcd.store.revision;
    }
    const triedMs: number[] = [];
    let refuses = true;
    const txn: Etcd['txn'] = (asked, limitMs) => {
      triedMs.push(clock.now());
      const refusal = new EtcdError('refused', 'etcd: mvcc: database space exceeded.');
      return refuses ? Promise.reject(refusal) : client.txn(asked, limitMs);
    };
    const persistent: SlotWriter = new SlotWriter(
      { etcd: { txn } as Etcd, clock, log: new KeptLog() },
      {
        onRecord: (slot, entry) => records.set(slot.index, entry),
        onClaimOver: () => undefined,
        onReleaseOver: (slot) => {
          if (records.get(slot.index) !== null) persistent.release(slot, null);
        },
        onMoveOver: () => undefined,
        onTrouble: () => undefined,
      },
    );
    const startMs = clock.now();
    for (const slot of all) persistent.release(slot, null);
    await clock.advance(10_000);
    const apartMs = [...new Set(triedMs)].map((ms) => ms - startMs);
    expect(apartMs.slice(0, 4)).toEqual([0, 50, 150, 350]);
    expect(triedMs).toHaveLength(3 * 10);
    refuses = false;
    await clock.advance(2100);
    expect(etcd.store.range('p/s/')).toEqual([]);
    // After a success the pauses begin anew.
    const [slot] = all as [Slot];
    put(slot.key, 'own');
    slot.epoch = etcd.store.revision;
    records.clear();
    refuses = true;
    triedMs.length = 0;
    const againMs = clock.now();
    persistent.release(slot, null);
    await clock.advance(100);
    expect(triedMs.map((ms) => ms - againMs)).toEqual([0, 50]);
    persistent.close();
  });

  test('after a lost answer the records are read, and nothing is said before', async () => {
    const a = member();
    client.answerLossRatio = 1;
    for (const slot of slots(2)) writer.claim(slot, a);
    await clock.advance(3000);
    expect([records.size, over.length]).toEqual([0, 0]);
    client.answerLossRatio = 0;
    await clock.advance(5000);
    expect([...records.values()].map((entry) => entry?.lease)).toEqual([lease, lease]);
    expect(over).toEqual(['claim 0', 'claim 1']);
  });

  test('a refreshed slot has a newer record under the same lease', async () => {
    const a = member();
    const [slot] = slots(1) as [Slot];
    writer.claim(slot, a);
    await clock.advance(20);
    slot.epoch = records.get(0)?.modRevision ?? 0;
    const done = writer.refresh(slot, a);
    await clock.advance(20);
    await done;
    expect(records.get(0)?.modRevision).toBeGreaterThan(slot.epoch);
    expect(etcd.store.entries.get(slot.key)).toMatchObject({ lease });
  });
});
