/** Several members of one process: a key that moves between them stays held. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Lock } from './locks/lock.ts';
import type { Ring } from './ring.ts';
import { keyOf, type OpenedRing, VirtualRings } from './testing/virtual-rings.ts';

let rings: VirtualRings;
let a: OpenedRing;
let locks: readonly Lock[];
let tokens: readonly bigint[];

beforeEach(async () => {
  rings = new VirtualRings();
  a = await rings.openWith('a');
  locks = await Promise.all(Array.from({ length: 40 }, (_, i) => a.ring.lock(`key-${i}`)));
  tokens = locks.map(({ token }) => token);
});

async function add(ring: Ring, id: string): Promise<void> {
  await rings.settled(ring.addMember(id));
  await rings.clock.advance(100);
}

function expectUndisturbed(held: readonly Lock[]): void {
  expect(held.filter((lock) => lock.lost.aborted || lock.revoking.aborted)).toEqual([]);
  expect(held.every((lock) => lock.remainingMs() > 0)).toBe(true);
  expect(locks.map(({ token }) => token)).toEqual(tokens);
}

describe('a key that moves between members of one process', () => {
  test('a second member: all 40 locks stay held with their tokens, and belong to the member that placement names', async () => {
    await add(a.ring, 'b');
    expectUndisturbed(locks);
    expect(locks.map(({ holder }) => holder)).toEqual(locks.map(({ key }) => a.ring.ownerOf(key)));
    expect(new Set(locks.map(({ holder }) => holder))).toEqual(new Set(['a', 'b']));
    expect(a.ring.ownedSlots()).toHaveLength(64);
  });

  test('the next grant of a key that moved has a larger token', async () => {
    await add(a.ring, 'b');
    const index = locks.findIndex(({ holder }) => holder === 'b');
    const { key } = locks[index] as Lock;
    await locks[index]?.release();
    const next = a.ring.tryLock(key);
    expect(next?.token).toBeGreaterThan(tokens[index] as bigint);
  });

  test('the first member is removed: its locks go on under the second, and the lease of the first is gone', async () => {
    await add(a.ring, 'b');
    await rings.settled(a.ring.removeMember('a'));
    await rings.clock.advance(10_000);
    expectUndisturbed(locks);
    expect(new Set(locks.map(({ holder }) => holder))).toEqual(new Set(['b']));
    expect(rings.etcd.store.leases.size).toBe(1);
    expect(a.ring.ownedSlots()).toHaveLength(64);
  });

  test('a lock that moved is lost with its new member, in time', async () => {
    await add(a.ring, 'b');
    const moved = locks.filter(({ holder }) => holder === 'b');
    const b = await rings.openWith('c');
    a.client.cut = true;
    const key = moved[0]?.key ?? '';
    let lostAtMs = 0;
    moved[0]?.lost.addEventListener('abort', () => (lostAtMs = rings.clock.now()));
    let grantedAtMs = 0;
    void b.ring.lock(key).then(() => (grantedAtMs = rings.clock.now()));
    await rings.clock.advance(10_000);
    expect(lostAtMs).toBeGreaterThan(0);
    expect(grantedAtMs).toBeGreaterThan(lostAtMs);
  });

  test('answers that are lost on the way: each lock is held by one member, and none is doubled', async () => {
    a.client.answerLossRatio = 0.5;
    const joined = (async (): Promise<void> => {
      while (!a.ring.view.members.some(({ id }) => id === 'b')) {
        await a.ring.addMember('b').catch(() => {});
      }
    })();
    await rings.settled(joined);
    await rings.clock.advance(20_000);
    a.client.answerLossRatio = 0;
    await rings.clock.advance(5000);
    expect(a.ring.ownedSlots()).toHaveLength(64);
    const held = locks.filter((lock) => lock.held);
    expect(held.map(({ holder }) => holder)).toEqual(held.map(({ key }) => a.ring.ownerOf(key)));
  });

  test('a durable lock shows its new member in etcd, and nothing is left after its release', async () => {
    const key = 'visible';
    const lock = await rings.settled(a.ring.lock(key, { durable: true }));
    for (let i = 0; lock.holder === 'a'; i++) await add(a.ring, `b${i}`);
    const record = rings.etcd.store.entries.get(`p/k/${key}`);
    expect(JSON.parse(record?.value ?? '')).toMatchObject({ holder: lock.holder });
    await rings.settled(lock.release());
    expect(rings.etcd.store.entries.has(`p/k/${key}`)).toBe(false);
  });

  test('a key that goes to another process instead is still given up in order', async () => {
    await add(a.ring, 'b');
    const c = await rings.openWith('c');
    const key = keyOf(c.ring, 'c');
    const waiting = c.ring.lock(key);
    await rings.clock.advance(100);
    const lock = locks.find((one) => one.key === key);
    expect(lock?.revoking.aborted).toBe(true);
    await lock?.release();
    expect((await rings.settled(waiting)).token).toBeGreaterThan(lock?.token ?? 0n);
  });
});
