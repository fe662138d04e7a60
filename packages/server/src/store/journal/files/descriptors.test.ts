/** A journal whose process has no descriptor left: open files are written on, and everything else waits for one. */
import { SeededRandom } from '@carillon/core/testing';
import { expect, it } from 'vitest';
import type { Journal } from '../journal.ts';
import { recordOf, World } from '../../testing/journal-world.ts';

async function put(world: World, journal: Journal, lo: number): Promise<void> {
  journal.put(recordOf(lo, 0));
  world.records.set(lo, recordOf(lo, 0));
  expect(await world.commit(journal)).toBeNull();
}

it('confirms timers meanwhile, and notes them and takes a snapshot when there are descriptors again', async () => {
  const world = new World();
  const journal = await world.open();
  world.disk.descriptorsGone = true;
  await put(world, journal, 1);
  await world.until(journal.note());
  expect(await world.until(journal.snapshots.take(world.pull()))).toBe(false);
  await put(world, journal, 2);
  expect(world.failures).toEqual([]);
  expect(journal.full).toBe(false);
  world.disk.descriptorsGone = false;
  expect(await world.until(journal.snapshots.take(world.pull()))).toBe(true);
  await put(world, journal, 3);
  await world.until(journal.note());
  const after = new World(world.disk.crash(new SeededRandom(1)));
  const again = await after.open();
  expect(after.sequences).toEqual({ 1: 0, 2: 0, 3: 0 });
  expect(again.damaged).toEqual([]);
});

it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])(
  'gives up a snapshot that loses its descriptors %d ms after its beginning, without damage or loss',
  async (ms) => {
    const world = new World();
    const journal = await world.open();
    await put(world, journal, 1);
    world.disk.latencyMs = 1;
    const taken = journal.snapshots.take(world.pull());
    await world.clock.advance(ms);
    world.disk.descriptorsGone = true;
    await world.until(taken);
    await put(world, journal, 2);
    expect(world.failures).toEqual([]);
    world.disk.latencyMs = 0;
    const after = new World(world.disk.crash(new SeededRandom(1)));
    const again = await after.open();
    expect(after.sequences).toEqual({ 1: 0, 2: 0 });
    expect(again.damaged).toEqual([]);
    expect(again.lost).toBeNull();
  },
);

it('tries again later to set its reserve aside', async () => {
  const world = new World();
  const journal = await world.open();
  world.disk.capacityBytes = world.disk.usedBytes + 100;
  for (let lo = 0; lo < 10; lo++) await put(world, journal, lo);
  expect(journal.full).toBe(true);
  world.disk.capacityBytes = Number.POSITIVE_INFINITY;
  world.disk.descriptorsGone = true;
  await world.clock.advance(5000);
  expect(world.failures).toEqual([]);
  world.disk.descriptorsGone = false;
  await world.clock.advance(1001);
  expect(journal.full).toBe(false);
});

it('does not start, and takes nothing for damaged', async () => {
  const world = new World();
  const journal = await world.open();
  await put(world, journal, 1);
  await world.until(journal.close());
  world.disk.descriptorsGone = true;
  await expect(world.open()).rejects.toMatchObject({ kind: 'no-descriptor' });
  world.disk.descriptorsGone = false;
  const again = await world.open();
  expect(world.sequences).toEqual({ 1: 0 });
  expect(again.damaged).toEqual([]);
});
