import { expect, it } from 'vitest';
import type { Journal } from './journal.ts';
import { Scrub } from './scrub.ts';
import { identity, recordOf, World } from '../testing/journal-world.ts';

const intervalMs = 60_000;

interface Scene {
  readonly world: World;
  readonly journal: Journal;
  readonly scrub: Scrub;
  readonly damaged: string[];
  readonly read: { bytes: number };
}

/** A snapshot, a segment before the present one, and the present one, some hundreds of kibibytes each. */
async function scene(): Promise<Scene> {
  const world = new World();
  const journal = await world.open();
  const put = async (from: number): Promise<void> => {
    for (let lo = from; lo < from + 300; lo++) {
      journal.put(recordOf(lo, 1, 1000));
      world.records.set(lo, recordOf(lo, 1, 1000));
    }
    await world.commit(journal);
  };
  await put(0);
  await world.until(journal.snapshots.take(world.pull()));
  await put(300);
  const damaged: string[] = [];
  const read = { bytes: 0 };
  const { disk, clock } = world;
  const scrub = new Scrub({
    disk,
    clock,
    identity,
    intervalMs,
    files: () => journal.files,
    onRead: (bytes) => {
      read.bytes += bytes;
    },
    onDamage: (file) => damaged.push(file),
  });
  return { world, journal, scrub, damaged, read };
}

it('reads everything that is synced, once an interval, and finds nothing wrong in whole files', async () => {
  const { world, scrub, damaged, read } = await scene();
  scrub.start();
  await world.clock.advance(intervalMs - 1);
  expect(read.bytes).toBe(0);
  await world.clock.advance(intervalMs / 2);
  const once = read.bytes;
  expect(once).toBeGreaterThan(600_000);
  await world.clock.advance(intervalMs);
  expect(read.bytes).toBe(2 * once);
  scrub.stop();
  await world.clock.advance(10 * intervalMs);
  expect(read.bytes).toBe(2 * once);
  expect(damaged).toEqual([]);
});

it('does not mind entries that are written meanwhile, nor a snapshot that replaces the files it reads', async () => {
  const { world, journal, scrub, damaged } = await scene();
  const pass = scrub.pass();
  journal.put(recordOf(1, 2));
  await world.clock.advance(15);
  await world.until(journal.snapshots.take(world.pull()));
  await world.until(pass);
  expect(damaged).toEqual([]);
});

it.each([0, 15, 25])(
  'takes nothing for damaged that it cannot open, from %d ms on, and begins anew later',
  async (ms) => {
    const { world, scrub, damaged, read } = await scene();
    scrub.start();
    await world.clock.advance(intervalMs + ms);
    world.disk.descriptorsGone = true;
    await world.clock.advance(3 * intervalMs);
    expect(damaged).toEqual([]);
    const before = read.bytes;
    world.disk.descriptorsGone = false;
    await world.clock.advance(intervalMs / 2);
    expect(read.bytes - before).toBeGreaterThan(600_000);
    expect(damaged).toEqual([]);
  },
);

const segment = 'journal-0000000002.log';
const snapshot = 'snapshot-0000000002.snap';

it.each([
  ['a flipped bit in a segment', segment, (w: World) => w.disk.flip(segment, 200_000)],
  ['zeros in a segment', segment, (w: World) => w.disk.zero(segment, 4096, 8192)],
  ['a segment that is cut', segment, (w: World) => w.disk.shorten(segment, 5000)],
  ['a segment that is gone', segment, (w: World) => w.disk.lose(segment)],
  ['a flipped bit in a snapshot', snapshot, (w: World) => w.disk.flip(snapshot, 300_000)],
  ['a snapshot that is cut', snapshot, (w: World) => w.disk.shorten(snapshot, 5000)],
  ['a snapshot that is gone', snapshot, (w: World) => w.disk.lose(snapshot)],
  ['a header', snapshot, (w: World) => w.disk.flip(snapshot, 10)],
  ['a table of contents', 'contents', (w: World) => w.disk.flip('contents', 30)],
  ['no table of contents', 'contents', (w: World) => w.disk.lose('contents')],
])('finds %s', async (_, file, spoil) => {
  const { world, scrub, damaged } = await scene();
  spoil(world);
  await world.until(scrub.pass());
  expect(damaged).toEqual([file]);
});
