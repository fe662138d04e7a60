import type { DiskError } from '@carillon/core';
import { SeededRandom } from '@carillon/core/testing';
import { expect, it } from 'vitest';
import { recordOf, World } from '../testing/journal-world.ts';

it('writes entries that no caller waits for at once, so that they outlive the process', async () => {
  const world = new World();
  const journal = await world.open();
  journal.put(recordOf(1, 0));
  await world.clock.advance(0);
  expect(journal.backlogBytes).toBe(0);
  const after = new World(world.disk.kill());
  await after.open();
  expect(after.sequences).toEqual({ 1: 0 });
});

it('syncs entries that no caller waits for together, 10 ms after the first', async () => {
  const world = new World();
  const journal = await world.open();
  const before = world.disk.calls.sync;
  const done: (DiskError | null)[] = [];
  for (const lo of [1, 2, 3]) {
    journal.put(recordOf(lo, 0));
    journal.commitPatiently((error) => done.push(error));
    await world.clock.advance(3);
  }
  expect(done).toEqual([]);
  await world.clock.advance(1);
  expect(done).toEqual([null, null, null]);
  expect(world.disk.calls.sync - before).toBe(1);
  const after = new World(world.disk.crash(new SeededRandom(1)));
  await after.open();
  expect(after.sequences).toEqual({ 1: 0, 2: 0, 3: 0 });
});

it('covers entries that no caller waits for with the sync of the next commit', async () => {
  const world = new World();
  const journal = await world.open();
  const before = world.disk.calls.sync;
  const done: string[] = [];
  journal.put(recordOf(1, 0));
  journal.commitPatiently(() => done.push('patient'));
  await world.clock.advance(1);
  expect(done).toEqual([]);
  journal.commit(() => done.push('commit'));
  await world.clock.advance(0);
  expect(done).toEqual(['patient', 'commit']);
  await world.clock.advance(100);
  expect(world.disk.calls.sync - before).toBe(1);
});

it('syncs entries that no caller waits for before it goes on in another segment', async () => {
  const world = new World();
  const journal = await world.open();
  const done: number[] = [];
  const startMs = world.clock.now();
  journal.put(recordOf(1, 0));
  journal.commitPatiently(() => done.push(world.clock.now() - startMs));
  await world.clock.advance(1);
  expect(await world.until(journal.snapshots.take(world.pull()))).toBe(true);
  expect(done).toEqual([1]);
});

it('syncs entries that no caller waits for although there is no room for later ones', async () => {
  const world = new World();
  const journal = await world.open();
  const done: (DiskError | null)[] = [];
  journal.put(recordOf(1, 0));
  journal.commitPatiently((error) => done.push(error));
  await world.clock.advance(1);
  world.disk.capacityBytes = world.disk.usedBytes;
  journal.put(recordOf(2, 0, 5000));
  expect(await world.commit(journal)).toMatchObject({ kind: 'full' });
  await world.clock.advance(10);
  expect(done).toEqual([null]);
});
