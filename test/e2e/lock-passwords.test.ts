/** Locks on an etcd with certificates and passwords: the library and `carillon lock` as real processes. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ring, type RingOptions } from '@carillon/ring';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdForTests } from '../../scripts/etcd.ts';
import { EtcdCluster } from '../../scripts/etcd-cluster.ts';
import { CliProcess } from './cli-process.ts';

const paths = etcdForTests();
const user = { name: 'ringer', password: 'se:cret', prefix: 'bells/' };

describe.skipIf(paths === null)('locks on an etcd with TLS and passwords', () => {
  let etcd: EtcdCluster;
  const opened: Ring[] = [];

  beforeAll(async () => {
    if (paths === null) return;
    // A token of etcd ends after two seconds, so that locks outlive several.
    etcd = await EtcdCluster.start({ paths, tls: true, flags: ['--auth-token-ttl=2'] });
    etcd.requirePasswords(user);
  }, 60_000);

  afterAll(async () => {
    await Promise.all(opened.map((ring) => ring.close()));
    await etcd?.stop();
  });

  async function open(options: Partial<RingOptions> = {}): Promise<Ring> {
    const tls = { ca: readFileSync(etcd.certificateOf(0), 'utf8') };
    const auth = { user: user.name, password: user.password };
    const { endpoints } = etcd;
    const ring = await Ring.open({ endpoints, prefix: 'bells', tls, auth, ...options });
    opened.push(ring);
    return ring;
  }

  /** `carillon lock KEY … -- echo token`; its password comes from the environment. */
  function lockProcess(key: string, password = user.password): CliProcess {
    const flags = ['--ring', 'bells', '--etcd', etcd.endpoints.join(), '--ttl', '2s'];
    const secrets = ['--etcd-ca', etcd.certificateOf(0), '--etcd-user', user.name];
    const command = ['sh', '-c', 'echo "token $CARILLON_LOCK_TOKEN"'];
    return new CliProcess(['lock', key, ...flags, ...secrets, '--', ...command], {
      CARILLON_ETCD_PASSWORD: password,
    });
  }

  test('a durable lock moves between two processes, and nothing but the config stays behind', async () => {
    const a = await open();
    await a.addMember('a');
    const lock = await a.lock('export', { durable: true });
    const b = await open();
    await b.addMember('b', { onlyFor: 'export' });
    const waiting = b.lock('export', { durable: true });
    await lock.release();
    const next = await waiting;
    expect(next.token).toBeGreaterThan(lock.token);
    await next.release();
    await Promise.all([a.close(), b.close()]);
    expect(etcd.contents()).toEqual({ keys: ['bells/config'], leases: 0 });
  });

  test('a held lock outlives the tokens of etcd, and etcd itself', async () => {
    const ring = await open({ ttlMs: 10_000 });
    await ring.addMember('a');
    const lock = await ring.lock('kept', { durable: true });
    await sleep(5000);
    await etcd.kill(0);
    etcd.launch(0);
    await etcd.ready();
    await sleep(6000);
    expect(lock.held).toBe(true);
    expect(ring.connected).toBe(true);
    // Renewed since the restart: of a renewal before it, less than 3 s would be left.
    expect(lock.remainingMs()).toBeGreaterThan(4000);
    await lock.release();
    await ring.close();
  }, 60_000);

  test('`carillon lock` contends for the key of a service', async () => {
    const ring = await open();
    await ring.addMember('service');
    const lock = await ring.lock('nightly');
    const process = lockProcess('nightly');
    await sleep(1500);
    expect(process.lines).toEqual([]);
    await lock.release();
    expect(await process.ended).toEqual({ code: 0, signal: null });
    expect(BigInt(process.lines[0]?.split(' ')[1] ?? 0)).toBeGreaterThan(lock.token);
    await ring.close();
  }, 60_000);

  test('a wrong password and an unknown authority are told in a sentence, and nothing is locked', async () => {
    const process = lockProcess('nightly', 'wrong');
    expect((await process.ended).code).not.toBe(0);
    expect(process.errors.join('\n')).toContain('invalid user ID or password');
    expect(process.lines).toEqual([]);
    await expect(open({ tls: {} })).rejects.toThrow(/^ring: no connection to https:.*certificate/);
  }, 60_000);
});
