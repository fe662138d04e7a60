import type { VirtualClock } from '@carillon/core/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  LockLostError,
  LockTimeoutError,
  MemberTakenError,
  NotLocalError,
  RingClosedError,
  RingConfigError,
} from './errors.ts';
import { successor } from './placements.ts';
import type { RingOptions } from './ring.ts';
import type { SimulatedEtcd } from './testing/simulated-etcd.ts';
import { keyOf, type OpenedRing, VirtualRings } from './testing/virtual-rings.ts';

let clock: VirtualClock;
let etcd: SimulatedEtcd;
let rings: VirtualRings;

beforeEach(() => {
  rings = new VirtualRings();
  ({ clock, etcd } = rings);
});

const settled = <T>(promise: Promise<T>): Promise<T> => rings.settled(promise);
const open = (options?: Partial<RingOptions>): Promise<OpenedRing> => rings.open(options);
const openWith = (id: string, options?: Partial<RingOptions>): Promise<OpenedRing> =>
  rings.openWith(id, options);

/** The state of a promise at this moment: waiting, granted, or the name of its error. */
async function stateOf(promise: Promise<unknown>): Promise<string> {
  let state = 'waiting';
  promise.then(
    () => (state = 'granted'),
    (error: Error) => (state = error.name),
  );
  await clock.advance(0);
  await clock.advance(0);
  return state;
}

/** A number as text hashes to itself. */
const integers = successor((bytes) => Number(new TextDecoder().decode(bytes)), 'integer');

