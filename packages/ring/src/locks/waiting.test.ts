import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { beforeEach, expect, test } from 'vitest';
import { LockTimeoutError } from '../errors.ts';
import { Ring } from '../ring.ts';
import { ringStatus } from '../status.ts';
import { SimulatedEtcd } from '../testing/simulated-etcd.ts';

let clock: VirtualClock;
let etcd: SimulatedEtcd;
let seed = 0;

beforeEach(() => {
  clock = new VirtualClock();
  etcd = new SimulatedEtcd({ clock });
});

async function settled<T>(promise: Promise<T>): Promise<T> {
  const state = { done: false };
  const mark = (): void => {
    state.done = true;
  };
  promise.then(mark, mark);
  for (let i = 0; i < 20_000 && !state.done; i++) await clock.advance(1);
  return promise;
}

async function open() {
  const client = etcd.connect();
  const random = new SeededRandom(seed++);
  const ring = await settled(Ring.open({ etcd: client, clock, random, prefix: 'p', slots: 64 }));
  return { ring, client };
}

async function openWith(id: string) {
  const opened = await open();
  await settled(opened.ring.addMember(id));
  await clock.advance(50);
  return opened;
}

test('the waiters for a durable lock can be seen in etcd, until the wait is over', async () => {
  const first = await openWith('a');
  const lock = await settled(first.ring.lock('export', { durable: true }));
  const second = await openWith('b');
  const third = await open();
  const status = () => settled(ringStatus(third.client, 'p'));
  const aborted = new AbortController();
  const waits = [
    second.ring.lock('export', { durable: true, signal: aborted.signal }),
    second.ring.lock('export', { durable: true, timeoutMs: 1000 }),
  ].map((wait) => wait.catch((error: unknown) => String(error)));
  // Without a member it waits all the same, unseen.
  const unseen = third.ring.lock('export', { durable: true, timeoutMs: 1000 });
  const timedOut = expect(unseen).rejects.toThrow(LockTimeoutError);
  await clock.advance(100);
  const held = { key: 'export', holder: 'a', token: String(lock.token) };
  expect((await status()).locks).toEqual([{ ...held, waiters: ['b'] }]);
  await clock.advance(1000);
  await settled(timedOut);
  // One of two waits of the process is over, the other is still shown.
  expect((await status()).locks).toEqual([{ ...held, waiters: ['b'] }]);
  aborted.abort(new Error('enough'));
  await clock.advance(100);
  expect(await settled(Promise.all(waits))).toEqual([
    'Error: enough',
    expect.stringContaining('LockTimeoutError'),
  ]);
  expect((await status()).locks).toEqual([{ ...held, waiters: [] }]);
  await settled(lock.release());
  expect((await status()).locks).toEqual([]);
});

test('the record of a wait that arrives after the wait ended is cleaned up', async () => {
  const { ring, client } = await openWith('a');
  const lock = await settled(ring.lock('k', { durable: true }));
  const wait = ring.lock('k', { durable: true });
  await clock.advance(50);
  const record = etcd.store.entries.get('p/w/k/a');
  expect(JSON.parse(record?.value ?? '{}')).toEqual({ waiter: 'a' });
  await settled(lock.release());
  await settled((await settled(wait)).release());
  const { key = '', value = '', lease = 0n } = record ?? {};
  await settled(client.txn({ when: [], success: [{ put: key, value, lease }], failure: [] }, 1000));
  await clock.advance(50);
  expect(etcd.store.entries.has(key)).toBe(false);
});

test('waiters are listed in the order in which they began to wait', async () => {
  const first = await openWith('m');
  const key = ['k1', 'k2', 'k3', 'k4'].find((one) => first.ring.ownerOf(one) === 'm') ?? 'k1';
  const lock = await settled(first.ring.lock(key, { durable: true }));
  const waits: Promise<unknown>[] = [];
  for (const id of ['z', 'b', 'q']) {
    const { ring } = await openWith(id);
    waits.push(ring.lock(key, { durable: true, timeoutMs: 1000 }).catch(() => undefined));
    await clock.advance(50);
  }
  const [shown] = (await settled(ringStatus(first.client, 'p'))).locks;
  expect(shown?.waiters).toEqual(['z', 'b', 'q']);
  await clock.advance(2000);
  await settled(Promise.all(waits));
  await settled(lock.release());
});
