import { expect, it } from 'vitest';
import { recordOf, World } from '../testing/journal-world.ts';
import type { Journal } from './journal.ts';

const mebibyte = 1024 * 1024;

async function write(world: World, journal: Journal, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; left -= mebibyte) {
    journal.put(recordOf(1, 0, Math.min(left, mebibyte)));
  }
  await world.commit(journal);
}

it('a quarter of the usual journal is enough for a snapshot when hardly anything is written', async () => {
  const world = new World();
  world.limits = { ...world.limits, snapshotBytesMin: 16 * mebibyte };
  const journal = await world.open();
  await write(world, journal, 5 * mebibyte);
  expect(journal.snapshots.pays(0)).toBe(false);
  await write(world, journal, 2 * mebibyte);
  expect(journal.snapshots.pays(0)).toBe(false);
  // A few seconds later little has come since.
  await write(world, journal, 1000);
  expect(journal.snapshots.pays(0)).toBe(true);
  expect(journal.snapshots.pays(40 * mebibyte)).toBe(false);
  await write(world, journal, 10 * mebibyte);
  expect(journal.snapshots.pays(0)).toBe(true);
});

it('a snapshot that was given up is not tried again for being quiet', async () => {
  const world = new World();
  world.limits = { ...world.limits, snapshotBytesMin: 4 * mebibyte };
  const journal = await world.open();
  await write(world, journal, 2 * mebibyte);
  expect(journal.snapshots.pays(0)).toBe(false);
  world.disk.capacityBytes = world.disk.usedBytes + 100;
  world.records.set(1, recordOf(1, 0, mebibyte));
  expect(await world.until(journal.snapshots.take(world.pull()))).toBe(false);
  expect(journal.snapshots.pays(0)).toBe(false);
  expect(journal.snapshots.pays(0)).toBe(false);
});
