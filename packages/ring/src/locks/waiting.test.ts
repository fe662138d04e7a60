import { beforeEach, expect, test } from 'vitest';
import { LockTimeoutError } from '../errors.ts';
import { ringStatus } from '../status.ts';
import { VirtualRings } from '../testing/virtual-rings.ts';

let rings: VirtualRings;

beforeEach(() => {
  rings = new VirtualRings();
});

test('the waiters for a durable lock can be seen in etcd, until the wait is over', async () => {
  const first = await rings.openWith('a');
  const lock = await rings.settled(first.ring.lock('export', { durable: true }));
  const second = await rings.openWith('b');
  const third = await rings.open();
  const status = () => rings.settled(ringStatus(third.client, 'p'));
  const aborted = new AbortController();
  const waits = [
    second.ring.lock('export', { durable: true, signal: aborted.signal }),
    second.ring.lock('export', { durable: true, timeoutMs: 1000 }),
  ].map((wait) => wait.catch((error: unknown) => String(error)));
  // Without a member it waits all the same, unseen.
  const unseen = third.ring.lock('export', { durable: true, timeoutMs: 1000 });
  const timedOut = expect(unseen).rejects.toThrow(LockTimeoutError);
  await rings.clock.advance(100);
  const held = { key: 'export', holder: 'a', token: String(lock.token) };
  expect((await status()).locks).toEqual([{ ...held, waiters: ['b'] }]);
  await rings.clock.advance(1000);
  await rings.settled(timedOut);
  // One of two waits of the process is over, the other is still shown.
  expect((await status()).locks).toEqual([{ ...held, waiters: ['b'] }]);
  aborted.abort(new Error('enough'));
  await rings.clock.advance(100);
  expect(await rings.settled(Promise.all(waits))).toEqual([
    'Error: enough',
    expect.stringContaining('LockTimeoutError'),
  ]);
  expect((await status()).locks).toEqual([{ ...held, waiters: [] }]);
  await rings.settled(lock.release());
  expect((await status()).locks).toEqual([]);
});

test('the record of a wait that arrives after the wait ended is cleaned up', async () => {
  const { ring, client } = await rings.openWith('a');
  const lock = await rings.settled(ring.lock('k', { durable: true }));
  const wait = ring.lock('k', { durable: true });
  await rings.clock.advance(50);
  const record = rings.etcd.store.entries.get('p/w/k/a');
  expect(JSON.parse(record?.value ?? '{}')).toEqual({ waiter: 'a' });
  await rings.settled(lock.release());
  await rings.settled((await rings.settled(wait)).release());
  const { key = '', value = '', lease = 0n } = record ?? {};
  await rings.settled(
    client.txn({ when: [], success: [{ put: key, value, lease }], failure: [] }, 1000),
  );
  await rings.clock.advance(50);
  expect(rings.etcd.store.entries.has(key)).toBe(false);
});

test('waiters are listed in the order in which they began to wait', async () => {
  const first = await rings.openWith('m');
  const key = ['k1', 'k2', 'k3', 'k4'].find((one) => first.ring.ownerOf(one) === 'm') ?? 'k1';
  const lock = await rings.settled(first.ring.lock(key, { durable: true }));
  const waits: Promise<unknown>[] = [];
  for (const id of ['z', 'b', 'q']) {
    const { ring } = await rings.openWith(id);
    waits.push(ring.lock(key, { durable: true, timeoutMs: 1000 }).catch(() => undefined));
    await rings.clock.advance(50);
  }
  const [shown] = (await rings.settled(ringStatus(first.client, 'p'))).locks;
  expect(shown?.waiters).toEqual(['z', 'b', 'q']);
  await rings.clock.advance(2000);
  await rings.settled(Promise.all(waits));
  await rings.settled(lock.release());
});
