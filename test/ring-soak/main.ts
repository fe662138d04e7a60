/** `npm run ring:soak`: the long form of the ring's proofs. `-- --help` lists its parts. */
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

const help = `npm run ring:soak -- [--minutes N] [--restarts N] [--only PART,PART]

The long form of the ring's proofs, on real processes of etcd and in the simulator:

  histories   N minutes of each of five mixes of faults: five real workers and three real etcds. Every grant, step and
              release is recorded; no update may be lost, and each key's history must be linearizable
  restarts    etcd is killed and started again, 100 times, while a lock with a TTL of 10 s is held: the lock may not
              be lost, and no lease, record or handle may be left over
  simulator   N minutes of fresh seeds, each a minute of virtual time with faults

  --minutes   N; default 10, which makes about 65 minutes in all
  --restarts  How many restarts; default 100
  --only      Parts, by name; default all

Each part tells one line when it is over. The last line is the summary: "ring soak: ok, 5 histories of 10 min, 100 restarts
of etcd, 4321 seeds". The exit code is 0; at the first broken promise it is 1, and the last line tells which promise, in
which part, and how to replay it.`;

type Part = 'histories' | 'restarts' | 'simulator';

const mixes: Readonly<Record<string, readonly Fault[]>> = {
  'stopped workers': ['stop-worker', 'stop-inside'],
  'killed workers': ['kill-worker', 'stop-inside'],
  'etcd killed and stopped': ['kill-etcd', 'stop-etcd'],
  'workers cut off from etcd': ['cut-worker', 'stop-inside'],
  everything: everyFault,
};

interface Options {
  readonly minutes: number;
  readonly restarts: number;
  readonly parts: readonly Part[];
}

async function main({ minutes, restarts, parts }: Options): Promise<void> {
  const seed = Date.now() >>> 0;
  const durationMs = minutes * 60_000;
  const run: Readonly<Record<Part, () => Promise<string>>> = {
    histories: () => histories(durationMs, seed),
    restarts: () => etcdRestarts(restarts),
    simulator: () => simulations(durationMs, seed),
  };
  const told: string[] = [];
  for (const part of parts) told.push(await run[part]());
  console.log(`ring soak: ok, ${told.join(', ')}`);
}

function optionsFrom(given: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...given],
    options: {
      minutes: { type: 'string', default: '10' },
      restarts: { type: 'string', default: '100' },
      only: { type: 'string', default: 'histories,restarts,simulator' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    process.exit(0);
  }
  const parts = values.only.split(',').map((name) => {
    if (name === 'histories' || name === 'restarts' || name === 'simulator') return name;
    throw new TypeError(`--only: "${name}" is none of histories, restarts, simulator.`);
  });
  const positive = (name: 'minutes' | 'restarts'): number => {
    const value = Number(values[name]);
    if (value > 0) return value;
    throw new TypeError(`--${name} must be a number above 0, not ${values[name]}.`);
  };
  return { minutes: positive('minutes'), restarts: positive('restarts'), parts };
}

async function histories(durationMs: number, seed: number): Promise<string> {
  const paths = etcdForTests();
  if (paths === null) return 'no etcd here: no histories';
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
      fail(
        `histories, ${name} (seed ${seed}): lost updates or a history that is not linearizable.`,
      );
    }
  }
  return `${Object.keys(mixes).length} histories of ${durationMs / 60_000} min`;
}

async function etcdRestarts(restarts: number): Promise<string> {
  const paths = etcdForTests();
  if (paths === null) return 'no etcd here: no restarts';
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
  if (lock.lost.aborted || handles > handlesBefore + 5) {
    fail('restarts: a restart of etcd cost the lock, or handles.');
  }
  await lock.release();
  await ring.close();
  const left = cluster.contents();
  await cluster.stop();
  if (left.leases !== 0 || left.keys.join() !== 'restarts/config') {
    fail(`restarts: left over in etcd: ${JSON.stringify(left)}`);
  }
  return `${restarts} restarts of etcd`;
}

async function simulations(durationMs: number, firstSeed: number): Promise<string> {
  const untilMs = performance.now() + durationMs;
  let seed = firstSeed;
  for (; performance.now() < untilMs; seed++) {
    const { violations } = await simulate({ seed, faultsMs: 60_000 });
    if (violations.length > 0) {
      fail(`simulator: simulate({ seed: ${seed}, faultsMs: 60_000 }): ${violations.join('; ')}`);
    }
  }
  console.log(`simulator: ${seed - firstSeed} seeds from ${firstSeed}, nothing found`);
  return `${seed - firstSeed} seeds`;
}

function fail(message: string): never {
  console.error(`ring soak: ${message}`);
  process.exit(1);
}

await main(optionsFrom(process.argv.slice(2)));
