import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { Ring } from '@carillon/ring';
import { SimulatedEtcd } from '@carillon/ring/testing';
import { expect, test } from 'vitest';
import { defaultConfig } from '../config/config.ts';
import { openRings, Rings } from './rings.ts';

function scene() {
  const clock = new VirtualClock();
  const etcd = new SimulatedEtcd({ clock });
  const client = etcd.connect();
  let reads = 0;
  const counted = Object.assign(Object.create(client) as typeof client, {
    range: (prefix: string, limitMs: number) => {
      reads++;
      return client.range(prefix, limitMs);
    },
  });
  const rings = new Rings({ names: ['a', 'b'], connect: () => counted, clock });
  const settled = <T>(promise: Promise<T>): Promise<T> => clock.settled(promise);
  return { clock, etcd, rings, settled, reads: () => reads };
}

test('shows the holder, the token and the waiters; a ring that is not there has no config', async () => {
  const { clock, etcd, rings, settled } = scene();
  const ring = await settled(
    Ring.open({ etcd: etcd.connect(), clock, random: new SeededRandom(1), prefix: 'a', slots: 8 }),
  );
  await settled(ring.addMember('worker'));
  const lock = await settled(ring.lock('export', { durable: true }));
  const waiting = ring.lock('export', { durable: true });
  await clock.advance(100);
  const [a, b] = await settled(rings.read());
  expect(a?.status?.locks).toEqual([
    { key: 'export', holder: 'worker', token: String(lock.token), waiters: ['worker'] },
  ]);
  expect(b).toMatchObject({ name: 'b', problem: null, status: { config: null, locks: [] } });
  await settled(lock.release());
  await settled((await settled(waiting)).release());
  await settled(ring.close());
});

test('etcd is read once a second, however many ask', async () => {
  const { clock, rings, settled, reads } = scene();
  await settled(Promise.all([rings.read(), rings.read()]));
  await settled(rings.read());
  expect(reads()).toBe(2);
  await clock.advance(1000);
  await settled(rings.read());
  expect(reads()).toBe(4);
});

test('an etcd that cannot be read is told as a sentence, and asked again later', async () => {
  const clock = new VirtualClock();
  let tries = 0;
  const connect = (): never => {
    tries++;
    throw new TypeError('etcd: no such place.');
  };
  const rings = new Rings({ names: ['a'], connect, clock });
  expect(await rings.read()).toEqual([
    { name: 'a', status: null, problem: 'etcd cannot be read: etcd: no such place.' },
  ]);
  await clock.advance(1000);
  await rings.read();
  expect(tries).toBe(2);
});

test('rings are looked for in the etcd that is named for them, else in that of the cluster', async () => {
  const clock = new VirtualClock();
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const { cluster, locks, etcd } = defaultConfig;
  const open = (own: readonly string[], shared: readonly string[], rings = locks.rings) => {
    const given = { ...locks, rings, etcdEndpoints: own };
    return openRings(
      { locks: given, cluster: { ...cluster, etcdEndpoints: shared }, etcd },
      { clock, log },
    );
  };
  const place = ['http://127.0.0.1:1'];
  expect(open([], [])).toBeNull();
  expect(open([], place)).not.toBeNull();
  expect(open(place, [])).not.toBeNull();
  expect(open([], place, [])).toBeNull();
  await open([], place)?.close();
});
