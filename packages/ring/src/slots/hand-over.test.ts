/** Slots that go to a member of another process, and slots of a process that died, in virtual time. */
import { beforeEach, describe, expect, test } from 'vitest';
import { EtcdError } from '../etcd/etcd.ts';
import { keyOf, VirtualRings } from '../testing/virtual-rings.ts';

const slots = 64;
let rings: VirtualRings;

beforeEach(() => {
  rings = new VirtualRings();
});

describe('slots handed over to another process', () => {
  test('a newcomer gets its share by one transaction of the process that had it, and claims nothing', async () => {
    const a = await rings.openWith('a');
    const b = await rings.open();
    const before = rings.etcd.calls.txn;
    await rings.settled(b.ring.addMember('b'));
    await rings.clock.advance(50);
    expect(a.ring.ownedSlots().length + b.ring.ownedSlots().length).toBe(slots);
    expect(b.ring.ownedSlots().length).toBeGreaterThan(10);
    // The record of the member, and all of its slots together.
    expect(rings.etcd.calls.txn - before).toBe(2);
  });

  test('slots that come before the answer to its join are the newcomer’s all the same', async () => {
    const a = await rings.openWith('a');
    const b = await rings.open();
    const txn = b.client.txn.bind(b.client);
    b.client.txn = async (asked, limitMs) => {
      const answer = await txn(asked, limitMs);
      await new Promise<void>((resolve) => rings.clock.at(rings.clock.now() + 300, resolve));
      return answer;
    };
    const joining = b.ring.addMember('b');
    await rings.clock.advance(100);
    expect(a.ring.ownedSlots().length).toBeLessThan(slots);
    expect(b.ring.ownedSlots()).toEqual([]);
    await rings.settled(joining);
    expect(a.ring.ownedSlots().length + b.ring.ownedSlots().length).toBe(slots);
    const lock = await rings.settled(b.ring.lock(keyOf(a.ring, 'b')));
    expect(lock.held).toBe(true);
  });

  test('a member of a release that does not know hand-overs finds its slots free, and claims them', async () => {
    const a = await rings.openWith('a');
    const b = await rings.open();
    const txn = b.client.txn.bind(b.client);
    b.client.txn = (asked, limitMs) => {
      const success = asked.success.map((one) =>
        'put' in one ? { ...one, value: one.value.replace(',"takesSlots":true', '') } : one,
      );
      return txn({ ...asked, success }, limitMs);
    };
    const before = rings.etcd.calls.txn;
    await rings.settled(b.ring.addMember('b'));
    await rings.clock.advance(50);
    expect(a.ring.ownedSlots().length + b.ring.ownedSlots().length).toBe(slots);
    expect(rings.etcd.calls.txn - before).toBe(3);
  });

  test('a member that leaves while a lock is held does not get its slots back', async () => {
    const a = await rings.openWith('a');
    const b = await rings.openWith('b');
    const lock = await rings.settled(a.ring.lock(keyOf(a.ring, 'a')));
    const before = rings.etcd.calls.txn;
    const leaving = a.ring.removeMember('a');
    await rings.clock.advance(100);
    expect(b.ring.ownedSlots()).toHaveLength(slots - 1);
    // The phase of the leaver, its slots, and claims of the slots that were free before the phase was seen.
    expect(rings.etcd.calls.txn - before).toBeLessThanOrEqual(4);
    await lock.release();
    await rings.settled(leaving);
    await rings.clock.advance(20);
    expect(b.ring.ownedSlots()).toHaveLength(slots);
  });

  test('tokens grow over every hand-over, there and back', async () => {
    const a = await rings.openWith('a');
    const b = await rings.openWith('b');
    const key = keyOf(a.ring, 'b');
    let last = 0n;
    for (let i = 0; i < 10; i++) {
      const there = await rings.settled(b.ring.lock(key));
      expect(there.token).toBeGreaterThan(last);
      await there.release();
      await rings.settled(b.ring.removeMember('b'));
      const back = await rings.settled(a.ring.lock(key));
      expect(back.token).toBeGreaterThan(there.token);
      await back.release();
      last = back.token;
      await rings.settled(b.ring.addMember('b'));
    }
  });
});

describe('slots of a process that died', () => {
  /** `a` holds the key and is killed; `b` waits for it. */
  async function killed() {
    const a = await rings.openWith('a');
    const b = await rings.openWith('b');
    const key = keyOf(a.ring, 'a');
    await rings.settled(a.ring.lock(key));
    const waiting = b.ring.lock(key);
    await rings.clock.advance(100);
    const diedMs = rings.clock.now();
    a.client.cut = true;
    const tookMs = waiting.then(() => rings.clock.now() - diedMs);
    const { store } = rings.etcd;
    const lease = store.leases.get(store.entries.get('p/m/a')?.lease ?? 0n);
    const leftMs = (lease?.expiresAtMs ?? 0) - diedMs;
    return { b, tookMs, leftMs };
  }

  test('are granted elsewhere within 20 ms of the end of the lease, and that is within the TTL', async () => {
    const { tookMs, leftMs } = await killed();
    expect(leftMs).toBeLessThanOrEqual(5000);
    const took = await rings.settled(tookMs);
    expect(took).toBeGreaterThanOrEqual(leftMs);
    expect(took).toBeLessThan(leftMs + 20);
  });

  test('are granted within T + 1 s also when the watch breaks as the lease ends', async () => {
    const { b, tookMs, leftMs } = await killed();
    rings.clock.at(rings.clock.now() + leftMs - 1, () => {
      b.client.cut = true;
    });
    rings.clock.at(rings.clock.now() + leftMs + 100, () => {
      b.client.cut = false;
    });
    expect(await rings.settled(tookMs)).toBeLessThan(5000 + 1000);
  });

  test('are granted within T + 1 s also when etcd refuses the first claim', async () => {
    const { b, tookMs } = await killed();
    const txn = b.client.txn.bind(b.client);
    let refusals = 0;
    b.client.txn = (asked, limitMs) => {
      const isClaim = asked.success.some((one) => 'put' in one && one.put.startsWith('p/s/'));
      if (!isClaim || refusals++ > 0) return txn(asked, limitMs);
      return Promise.reject(new EtcdError('not-sent', 'etcd: there is no leader.'));
    };
    expect(await rings.settled(tookMs)).toBeLessThan(5000 + 1000);
    expect(refusals).toBeGreaterThan(1);
  });
});