describe('ring: locks in one process', () => {
  test('a lock is granted at once, without any call to etcd', async () => {
    const { ring } = await openWith('a');
    const before = { ...etcd.calls };
    for (let i = 0; i < 100; i++) {
      const lock = await ring.lock(`k${i}`);
      expect(lock.remainingMs()).toBeGreaterThan(4000);
      await lock.release();
    }
    expect(etcd.calls).toEqual(before);
  });

  test('first come, first served, and each token is larger than the one before', async () => {
    const { ring } = await openWith('a');
    const order: number[] = [];
    const tokens: bigint[] = [];
    const first = await ring.lock('k');
    const others = [1, 2, 3].map((i) =>
      ring.withLock('k', ({ token }) => {
        order.push(i);
        tokens.push(token);
      }),
    );
    expect(ring.tryLock('k')).toBeNull();
    await first.release();
    await Promise.all(others);
    expect(order).toEqual([1, 2, 3]);
    expect([first.token, ...tokens].toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      first.token,
      ...tokens,
    ]);
    expect(new Set(tokens).size).toBe(3);
  });

  test('release twice, or by leaving the scope, is fine; afterwards the lock says so', async () => {
    const { ring } = await openWith('a');
    let kept;
    {
      await using lock = await ring.lock('k');
      kept = lock;
      expect(() => lock.assertValid(1000)).not.toThrow();
      expect(() => lock.assertValid(60_000)).toThrow('too-short');
    }
    await kept.release();
    expect(kept.remainingMs()).toBe(0);
    expect(kept.lost.aborted).toBe(false);
    expect(() => kept.assertValid()).toThrow(LockLostError);
    expect(ring.tryLock('k')).not.toBeNull();
  });

  test('the result or error of the section passes through, and the lock is free again', async () => {
    const { ring } = await openWith('a');
    const failing = ring.withLock('k', () => {
      throw new Error('section failed');
    });
    await expect(failing).rejects.toThrow('section failed');
    expect(await ring.withLock('k', () => 42)).toBe(42);
    expect(ring.lockCount).toBe(0);
  });

  test('an aborted or timed out wait leaves nothing behind, and the next in line is not skipped', async () => {
    const { ring } = await openWith('a');
    const holder = await ring.lock('k');
    const controller = new AbortController();
    const aborted = ring.lock('k', { signal: controller.signal });
    const timed = ring.lock('k', { timeoutMs: 100 });
    const patient = ring.lock('k');
    controller.abort(new Error('changed my mind'));
    await expect(aborted).rejects.toThrow('changed my mind');
    const refused = expect(timed).rejects.toThrow(LockTimeoutError);
    await clock.advance(101);
    await refused;
    await holder.release();
    const lock = await patient;
    await lock.release();
    expect(ring.lockCount).toBe(0);
    await expect(ring.lock('k', { signal: controller.signal })).rejects.toThrow('changed my mind');
  });

  test('10,000 aborted waits leave no lock, record, lease, alarm or listener', async () => {
    const { ring } = await openWith('a');
    const holder = await ring.lock('k');
    const before = { entries: etcd.store.entries.size, leases: etcd.store.leases.size };
    const kept = new AbortController();
    let listeners = 0;
    const add = kept.signal.addEventListener.bind(kept.signal);
    const remove = kept.signal.removeEventListener.bind(kept.signal);
    kept.signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners++;
      add(...given);
    };
    kept.signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners--;
      remove(...given);
    };
    for (let i = 0; i < 5000; i++) {
      const controller = new AbortController();
      const wait = ring.lock('k', { signal: controller.signal, timeoutMs: 60_000 });
      controller.abort(new Error('no'));
      await wait.catch(() => {});
    }
    const timed = Array.from({ length: 5000 }, () =>
      ring.lock('k', { signal: kept.signal, timeoutMs: 5 }).catch(() => {}),
    );
    expect(listeners).toBe(5000);
    await clock.advance(10);
    await Promise.all(timed);
    expect(listeners).toBe(0);
    expect(ring.lockCount).toBe(1);
    expect({ entries: etcd.store.entries.size, leases: etcd.store.leases.size }).toEqual(before);
    await holder.release();
    await settled(ring.close());
    await clock.advance(2000);
    expect(clock.nextMs()).toBeNull();
  });

  test('nothing is granted under a lease whose time is over, even before anybody noticed', async () => {
    const { ring } = await openWith('a');
    const lock = await ring.lock('k');
    clock.wallOffsetMs += 10_000;
    expect(ring.tryLock('other')).toBeNull();
    expect(lock.remainingMs()).toBeLessThanOrEqual(0);
    expect(() => lock.assertValid()).toThrow(LockLostError);
    await clock.advance(5000);
    expect(lock.lost.aborted).toBe(true);
    expect(ring.tryLock('other')).not.toBeNull();
  });

  test('keys that cannot be are refused with a sentence', async () => {
    const { ring } = await openWith('a');
    await expect(ring.lock('')).rejects.toThrow('1 to 1024 characters');
    expect(() => ring.tryLock('x'.repeat(1025))).toThrow(TypeError);
  });

  test('a durable lock can be seen in etcd while it is held, and a late record is cleaned up', async () => {
    const { ring, client } = await openWith('a');
    const lock = await settled(ring.lock('night/export', { durable: true }));
    const record = etcd.store.entries.get('p/k/night%2Fexport');
    expect(JSON.parse(record?.value ?? '{}')).toEqual({ holder: 'a', token: String(lock.token) });
    await settled(lock.release());
    expect(etcd.store.entries.has('p/k/night%2Fexport')).toBe(false);
    // The same write once more, as if it had been under way all the time.
    const { key = '', value = '', lease = 0n } = record ?? {};
    await settled(
      client.txn({ when: [], success: [{ put: key, value, lease }], failure: [] }, 1000),
    );
    expect(etcd.store.entries.has(key)).toBe(true);
    await clock.advance(50);
    expect(etcd.store.entries.has(key)).toBe(false);
  });
});

