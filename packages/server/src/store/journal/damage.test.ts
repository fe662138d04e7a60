/** Damage in recovery: how it is told from a torn tail, and how losses are counted. */
import { DiskError } from '@carillon/core';
import { SeededRandom } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import type { Journal } from './journal.ts';
import { plan } from './recovery.ts';
import {
  bytesOf,
  first,
  second,
  setForm,
  threeGroups,
  withFile,
} from '../testing/journal-files.ts';
import { identity, recordOf, World } from '../testing/journal-world.ts';

describe('damage', () => {
  it('the same cut after a stop that noted the end is damage, and every lost entry is counted', async () => {
    const world = new World();
    await threeGroups(world);
    const whole = await bytesOf(world.disk, first);
    const entryCount = 8;
    for (let cut = 0; cut < whole.length; cut++) {
      const found = new World(await withFile(world.disk, first, whole.subarray(0, cut)));
      const replayed = { count: 0 };
      const journal = await found.open(identity, () => replayed.count++);
      const marks = journal.marked > 0 ? 1 : 0;
      expect(journal.lost, `cut at ${cut}`).toEqual({
        entries: entryCount - replayed.count - marks,
        more: false,
      });
      expect(journal.torn).toBe(false);
      expect(journal.damaged.length).toBeGreaterThan(0);
    }
  });

  it('entries noted while the journal ran are known to have been there, zeros in their place are damage', async () => {
    for (const noted of [true, false]) {
      const world = new World();
      const groups = await threeGroups(world, 'killed');
      if (noted) await world.until((world.journal as Journal).note());
      const whole = await bytesOf(world.disk, first);
      whole.fill(0, groups[2]?.size);
      const found = new World(await withFile(world.disk, first, whole));
      const journal = await found.open();
      expect(journal.lost).toEqual(noted ? { entries: 3, more: false } : null);
      expect(journal.damaged.length).toBe(noted ? 1 : 0);
    }
  });

  it('lost entries stay lost over restarts, counted once, until a snapshot replaces the damaged files', async () => {
    const world = new World();
    const groups = await threeGroups(world);
    world.disk.flip(first, (groups[1]?.size as number) + 20);
    for (let start = 0; start < 3; start++) {
      const journal = await world.open();
      expect(journal.lost).toEqual({ entries: 1, more: false });
      if (start === 1) await world.until(journal.snapshots.take(world.pull()));
      await world.until(journal.close());
    }
    const journal = await world.open();
    expect(journal.snapshots.pays(0)).toBe(false);
    journal.snapshots.rewrite();
    expect(journal.snapshots.pays(0)).toBe(true);
    await world.until(journal.snapshots.take(world.pull()));
    expect(journal.snapshots.pays(0)).toBe(false);
    await world.until(journal.close());
    const whole = await world.open();
    expect(whole.lost).toBeNull();
    expect(whole.damaged).toEqual([]);
    expect(world.sequences).toEqual({ 1: 0, 2: 5, 3: 1 });
  });

  it.each([
    ['the table of contents', 'contents'],
    ['the only segment', first],
  ])('notices that %s is gone', async (_, name) => {
    const world = new World();
    await threeGroups(world);
    await world.disk.remove(name);
    const journal = await world.open();
    expect(journal.damaged).toMatchObject([{ file: name }]);
    expect(journal.lost).toEqual(
      name === first ? { entries: 8, more: false } : { entries: 0, more: true },
    );
    await world.until(journal.close());
    expect((await world.open()).lost).toEqual(journal.lost);
  });

  it('a table of contents that is damaged says nothing, and that is damage', async () => {
    const world = new World();
    await threeGroups(world);
    for (let at = 0; at < (await bytesOf(world.disk, 'contents')).length; at++) {
      world.disk.flip('contents', at);
      const found = new World(await withFile(world.disk, '', new Uint8Array()));
      const journal = await found.open();
      expect(journal.lost, `byte ${at}`).toEqual({ entries: 0, more: true });
      expect(found.sequences).toEqual({ 1: 1, 2: 5, 3: 1 });
      world.disk.flip('contents', at);
    }
  });

  it('a folder from before there was a table of contents is whole without one', async () => {
    const world = new World();
    await threeGroups(world);
    const bytes = await bytesOf(world.disk, first);
    setForm(bytes, 1);
    const found = new World(await withFile(world.disk, first, bytes));
    await found.disk.remove('contents');
    await (await found.disk.create('born-1')).close();
    const journal = await found.open();
    expect(journal.lost).toBeNull();
    expect(journal.damaged).toEqual([]);
    expect(found.sequences).toEqual({ 1: 1, 2: 5, 3: 1 });
  });

  it('a power cut during the very first start is no damage', async () => {
    for (let afterMs = 0; afterMs < 12; afterMs++) {
      const world = new World();
      world.disk.latencyMs = 1;
      void world.open();
      await world.clock.advance(afterMs);
      const found = new World(world.disk.crash(new SeededRandom(3)));
      found.disk.latencyMs = 0;
      const journal = await found.open();
      expect(journal.damaged).toEqual([]);
      expect(journal.lost).toBeNull();
    }
  });

  it('a sector that cannot be read costs the entries in it, no others', async () => {
    const world = new World();
    const journal = await world.open();
    for (let lo = 0; lo < 200; lo++) journal.put(recordOf(lo, lo, 100));
    await world.until(journal.close());
    const { disk } = world;
    const read = disk.read.bind(disk);
    disk.read = async (name, offset, length) => {
      if (name === first && offset <= 8192 && offset + length > 8192) {
        throw new DiskError('failed', 'Could not read: EIO.');
      }
      return read(name, offset, length);
    };
    const again = await world.open();
    expect(again.damaged.length).toBe(1);
    expect(again.lost).toEqual({ entries: 200 - world.records.size, more: false });
    expect(world.records.size).toBeGreaterThan(150);
  });

  it.each([
    ['the first segment', [second], [first]],
    ['one in the row', [first, 'journal-0000000003.log'], [second]],
    [
      'the first one after the snapshot',
      ['snapshot-0000000002.snap', 'journal-0000000003.log'],
      [second],
    ],
    ['all after the snapshot', [first, 'snapshot-0000000002.snap'], [second]],
  ])('without a table of contents, a gap in the row tells that %s is gone', (_, names, gone) => {
    const files = names.map((name) => ({ name, size: 100 }));
    expect(plan(files, null).gone).toEqual(gone);
  });

  it('a file that the table of contents names and that is not there is gone, the last segment and the snapshot too', () => {
    const filed = (number: number) => ({ number, salt: 1, bytes: 100, entries: 1 });
    const contents = { snapshot: filed(2), segments: [filed(2), filed(3)], lost: null };
    const files = [second, 'snapshot-0000000002.snap', 'journal-0000000003.log'].map((name) => ({
      name,
      size: 100,
    }));
    for (const { name } of files) {
      const left = files.filter((file) => file.name !== name);
      expect(plan(left, contents).gone).toEqual([name]);
    }
    expect(plan(files, contents).gone).toEqual([]);
    expect(plan([], contents).gone.length).toBe(3);
  });

  it('a header that cannot be read costs no entry: the table of contents knows its salt', async () => {
    for (const at of [3, 8, 12]) {
      const world = new World();
      await threeGroups(world);
      world.disk.flip(first, at);
      const journal = await world.open();
      expect(journal.damaged).toMatchObject([{ file: first, offset: 0 }]);
      expect(journal.lost).toBeNull();
      expect(world.sequences).toEqual({ 1: 1, 2: 5, 3: 1 });
    }
  });

  it('a header of a later release is a refusal', async () => {
    const world = new World();
    await threeGroups(world);
    const bytes = await bytesOf(world.disk, first);
    setForm(bytes, 9);
    const found = new World(await withFile(world.disk, first, bytes));
    await expect(found.open()).rejects.toThrow(
      /journal-0000000001\.log cannot be read\. It has form 9 and this release reads forms 1 to 3/,
    );
  });
});
