/** The simulated ports keep the contracts of the real ones, and processes end and stand still as real ones do. */
import { MemoryDisk, SeededRandom } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { callbacksContract } from '../../core/src/testing/callbacks.contract.ts';
import { clockContract } from '../../core/src/testing/clock.contract.ts';
import { diskContract } from '../../core/src/testing/disk.contract.ts';
import { networkContract } from '../../core/src/testing/network.contract.ts';
import { FaultLog } from './world/fault-log.ts';
import { Cables } from './world/network.ts';
import { Process } from './world/process.ts';
import { type Manner, Receivers } from './world/receivers.ts';
import { thriftyDisk } from './world/thrifty-disk.ts';
import { World } from './world/world.ts';

function processIn(world: World, driftPpm = 0, name = 'm0'): Process {
  const faults = { driftPpm, wallOffsetMs: 1234.5 };
  const onThrow = (error: unknown): void => {
    throw error;
  };
  return new Process({ name, world, faults, baseMs: 777.7, onThrow });
}

clockContract('simulated process', () => {
  const world = new World();
  return { clock: processIn(world), pass: (ms) => world.run(world.nowMs + ms) };
});

clockContract('simulated process with drift', () => {
  const world = new World();
  return { clock: processIn(world, 150), pass: (ms) => world.run(world.nowMs + ms) };
});

diskContract('thrifty', async () => thriftyDisk(new MemoryDisk()));

networkContract('simulated cables', async () => {
  const world = new World();
  const cables = new Cables({ world, faults: new FaultLog(), random: new SeededRandom(1) });
  let count = 0;
  return {
    join: () => {
      const name = `m${count++}`;
      return { network: cables.join(processIn(world, 0, name)), address: () => `${name}:1` };
    },
    until: async (outcome) => {
      const over: true[] = [];
      void outcome.then(() => over.push(true));
      for (let i = 0; i < 10_000 && over.length === 0; i++) await world.run(world.nowMs + 1);
      return outcome;
    },
    nowhere: 'nobody:1',
    end: async () => {},
  };
});

const manners: Readonly<Record<string, Manner>> = {
  'answers-204': { does: 'answer', status: 204, afterMs: 0 },
  'answers-503-after-7s': { does: 'answer', status: 503, afterMs: 0, retryAfterMs: 7000 },
  hangs: { does: 'hang' },
  cuts: { does: 'cut-after-effect' },
  refuses: { does: 'refuse' },
};

callbacksContract('simulated receivers', async () => {
  const world = new World();
  const receivers = new Receivers({ world, random: new SeededRandom(1) });
  for (const [name, manner] of Object.entries(manners)) receivers.behave(name, manner);
  return {
    callbacks: receivers.join(processIn(world)),
    uri: (kind) => `http://${kind}/`,
    pass: (ms) => world.run(world.nowMs + ms),
    until: async (holds) => {
      for (let i = 0; i < 100 && !holds(); i++) await world.run(world.nowMs + 1);
    },
    dispose: async () => {},
  };
});

test('nothing of a dead process runs, and a cancelled alarm does not run even when a pause held it', async () => {
  const world = new World();
  const [dead, paused] = [processIn(world), processIn(world)];
  const ran: string[] = [];
  dead.at(dead.now() + 10, () => ran.push('dead'));
  dead.kill();
  const cancel = paused.at(paused.now() + 10, () => ran.push('cancelled'));
  paused.at(paused.now() + 5, () => {
    ran.push('timer');
    cancel();
  });
  paused.pause();
  await world.run(20);
  paused.arrive(() => ran.push('frame'));
  expect(ran).toEqual([]);
  paused.resume();
  await world.run(21);
  expect(ran).toEqual(['timer', 'frame']);
});

test('between two events every promise that can settle has settled', async () => {
  const world = new World();
  const seen: number[] = [];
  world.at(1, () => {
    void (async () => {
      for (let i = 0; i < 50; i++) await Promise.resolve();
      seen.push(world.nowMs);
    })();
  });
  world.at(2, () => seen.push(world.nowMs));
  await world.run(10);
  expect(seen).toEqual([1, 2]);
});
