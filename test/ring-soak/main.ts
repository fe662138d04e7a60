/**
 * `npm run ring:soak`: the long form of the ring's proofs. Ten minutes of each mix of faults on five real workers and three
 * real etcds, a hundred restarts of etcd, then fresh seeds in the simulator for ten minutes. `-- --minutes 1` makes each part
 * shorter. Ends with 1 at the first broken promise, and says how to replay it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SeededRandom } from '@carillon/core/testing';
import { Ring } from '@carillon/ring';
import {
  type Fault,
  faults as everyFault,
  runHistory,
} from '../../packages/ring/src/testing/history.ts';
import { simulate } from '../../packages/ring/src/testing/ring-simulation.ts';
import { etcdForTests } from '../../scripts/etcd.ts';
import { EtcdCluster } from '../../scripts/etcd-cluster.ts';

const mixes: Readonly<Record<string, readonly Fault[]>> = {
  'stopped workers': ['stop-worker', 'stop-inside'],
  'killed workers': ['kill-worker', 'stop-inside'],
  'etcd killed and stopped': ['kill-etcd', 'stop-etcd'],
  'workers cut off from etcd': ['cut-worker', 'stop-inside'],
  everything: everyFault,
};
const restarts = 100;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
  const minutes = Number(values.minutes);
  if (!(minutes > 0))
    throw new TypeError(`--minutes must be a number above 0, not ${values.minutes}.`);
  const seed = Date.now() >>> 0;
  await histories(minutes * 60_000, seed);
  await etcdRestarts();
  await simulations(minutes * 60_000, seed);
}

async function histories(durationMs: number, seed: number): Promise<void> {
  const paths = etcdForTests();
  if (paths === null) return;
  for (const [name, faults] of Object.entries(mixes)) {
    const cluster = await EtcdCluster.start({ paths, size: 3 });
    const random = new SeededRandom(seed);
    const prefix = 'soak';
    const result = await runHistory({
      cluster,
      random,
      prefix,
      durationMs,
      faults,
      storeChecksTokens: true,
    });
    await cluster.stop();
    console.log(`${name}: ${JSON.stringify(result)}`);
    if (result.lostUpdates !== 0 || result.notLinearizable.length > 0) {
      fail(`${name} broke a promise.`);
    }
  }
}

async function etcdRestarts(): Promise<void> {
  const paths = etcdForTests();
  if (paths === null) return;
  const cluster = await EtcdCluster.start({ paths });
  const { endpoints } = cluster;
  const ring = await Ring.open({ endpoints, prefix: 'restarts', ttlMs: 10_000 });
  await ring.addMember('a');
  const lock = await ring.lock('k');
  const handlesBefore = process.getActiveResourcesInfo().length;
  for (let i = 0; i < restarts; i++) {
    await cluster.kill(0);
    cluster.launch(0);
    await cluster.ready();
    await sleep(100);
  }
  await sleep(3500);
  const handles = process.getActiveResourcesInfo().length;
  console.log(
    `${restarts} restarts of etcd: lost ${lock.lost.aborted}, handles ${handlesBefore} → ${handles}`,
  );
  if (lock.lost.aborted || handles > handlesBefore + 5) fail('a restart of etcd cost something.');
  await lock.release();
  await ring.close();
  const left = cluster.contents();
  await cluster.stop();
  if (left.leases !== 0 || left.keys.join() !== 'restarts/config') fail(JSON.stringify(left));
}

async function simulations(durationMs: number, firstSeed: number): Promise<void> {
  const untilMs = performance.now() + durationMs;
  let seed = firstSeed;
  for (; performance.now() < untilMs; seed++) {
    const { violations } = await simulate({ seed, faultsMs: 60_000 });
    if (violations.length > 0) {
      fail(`simulate({ seed: ${seed}, faultsMs: 60_000 }): ${violations.join('; ')}`);
    }
  }
  console.log(`simulator: ${seed - firstSeed} seeds from ${firstSeed}, nothing found`);
}

function fail(message: string): never {
  console.error(`ring soak: ${message}`);
  process.exit(1);
}

await main();
