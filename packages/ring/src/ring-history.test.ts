/** Recorded histories of real processes under a nemesis. The long form is `npm run ring:soak`. */
import { SeededRandom } from '@carillon/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdForTests } from '../../../scripts/etcd.ts';
import { EtcdCluster } from '../../../scripts/etcd-cluster.ts';
import { faults, runHistory } from './testing/history.ts';

const paths = etcdForTests();

describe.skipIf(paths === null)('ring: histories', () => {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    if (paths !== null) cluster = await EtcdCluster.start({ paths, size: 3 });
  }, 60_000);

  afterAll(() => cluster?.stop());

  test('5 workers, 20 keys, 3 etcds, every fault: locks are linearizable, and a store that checks tokens loses no update', async () => {
    const result = await runHistory({
      cluster,
      random: new SeededRandom(5),
      prefix: 'fenced',
      durationMs: 16_000,
      faults,
      storeChecksTokens: true,
    });
    expect(result).toMatchObject({ lostUpdates: 0, notLinearizable: [] });
    expect(result.operations).toBeGreaterThan(1000);
    expect(result.acknowledged).toBeGreaterThan(200);
    // The tokens were needed: a stopped worker came back after its lock was lost, and was refused.
    expect(result.refused).toBeGreaterThan(0);
  }, 120_000);

  test('the same without token checks loses updates when workers are stopped: the checker can fail', async () => {
    const result = await runHistory({
      cluster,
      random: new SeededRandom(6),
      prefix: 'unfenced',
      durationMs: 5000,
      faults: ['stop-inside', 'stop-worker'],
      storeChecksTokens: false,
    });
    expect(result.lostUpdates).toBeGreaterThan(0);
  }, 120_000);

  test('workers that hand out a token twice are noticed: the history fits no lock', async () => {
    const result = await runHistory({
      cluster,
      random: new SeededRandom(7),
      prefix: 'twice',
      durationMs: 1000,
      faults: ['stop-worker'],
      storeChecksTokens: true,
      tokensTwice: true,
    });
    expect(result.notLinearizable.length).toBeGreaterThan(0);
  }, 120_000);
});
