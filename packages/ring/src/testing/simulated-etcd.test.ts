import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { etcdContract } from '../etcd/etcd.contract.ts';
import { SimulatedEtcd } from './simulated-etcd.ts';

const clock = new VirtualClock();
const etcd = new SimulatedEtcd({ clock });

function settled<T>(promise: Promise<T>): Promise<T> {
  return clock.settled(promise);
}

etcdContract('simulated', () => ({
  connect: () => etcd.connect(),
  settled,
  pass: (ms) => clock.advance(ms),
  compact: () => Promise.resolve(etcd.compact()),
}));

const put = {
  when: [],
  success: [{ put: 'lost/a', value: '1', lease: 0n }],
  failure: [],
};

test('simulated etcd: a lost answer does not mean that nothing happened', async () => {
  const client = etcd.connect();
  client.answerLossRatio = 1;
  await expect(settled(client.txn(put, 1000))).rejects.toMatchObject({ kind: 'no-answer' });
  client.answerLossRatio = 0;
  expect((await settled(client.range('lost/', 1000))).entries).toHaveLength(1);
});

test('simulated etcd: a client that is cut off gets no answer, its calls do nothing, its watches end', async () => {
  const client = etcd.connect();
  const ends: string[] = [];
  const cancel = client.watch('cut/', 1, {
    onOpen() {},
    onChanges() {},
    onEnd: (error) => ends.push(error.kind),
  });
  client.cut = true;
  const call = client.txn({ ...put, success: [{ put: 'cut/a', value: '', lease: 0n }] }, 1000);
  await expect(settled(call)).rejects.toMatchObject({ kind: 'no-answer' });
  await clock.advance(3000);
  expect(ends).toEqual(['no-answer']);
  expect(etcd.store.entries.has('cut/a')).toBe(false);
  cancel();
});

test('simulated etcd: while it is away no lease ends, and afterwards each has its full time again', async () => {
  const client = etcd.connect();
  await settled(client.grantLease(99n, 2000, 1000));
  etcd.away = true;
  await clock.advance(10_000);
  etcd.away = false;
  await clock.advance(1900);
  expect(etcd.store.leases.has(99n)).toBe(true);
  await clock.advance(200);
  expect(etcd.store.leases.has(99n)).toBe(false);
});