describe('ring: several processes', () => {
  test('3 members and 9 keys spread 3/3/3, and a leaver moves exactly its keys', async () => {
    const options = { placement: integers };
    const opened = [
      await openWith('3', options),
      await openWith('6', options),
      await openWith('9', options),
    ];
    await clock.advance(100);
    const keys = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
    const held = (): string[][] =>
      opened.map(({ ring }) => keys.filter((key) => ring.tryLock(key)?.release() !== undefined));
    expect(held()).toEqual([
      ['1', '2', '3'],
      ['4', '5', '6'],
      ['7', '8', '9'],
    ]);
    await settled(opened[1]?.ring.removeMember('6') ?? Promise.resolve());
    await clock.advance(100);
    expect(held()).toEqual([['1', '2', '3'], [], ['4', '5', '6', '7', '8', '9']]);
    await settled(opened[1]?.ring.addMember('8') ?? Promise.resolve());
    await clock.advance(100);
    expect(held()).toEqual([['1', '2', '3'], ['4', '5', '6', '7', '8'], ['9']]);
  });

  test('a newcomer gets only its share, and locks on keys that do not move see no signal', async () => {
    const { ring: a } = await openWith('a');
    const locks = await Promise.all(Array.from({ length: 40 }, (_, i) => a.lock(`k${i}`)));
    const { ring: b } = await openWith('b');
    for (const lock of locks) {
      expect(lock.revoking.aborted).toBe(b.ownerOf(lock.key) === 'b');
      expect(lock.lost.aborted).toBe(false);
    }
    expect(locks.some((lock) => lock.revoking.aborted)).toBe(true);
    expect(locks.every((lock) => lock.revoking.aborted)).toBe(false);
  });

  test('a moving key: the holder is asked, finishes, and only then the other side gets it', async () => {
    const { ring: a } = await openWith('a');
    const probe = await openWith('b');
    const key = keyOf(a, 'b');
    await settled(probe.ring.removeMember('b'));
    await clock.advance(100);
    const lock = await settled(a.lock(key));
    await settled(probe.ring.addMember('b'));
    const waiting = probe.ring.lock(key);
    await clock.advance(1000);
    expect(lock.revoking.aborted).toBe(true);
    expect(lock.lost.aborted).toBe(false);
    expect(lock.remainingMs()).toBeGreaterThan(0);
    expect(await stateOf(waiting)).toBe('waiting');
    expect(a.tryLock(key)).toBeNull();
    await lock.release();
    const next = await settled(waiting);
    expect(next.token).toBeGreaterThan(lock.token);
    expect(lock.lost.aborted).toBe(false);
  });

  test('a holder that does not finish loses the lock at the drain limit, before the other side gets it', async () => {
    const { ring: a } = await openWith('a');
    const { ring: b } = await openWith('b');
    const key = keyOf(a, 'b');
    await settled(b.removeMember('b'));
    const lock = await settled(a.lock(key));
    await settled(b.addMember('b'));
    const order: string[] = [];
    lock.lost.addEventListener('abort', () => order.push('lost'));
    const waiting = b.lock(key).then((granted) => {
      order.push('granted');
      return granted;
    });
    await clock.advance(2900);
    expect(order).toEqual([]);
    await clock.advance(200);
    expect(order).toEqual(['lost', 'granted']);
    expect((lock.lost.reason as LockLostError).reason).toBe('rebalanced');
    await lock.release();
    expect((await waiting).held).toBe(true);
  });

  test('a process without members waits, and is served when the key becomes its own', async () => {
    const { ring: a } = await openWith('a');
    const { ring: b } = await open();
    const waiting = b.lock('k');
    await clock.advance(1000);
    expect(await stateOf(waiting)).toBe('waiting');
    await settled(a.close());
    await settled(b.addMember('b'));
    await clock.advance(100);
    expect(await stateOf(waiting)).toBe('granted');
  });

  test('a process that dies: its keys move within TTL + 1 s, with larger tokens', async () => {
    const a = await openWith('a');
    const { ring: b } = await openWith('b');
    await clock.advance(100);
    const key = keyOf(b, 'a');
    const lock = await settled(a.ring.lock(key));
    const waiting = b.lock(key);
    a.client.cut = true;
    await clock.advance(6000);
    expect(await stateOf(waiting)).toBe('granted');
    expect((await waiting).token).toBeGreaterThan(lock.token);
    expect(lock.lost.aborted).toBe(true);
    expect((lock.lost.reason as LockLostError).reason).toBe('cut-off');
  });

  test('cut off: the lock is lost at least the margin before anybody else can get it', async () => {
    const a = await openWith('a');
    const { ring: b } = await openWith('b');
    await clock.advance(100);
    const key = keyOf(b, 'a');
    const lock = await settled(a.ring.lock(key));
    let lostAtMs = 0;
    let grantedAtMs = 0;
    lock.lost.addEventListener('abort', () => (lostAtMs = clock.now()));
    void b.lock(key).then(() => (grantedAtMs = clock.now()));
    a.client.cut = true;
    await clock.advance(10_000);
    expect(lostAtMs).toBeGreaterThan(0);
    expect(grantedAtMs - lostAtMs).toBeGreaterThanOrEqual(500);
  });

  test('events tell each change of a slot', async () => {
    const { ring: a } = await openWith('a');
    const seen: string[] = [];
    a.on('revoking', () => seen.push('revoking'));
    a.on('released', ({ reason }) => seen.push(`released ${reason ?? 'in order'}`));
    a.on('member', ({ kind, member }) => seen.push(`${kind} ${member.id}`));
    const { ring: b } = await open({});
    let gained = 0;
    b.on('gained', () => gained++);
    await settled(b.addMember('b'));
    await clock.advance(100);
    expect(gained).toBe(b.ownedSlots().length);
    expect(new Set(seen)).toEqual(new Set(['joined b', 'revoking', 'released in order']));
  });
});

