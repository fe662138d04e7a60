import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '@carillon/core/system';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdForTests } from '../../../../scripts/etcd.ts';
import { EtcdCluster } from '../../../../scripts/etcd-cluster.ts';
import { etcdContract } from './etcd.contract.ts';
import { EtcdClient } from './etcd-client.ts';
import { KeptLog } from '../testing/kept-log.ts';

const paths = etcdForTests();
const clock = new SystemClock();
const log = new KeptLog();

test('an endpoint that is none is refused with a sentence', () => {
  const make = (endpoints: string[]) => () => new EtcdClient({ endpoints, clock, log });
  expect(make([])).toThrow('at least one endpoint');
  for (const endpoint of ['localhost', 'ftp://127.0.0.1:2379', '127.0.0.1:', ':2379']) {
    expect(make([endpoint]), endpoint).toThrow('must look like http://127.0.0.1:2379');
  }
});

test('with no server listening, a call ends within its limit and says that it was not sent', async () => {
  const client = new EtcdClient({ endpoints: ['http://127.0.0.1:1'], clock, log });
  const put = { when: [], success: [{ put: 'a', value: '', lease: 0n }], failure: [] };
  await expect(client.txn(put, 300)).rejects.toMatchObject({ kind: 'not-sent' });
  await client.close();
});

describe.skipIf(paths === null)('etcd client on a real etcd', () => {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    if (paths !== null) cluster = await EtcdCluster.start({ paths });
  });

  afterAll(() => cluster?.stop());

  etcdContract('real client', () => ({
    connect: () => new EtcdClient({ endpoints: cluster.endpoints, clock, log }),
    settled: (promise) => promise,
    pass: (ms) => sleep(ms),
    compact: () => {
      const range = cluster.ctl(['get', 'ready', '-w', 'json']);
      const { header } = JSON.parse(range) as { header: { revision: number } };
      cluster.ctl(['compact', String(header.revision)]);
      return Promise.resolve();
    },
  }));

  test('a dead endpoint in front costs nothing but a moment', async () => {
    const endpoints = ['http://127.0.0.1:1', ...cluster.endpoints];
    const client = new EtcdClient({ endpoints, clock, log });
    expect((await client.range('none/', 2000)).entries).toEqual([]);
    await client.close();
  });
});

describe.skipIf(paths === null)('etcd client: TLS and passwords', () => {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    if (paths === null) return;
    cluster = await EtcdCluster.start({ paths, tls: true });
    cluster.requirePasswords({ name: 'ringer', password: 'secret', prefix: 'bells/' });
  });

  afterAll(() => cluster?.stop());

  function connect(user: string, password: string): EtcdClient {
    const tls = { ca: readFileSync(cluster.certificateOf(0), 'utf8') };
    return new EtcdClient({
      endpoints: cluster.endpoints,
      clock,
      log,
      tls,
      auth: { user, password },
    });
  }

  test('every verb works with a certificate and a user who may only see the prefix', async () => {
    const client = connect('ringer', 'secret');
    await client.grantLease(7n, 3000, 2000);
    const put = { when: [], success: [{ put: 'bells/a', value: '1', lease: 7n }], failure: [] };
    const { revision } = await client.txn(put, 2000);
    expect(await client.keepAlive(7n, 'bells/a', 2000)).toBe(3000);
    expect((await client.range('bells/', 2000)).entries).toHaveLength(1);
    const seen = await new Promise<string>((resolve) => {
      client.watch('bells/', revision, {
        onOpen() {},
        onChanges: (_revision, changes) => resolve(changes[0]?.kind ?? 'nothing'),
        onEnd: (error) => resolve(error.message),
      });
    });
    expect(seen).toBe('put');
    await client.revokeLease(7n, 2000);
    await client.close();
  });

  test('another prefix is refused, and so is a wrong password', async () => {
    const client = connect('ringer', 'secret');
    await expect(client.range('other/', 2000)).rejects.toMatchObject({ kind: 'refused' });
    await client.close();
    const wrong = connect('ringer', 'wrong');
    await expect(wrong.range('bells/', 2000)).rejects.toMatchObject({ kind: 'refused' });
    await wrong.close();
  });

  test('a certificate of an unknown authority is not trusted', async () => {
    const client = new EtcdClient({ endpoints: cluster.endpoints, clock, log });
    await expect(client.range('bells/', 500)).rejects.toMatchObject({ kind: 'not-sent' });
    await client.close();
  });
});
