import { beforeEach, describe, expect, test } from 'vitest';
import { EtcdError } from '../etcd/etcd.ts';
import type { Lock } from './lock.ts';
import { ringStatus } from '../status.ts';
import { keyOf, VirtualRings } from '../testing/virtual-rings.ts';

let rings: VirtualRings;

beforeEach(() => {
  rings = new VirtualRings();
});

/** Records under the prefix that tell of locks and waits. */
const shown = (): string[] =>
  [...rings.etcd.store.entries.keys()].filter((key) => /^p\/[kw]\//.test(key)).toSorted();

/** `a` holds a durable lock whose key has moved to `b`, where another call waits for it. */
async function handOver() {
  const a = await rings.openWith('a');
  const b = await rings.openWith('b');
  const key = keyOf(a.ring, 'b');
  await rings.settled(b.ring.removeMember('b'));
  const lock = await rings.settled(a.ring.lock(key, { durable: true }));
  await rings.settled(b.ring.addMember('b'));
  const abort = new AbortController();
  const waiting = b.ring.lock(key, { durable: true, signal: abort.signal });
  await rings.clock.advance(100);
  expect(lock.revoking.aborted).toBe(true);
  expect(shown()).toEqual([`p/k/${key}`, `p/w/${key}/b`]);
  return { a, b, key, lock, waiting, abort };
}

describe('records of durable locks', () => {
  test('a key that moves to another process costs one transaction, and one more to forget the wait', async () => {
    const { key, lock, waiting } = await handOver();
    const before = rings.etcd.calls.txn;
    const released = lock.release();
    const next = await rings.settled(waiting);
    // The record of the holder came by the transaction that moved the slot.
    const record = rings.etcd.store.entries.get(`p/k/${key}`);
    expect(record?.modRevision).toBe(next.slotEpoch);
    expect(JSON.parse(record?.value ?? '')).toEqual({ holder: 'b' });
    await rings.settled(released);
    await rings.clock.advance(100);
    expect(rings.etcd.calls.txn - before).toBe(2);
    expect(shown()).toEqual([`p/k/${key}`]);
    const { locks } = await rings.settled(ringStatus(rings.etcd.connect(), 'p'));
    expect(locks).toEqual([{ key, holder: 'b', token: String(next.token), waiters: [] }]);
    await rings.settled(next.release());
    expect(shown()).toEqual([]);
  });

  test('the wait ends while the slot is handed over: the record that came for it goes, and the key is free', async () => {
    const { b, key, lock, waiting, abort } = await handOver();
    const refused = expect(waiting).rejects.toThrow('no longer');
    void lock.release();
    // The transaction is under way.
    await rings.clock.advance(0);
    abort.abort(new Error('no longer'));
    await refused;
    await rings.clock.advance(100);
    expect(shown()).toEqual([]);
    expect(b.ring.tryLock(key)?.held).toBe(true);
  });

  test('the first to wait takes the lock without a record: the one that came for it goes', async () => {
    const { b, key, lock, waiting, abort } = await handOver();
    const plain = b.ring.lock(key);
    const refused = expect(waiting).rejects.toThrow('no longer');
    void lock.release();
    await rings.clock.advance(0);
    abort.abort(new Error('no longer'));
    await refused;
    expect((await rings.settled(plain)).held).toBe(true);
    await rings.clock.advance(100);
    expect(shown()).toEqual([]);
  });

  test('of several keys of a slot the one whose record came with it is granted first', async () => {
    const a = await rings.openWith('a', { slots: 1 });
    const b = await rings.open({ slots: 1 });
    const lock = await rings.settled(a.ring.lock('k', { durable: true }));
    await rings.settled(b.ring.addMember('wish', { onlyFor: 'k' }));
    const plain = b.ring.lock('asked-before');
    const durable = b.ring.lock('k', { durable: true });
    await rings.clock.advance(50);
    void lock.release();
    const [first, second] = [await rings.settled(durable), await rings.settled(plain)];
    expect(first.token).toBeLessThan(second.token);
    await rings.clock.advance(50);
    expect(shown()).toEqual(['p/k/k']);
  });

  test('the next owner dies before the slot is handed over: the slot is given up, and stays usable', async () => {
    const { a, b, key, lock, waiting } = await handOver();
    waiting.catch(() => {});
    const { store } = rings.etcd;
    void lock.release();
    // The transaction has not arrived when the lease ends.
    b.client.cut = true;
    store.revoke(store.entries.get('p/m/b')?.lease ?? 0n);
    expect((await rings.settled(a.ring.lock(key))).held).toBe(true);
    expect(shown()).toEqual([]);
  });

  test('a release in a slot that stays costs one transaction', async () => {
    const { ring } = await rings.openWith('a');
    const lock = await rings.settled(ring.lock('k', { durable: true }));
    const before = rings.etcd.calls.txn;
    await rings.settled(lock.release());
    expect(rings.etcd.calls.txn - before).toBe(1);
    expect(shown()).toEqual([]);
  });

  test('a wait in one process leaves no record of it, whichever transaction removes it', async () => {
    const { ring } = await rings.openWith('a');
    const first = await rings.settled(ring.lock('k', { durable: true }));
    const second = ring.lock('k', { durable: true });
    const third = ring.lock('k', { durable: true });
    await rings.clock.advance(50);
    void first.release();
    const next = await rings.settled(second);
    await rings.clock.advance(50);
    expect(shown()).toEqual(['p/k/k', 'p/w/k/a']);
    void next.release();
    const last = await rings.settled(third);
    await rings.clock.advance(50);
    expect(shown()).toEqual(['p/k/k']);
    await rings.settled(last.release());
    expect(shown()).toEqual([]);
  });

  test('more records end with a slot than one transaction has room for: all of them go, and so does the slot', async () => {
    const a = await rings.openWith('a', { slots: 1 });
    const locks: Lock[] = [];
    for (let i = 0; i < 200; i++) {
      locks.push(await rings.settled(a.ring.lock(`k${i}`, { durable: true })));
    }
    const b = await rings.openWith('b', { slots: 1 });
    // The one slot may stay with `a`; a member that is here for the key gets it in any case.
    if (!locks[0]?.revoking.aborted) {
      await rings.settled(b.ring.addMember('wish', { onlyFor: 'k0' }));
      await rings.clock.advance(50);
    }
    expect(locks.every((lock) => lock.revoking.aborted)).toBe(true);
    const refused: Error[] = [];
    a.ring.on('error', (error) => refused.push(error));
    const released = Promise.all(locks.map((lock) => lock.release()));
    const next = await rings.settled(b.ring.lock('k0'));
    await rings.settled(released);
    expect(shown()).toEqual([]);
    expect(refused).toEqual([]);
    await rings.settled(next.release());
  });

  test('etcd refuses the record of a holder: the lock is given back, and no record of the wait stays', async () => {
    const { ring, client } = await rings.openWith('a');
    const lock = await rings.settled(ring.lock('k', { durable: true }));
    const waiting = ring.lock('k', { durable: true });
    await rings.clock.advance(50);
    expect(shown()).toEqual(['p/k/k', 'p/w/k/a']);
    const txn = client.txn.bind(client);
    client.txn = (asked, limitMs) => {
      const isHolder = asked.success.some((one) => 'put' in one && one.put.startsWith('p/k/'));
      const refused = new EtcdError('refused', 'etcd: the database is full.');
      return isHolder ? Promise.reject(refused) : txn(asked, limitMs);
    };
    const refusal = expect(waiting).rejects.toThrow('the database is full');
    void lock.release();
    await rings.settled(refusal);
    await rings.clock.advance(50);
    expect(shown()).toEqual([]);
    expect(ring.tryLock('k')?.held).toBe(true);
  });

  test('the answer to giving up the slot is lost: its lock is shown no longer, and the next one is', async () => {
    const { a, key, lock, waiting } = await handOver();
    a.client.answerLossRatio = 1;
    const released = lock.release();
    await rings.clock.advance(20);
    a.client.answerLossRatio = 0;
    const next = await rings.settled(waiting);
    await rings.settled(released);
    expect(shown()).toEqual([`p/k/${key}`]);
    await rings.settled(next.release());
    expect(shown()).toEqual([]);
  });
});