describe('ring: membership rules and closing', () => {
  test('the same id in this ring is fine, elsewhere it is taken', async () => {
    const { ring: a } = await openWith('a');
    await settled(a.addMember('a'));
    const { ring: b } = await open();
    await expect(settled(b.addMember('a', { waitMs: 0 }))).rejects.toThrow(MemberTakenError);
  });

  test('only an own member can be removed, and only once', async () => {
    const { ring: a } = await openWith('a');
    const { ring: b } = await open();
    const before = etcd.store.revision;
    await expect(b.removeMember('a')).rejects.toThrow(NotLocalError);
    await expect(b.removeMember('nobody')).rejects.toThrow(NotLocalError);
    expect(etcd.store.revision).toBe(before);
    await settled(a.removeMember('a'));
    await expect(a.removeMember('a')).rejects.toThrow(NotLocalError);
  });

  test.each([
    ['slots', { slots: 128 }],
    ['placement', { placement: 'successor' as const }],
    ['hash', { placement: { ...successor(() => 7), name: 'rendezvous' } }],
    ['slot count that cannot be', { slots: 0.5 }],
  ])('another %s on the same prefix is refused', async (_what, other) => {
    await openWith('a');
    await expect(open(other)).rejects.toThrow(RingConfigError);
  });

  test.each([
    [{ prefix: '' }, 'the prefix must be a name'],
    [{ prefix: 'p/' }, 'the prefix must be a name'],
    [{ ttlMs: 10 }, 'from 1000'],
    [{ ttlMs: Number.NaN }, 'from 1000'],
    [{ marginMs: 5000 }, 'less than ttlMs'],
    [{ drainMs: -1 }, '0 or more'],
  ])('%j is refused before anything is written', async (options, sentence) => {
    await expect(open(options)).rejects.toThrow(sentence);
    expect(etcd.store.entries.size).toBe(0);
  });

  test('close: waiters are refused, holders may finish, nothing is left in etcd but the config', async () => {
    const { ring } = await openWith('a');
    const lock = await ring.lock('k');
    const waiting = ring.lock('k');
    const closing = ring.close();
    await expect(waiting).rejects.toThrow(RingClosedError);
    await clock.advance(1000);
    expect(lock.revoking.aborted).toBe(true);
    expect(lock.lost.aborted).toBe(false);
    await lock.release();
    await settled(closing);
    expect([...etcd.store.entries.keys()]).toEqual(['p/config']);
    expect(etcd.store.leases.size).toBe(0);
    await expect(ring.lock('k')).rejects.toThrow(RingClosedError);
    await expect(ring.addMember('b')).rejects.toThrow(RingClosedError);
    await settled(ring.close());
    await clock.advance(5000);
    expect(clock.nextMs()).toBeNull();
  });

  test('a holder that ignores the closing loses its lock at the drain limit', async () => {
    const { ring } = await openWith('a');
    const lock = await ring.lock('k');
    await settled(ring.close());
    expect((lock.lost.reason as LockLostError).reason).toBe('closed');
  });

  test('1000 waiting keys cost no calls to etcd beyond the keepalives', async () => {
    await openWith('a');
    const { ring: b } = await open();
    for (let i = 0; i < 1000; i++) b.lock(`k${i}`).catch(() => {});
    await clock.advance(1000);
    const before = { ...etcd.calls };
    await clock.advance(20_000);
    const { keepAlive, ...others } = etcd.calls;
    const { keepAlive: keepAlivesBefore, ...othersBefore } = before;
    expect(others).toEqual(othersBefore);
    expect(keepAlive - keepAlivesBefore).toBeLessThanOrEqual(20);
  });

  test('a lost answer to a claim or a release: no slot is lost or doubled', async () => {
    const a = await open();
    a.client.answerLossRatio = 0.5;
    await settled(
      (async () => {
        for (;;) {
          try {
            await a.ring.addMember('a');
            return;
          } catch {
            // The join itself may have lost its answer.
          }
        }
      })(),
    );
    await clock.advance(15_000);
    a.client.answerLossRatio = 0;
    await clock.advance(5000);
    expect(a.ring.ownedSlots()).toHaveLength(64);
    const { ring: b } = await openWith('b');
    await clock.advance(100);
    expect(a.ring.ownedSlots().length + b.ownedSlots().length).toBe(64);
  });
});
