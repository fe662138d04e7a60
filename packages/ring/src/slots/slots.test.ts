import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { LockTable } from '../locks/lock-table.ts';
import { Membership } from '../membership.ts';
import { rendezvous } from '../placements.ts';
import { Slots } from './slots.ts';
import { KeptLog } from '../testing/kept-log.ts';
import { SimulatedEtcd } from '../testing/simulated-etcd.ts';

/** Slots whose counter is used up after `countersMax` grants. */
async function make(countersMax: number) {
  const clock = new VirtualClock();
  const sim = new SimulatedEtcd({ clock });
  const etcd = sim.connect();
  const shared = { etcd, clock, random: new SeededRandom(1), log: new KeptLog(), prefix: 'p/' };
  const opening = Membership.open(shared);
  await clock.advance(10);
  const membership = await opening;
  const options = { ...shared, membership, placement: rendezvous, count: 2, drainMs: 1000 };
  const slots = new Slots(
    { ...options, countersMax },
    {
      onGained() {},
      onMoved: (slot) => locks.onMoved(slot),
      onGrantable: (slot) => locks.onGrantable(slot),
      onRevoking: (slot) => locks.onRevoking(slot),
      onDrainLimit: (slot, reason) => locks.onLost(slot, reason),
      onLost: (slot, reason) => locks.onLost(slot, reason),
      onReleased() {},
      onError() {},
    },
  );
  const locks = new LockTable(clock, slots);
  const joining = membership.join('a');
  await clock.advance(50);
  await joining;
  return { clock, slots, locks, client: etcd };
}

test('a slot whose counter runs out gets a new epoch in time: tokens go on growing', async () => {
  const { clock, slots, locks } = await make(8);
  const slot = slots.all[0] as (typeof slots.all)[number];
  const firstEpoch = slot.epoch;
  let last = 0n;
  for (let i = 0; i < 100; i++) {
    const waiting = locks.lock(slot, 'k', {});
    await clock.advance(1);
    const lock = await waiting;
    expect(lock.token).toBeGreaterThan(last);
    last = lock.token;
    void lock.release();
  }
  expect(slot.epoch).toBeGreaterThan(firstEpoch);
});

test('with the counter used up and etcd away, a lock waits rather than repeat a token', async () => {
  const { clock, slots, locks, client } = await make(4);
  const slot = slots.all[0] as (typeof slots.all)[number];
  client.cut = true;
  const tokens: bigint[] = [];
  for (let lock = locks.tryLock(slot, 'k'); lock !== null; lock = locks.tryLock(slot, 'k')) {
    tokens.push(lock.token);
    void lock.release();
  }
  expect(tokens).toHaveLength(3);
  expect(slot.state).toBe('owned');
  const waiting = locks.lock(slot, 'k', {});
  client.cut = false;
  await clock.advance(3000);
  expect((await waiting).token).toBeGreaterThan(tokens.at(-1) ?? 0n);
});
