/** First steps with the library: names, addresses, hashes, errors, closing. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '@carillon/core/system';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { MemberTakenError, RingConfigError } from './errors.ts';
import { EtcdClient } from './etcd/etcd-client.ts';
import { crc32 } from './placements.ts';
import { Ring } from './ring.ts';
import { VirtualRings } from './testing/virtual-rings.ts';

let rings: VirtualRings;
beforeEach(() => {
  rings = new VirtualRings();
});

describe('a member that was killed and starts again within its old lease', () => {
  test('waits for the lease, by default a second longer than its TTL', async () => {
    const { ring, client } = await rings.openWith('a');
    client.cut = true;
    await rings.clock.advance(500);
    const { ring: next } = await rings.open();
    await rings.settled(next.addMember('a'));
    expect(next.view.members.map(({ id }) => id)).toEqual(['a']);
    expect(ring.ownedSlots()).toEqual([]);
  });

  test('is refused at once when it does not want to wait, and after the wait when the other one lives', async () => {
    await rings.openWith('a');
    const { ring } = await rings.open();
    const startMs = rings.clock.now();
    await expect(rings.settled(ring.addMember('a', { waitMs: 0 }))).rejects.toThrow(
      MemberTakenError,
    );
    expect(rings.clock.now() - startMs).toBeLessThan(100);
    await expect(rings.settled(ring.addMember('a'))).rejects.toThrow(MemberTakenError);
    expect(rings.clock.now() - startMs).toBeGreaterThan(6000);
  });
});

test('a bare hash function is a placement; another function on the same prefix is refused', async () => {
  const { ring } = await rings.openWith('a', { placement: (bytes) => crc32(bytes) });
  expect(ring.view.members[0]?.position).toBe(crc32(new TextEncoder().encode('a')) % 64);
  const sum = (bytes: Uint8Array): number => bytes.reduce((total, byte) => total + byte, 0);
  await expect(rings.open({ placement: sum })).rejects.toThrow(RingConfigError);
});

test.each(['successor', undefined] as const)(
  'a ring made with the bare function crc32 is joined by a process that says %s',
  async (placement) => {
    const { ring } = await rings.openWith('a', { placement: (bytes) => crc32(bytes) });
    const { ring: other } = await rings.open({ ...(placement !== undefined && { placement }) });
    expect(other.view.members).toEqual(ring.view.members);
    expect(other.ownerOf('k')).toBe('a');
  },
);

test('a process that leaves placement open is told that a ring has a hash function of its own', async () => {
  const sum = (bytes: Uint8Array): number => bytes.reduce((total, byte) => total + byte, 0);
  await rings.openWith('a', { placement: sum });
  await expect(rings.open()).rejects.toThrow(/places keys by a hash function of its own/);
});

test('members have no position where placement knows none', async () => {
  const { ring } = await rings.openWith('a');
  expect(ring.view.members[0]?.position).toBeNull();
});

test('rings with different prefixes share nothing: neither members nor keys, on one etcd', async () => {
  const { ring } = await rings.openWith('a');
  const { ring: other } = await rings.openWith('b', { prefix: 'q', slots: 16 });
  expect([ring, other].map(({ view }) => view.members.map(({ id }) => id))).toEqual([['a'], ['b']]);
  expect([ring.ownedSlots().length, other.ownedSlots().length]).toEqual([64, 16]);
  const held = await rings.settled(ring.lock('k'));
  expect(other.tryLock('k')?.held).toBe(true);
  await rings.settled(ring.close());
  expect(held.held).toBe(false);
  expect(other.view.members).toHaveLength(1);
});

test('a prefix may begin with a slash', async () => {
  const { ring } = await rings.openWith('a', { prefix: '/apps/billing' });
  expect(
    [...rings.etcd.store.entries.keys()].every((key) => key.startsWith('/apps/billing/')),
  ).toBe(true);
  expect((await ring.lock('k')).held).toBe(true);
});

test('unlock gives back the lock on a key that any part of this process took', async () => {
  const { ring } = await rings.openWith('a');
  const lock = await ring.lock('k');
  expect(await ring.unlock('k')).toBe(true);
  expect(lock.held).toBe(false);
  expect(await ring.unlock('k')).toBe(false);
});

test('closing says which locks it waits for', async () => {
  const { ring } = await rings.openWith('a');
  await ring.lock('nightly-export');
  await rings.settled(ring.close());
  expect(rings.log.lines.join('\n')).toContain('stays open until "nightly-export"');
});

test('without a log, closing warns of the locks it waits for, and says how long', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const { etcd, clock } = rings;
  const quiet = { etcd: etcd.connect(), clock, prefix: 'quiet', drainMs: 3000 };
  const ring = await rings.settled(Ring.open(quiet));
  await rings.settled(ring.addMember('a'));
  await rings.settled(ring.lock('nightly-export'));
  await rings.settled(ring.close());
  expect(warned.mock.calls).toEqual([
    ['The ring stays open until "nightly-export" are released, for 3000 ms at most.'],
  ]);
  warned.mockRestore();
});

test('where nothing listens, opening a ring says so in one sentence, within a second', async () => {
  const { clock } = rings;
  const startMs = clock.now();
  const told: number[] = [];
  const opening = Ring.open({ endpoints: ['127.0.0.1:1'], prefix: 'p', clock }).finally(() => {
    told.push(clock.now() - startMs);
  });
  const refused = expect(opening).rejects.toThrow(/^ring: no etcd listens at 127\.0\.0\.1:1\.$/);
  // Only the socket lives in real time: each turn lets it tell of its refusal.
  for (let i = 0; i < 40 && told.length === 0; i++) {
    await sleep(5);
    await clock.advance(50);
  }
  await refused;
  expect(told[0]).toBeLessThanOrEqual(1000);
});

test('an etcd that takes longer than a second to answer is not said to be missing', async () => {
  const server = createServer((socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const opening = Ring.open({ endpoints: [`127.0.0.1:${port}`], prefix: 'p' });
  const problem = (await opening.catch((error: unknown) => error)) as Error;
  server.close();
  expect(problem.message).not.toContain('listens');
  expect(problem.message).toContain('no answer within');
}, 30_000);

test.each(['127.0.0.1:2379', 'localhost:2379', 'http://127.0.0.1:2379', '[::1]:2379'])(
  'the endpoint %s is taken',
  (endpoint) => {
    const log = rings.log;
    expect(
      () => new EtcdClient({ endpoints: [endpoint], clock: new SystemClock(), log }),
    ).not.toThrow();
  },
);
