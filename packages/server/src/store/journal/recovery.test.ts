import { SeededRandom } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import { plan } from './recovery.ts';
import { bytesOf, first, second, threeGroups, withFile } from '../testing/journal-files.ts';
import { recordOf, World } from '../testing/journal-world.ts';

describe('recovery', () => {
  it('power cut at any byte: every confirmed group is back, and nothing that was never written', async () => {
    const world = new World();
    const groups = await threeGroups(world, 'killed');
    const whole = await bytesOf(world.disk, first);
    const possible = new Set<string>();
    // Every state that existed between two entries of the journal.
    for (const state of [
      {},
      { 1: 0 },
      { 1: 0, 2: 0 },
      { 1: 1, 2: 0 },
      { 1: 1 },
      { 1: 1, 3: 0 },
      { 1: 1, 2: 5, 3: 0 },
      { 1: 1, 2: 5, 3: 1 },
    ]) {
      possible.add(JSON.stringify(state));
    }
    for (let cut = 0; cut <= whole.length; cut++) {
      const found = new World(await withFile(world.disk, first, whole.subarray(0, cut)));
      const journal = await found.open();
      const confirmed = groups.findLast(({ size }) => size <= cut);
      const state = JSON.stringify(found.sequences);
      expect(possible.has(state), `cut at ${cut}: ${state}`).toBe(true);
      expect(journal.damaged).toEqual([]);
      for (const [lo, sequence] of Object.entries(confirmed?.sequences ?? {})) {
        const have = found.sequences[Number(lo)];
        // A later entry of the same group may have dropped number 2 already.
        if (have !== undefined) expect(have).toBeGreaterThanOrEqual(sequence);
        else expect(lo).toBe('2');
      }
      if (confirmed?.size === cut) expect(found.sequences).toEqual(confirmed.sequences);
    }
  });

  it('a file that becomes shorter while it is read gives the entries before the cut', async () => {
    const world = new World();
    const groups = await threeGroups(world, 'killed');
    const whole = await bytesOf(world.disk, first);
    for (const { size, sequences } of groups) {
      const disk = await withFile(world.disk, first, whole);
      const read = disk.read.bind(disk);
      disk.read = async (name: string, offset: number, length: number) => {
        const bytes = await read(name, offset, length);
        return name === first ? bytes.subarray(0, Math.max(0, size + 3 - offset)) : bytes;
      };
      const found = new World(disk);
      await found.open();
      expect(found.sequences).toEqual(sequences);
    }
  });

  it('a torn tail is cut for good: entries written next are read next time', async () => {
    const world = new World();
    await threeGroups(world, 'killed');
    const whole = await bytesOf(world.disk, first);
    const found = new World(await withFile(world.disk, first, whole.subarray(0, whole.length - 3)));
    const journal = await found.open();
    expect(journal.torn).toBe(true);
    expect(journal.lost).toBeNull();
    expect(found.log.lines.some(({ message }) => /torn/.test(message))).toBe(true);
    journal.put(recordOf(4, 4));
    await found.until(journal.close());
    const again = await found.open();
    expect(again.damaged).toEqual([]);
    expect(found.sequences).toEqual({ 1: 1, 2: 5, 3: 0, 4: 4 });
  });

  it('room that was taken ahead is neither a torn tail nor damage, whenever the power is cut', async () => {
    const seen = new Set<string>();
    for (let afterMs = 0; afterMs < 12; afterMs++) {
      const world = new World();
      const journal = await world.open();
      journal.put(recordOf(1, 1));
      world.records.set(1, recordOf(1, 1));
      expect(await world.commit(journal)).toBeNull();
      world.disk.latencyMs = 1;
      void journal.snapshots.take(world.pull());
      await world.clock.advance(afterMs);
      const found = new World(world.disk.crash(new SeededRandom(3)));
      found.disk.latencyMs = 0;
      seen.add((await found.disk.list()).map(({ name }) => name).join(' '));
      const opened = await found.open();
      expect(opened.damaged).toEqual([]);
      expect(found.sequences).toEqual({ 1: 1 });
      expect(found.log.lines.filter(({ level }) => level !== 'info')).toEqual([]);
    }
    expect([...seen].some((names) => names.includes(first) && names.includes(second))).toBe(true);
  });

  it('damage at any byte of an older segment: one stretch is named, all other entries are there', async () => {
    const world = new World();
    const groups = await threeGroups(world);
    const whole = await bytesOf(world.disk, first);
    // A second segment, so that the first is not the last any more.
    const journal = await world.open();
    journal.put(recordOf(50, 1));
    await world.until(journal.close());
    for (let at = groups[0]?.size as number; at < whole.length; at++) {
      const bytes = whole.slice();
      bytes[at] = (bytes[at] as number) ^ 0x10;
      const found = new World(await withFile(world.disk, first, bytes));
      const opened = await found.open();
      expect(opened.damaged.length, `byte ${at}`).toBe(1);
      const [damage] = opened.damaged;
      expect(damage?.file).toBe(first);
      expect(at).toBeGreaterThanOrEqual(damage?.offset as number);
      expect(at).toBeLessThan((damage?.offset as number) + (damage?.bytes as number));
      expect(found.sequences).toMatchObject({ 50: 1 });
      expect(found.log.lines.filter(({ level }) => level === 'error').length).toBe(2);
      expect(opened.lost).toEqual({ entries: 1, more: false });
    }
  });

  it('damage in the middle of the last segment is named, not cut', async () => {
    const world = new World();
    const groups = await threeGroups(world);
    world.disk.flip(first, (groups[1]?.size as number) + 20);
    const journal = await world.open();
    expect(journal.damaged).toMatchObject([{ file: first, offset: groups[1]?.size }]);
    expect(world.sequences).toEqual({ 1: 0, 2: 5, 3: 1 });
  });

  it('bytes that a client wrote inside a record never pass for an entry', async () => {
    // Everything a client could guess: the very bytes that a journal of the same member might hold.
    const guessed = new World();
    const other = await guessed.open();
    other.put(recordOf(66, 0));
    await guessed.until(other.close());
    const body = await bytesOf(guessed.disk, first);
    const world = new World();
    await world.clock.advance(1);
    const journal = await world.open();
    const start = (await bytesOf(world.disk, first)).length;
    journal.put({ ...recordOf(2, 0), body });
    journal.put(recordOf(3, 0));
    await world.until(journal.close());
    world.disk.flip(first, start + 4);
    expect((await world.open()).damaged).toMatchObject([{ offset: start }]);
    expect(world.sequences).toEqual({ 3: 0 });
  });

  it('ignores files from before the newest snapshot, and files that are not its own', () => {
    const files = [
      'snapshot-0000000002.snap',
      'snapshot-0000000004.snap',
      'journal-0000000001.log',
      'journal-0000000003.log',
      'journal-0000000004.log',
      'journal-0000000005.log',
      'reserve',
      'notes.txt',
    ].map((name) => ({ name, size: 100 }));
    const { snapshot, segments, stale } = plan(files, null);
    expect(snapshot?.number).toBe(4);
    expect(segments.map(({ number }) => number)).toEqual([4, 5]);
    expect(stale.toSorted((a, b) => a.localeCompare(b))).toEqual([
      'journal-0000000001.log',
      'journal-0000000003.log',
      'snapshot-0000000002.snap',
    ]);
  });

  describe('snapshots', () => {
    const snapshot = 'snapshot-0000000002.snap';

    async function withSnapshot(): Promise<World> {
      const world = new World();
      const journal = await world.open();
      for (let lo = 0; lo < 20; lo++) {
        journal.put(recordOf(lo, 1));
        world.records.set(lo, recordOf(lo, 1));
      }
      await world.commit(journal);
      expect(await world.until(journal.snapshots.take(world.pull()))).toBe(true);
      await world.until(journal.close());
      return world;
    }

    it('a cut one is used as far as it goes, and its losses are counted', async () => {
      const world = await withSnapshot();
      const whole = await bytesOf(world.disk, snapshot);
      for (const cut of [0, 10, 200, whole.length - 20, whole.length - 1]) {
        const found = new World(await withFile(world.disk, snapshot, whole.subarray(0, cut)));
        const journal = await found.open();
        expect(journal.damaged.length, `cut at ${cut}`).toBeGreaterThan(0);
        const missing = 20 - found.records.size;
        expect(journal.lost).toEqual(missing === 0 ? null : { entries: missing, more: false });
        expect(found.records.size > 0).toBe(cut >= 200);
      }
    });

    it('one that is gone is named, with the number of records lost', async () => {
      const world = await withSnapshot();
      await world.disk.remove(snapshot);
      const journal = await world.open();
      expect(journal.damaged).toEqual([{ file: snapshot, offset: 0, bytes: 0 }]);
      expect(journal.lost).toEqual({ entries: 20, more: false });
    });

    it('damage in the middle of one is named, with the number of records lost', async () => {
      const world = await withSnapshot();
      const whole = await bytesOf(world.disk, snapshot);
      world.disk.flip(snapshot, Math.floor(whole.length / 2));
      const journal = await world.open();
      expect(journal.damaged.length).toBe(1);
      expect(world.records.size).toBe(19);
      expect(journal.lost).toEqual({ entries: 1, more: false });
      expect(world.log.lines).toContainEqual({
        level: 'error',
        message: 'This member has lost entries of its journal to damage on its disk.',
        fields: { event: 'journal-entries-lost', entries: 1, andMaybeMore: false },
      });
    });

    it('files from before one are removed, also a part of another that was never finished', async () => {
      const world = await withSnapshot();
      for (const name of [first, 'snapshot-0000000001.snap', 'snapshot.part']) {
        await (await world.disk.create(name)).append(new Uint8Array(10));
      }
      await world.open();
      expect(world.records.size).toBe(20);
      const left = (await world.disk.list()).map(({ name }) => name);
      expect(left.toSorted((a, b) => a.localeCompare(b))).toEqual([
        'contents',
        second,
        'reserve',
        snapshot,
      ]);
    });

    it('one under a wrong name is a refusal', async () => {
      const world = await withSnapshot();
      await world.disk.rename(snapshot, 'snapshot-0000000003.snap');
      await world.disk.rename(second, 'journal-0000000003.log');
      await expect(world.open()).rejects.toThrow(
        /was snapshot-0000000002\.snap when it was written/,
      );
    });
  });

  it('reads files far larger than its chunks, and entries across the seams', async () => {
    const world = new World();
    const journal = await world.open();
    for (let lo = 0; lo < 60; lo++) journal.put(recordOf(lo, lo, 150_000 + lo * 7));
    await world.until(journal.close());
    const size = (await bytesOf(world.disk, first)).length;
    expect(size).toBeGreaterThan(9_000_000);
    await world.open();
    expect(world.records.size).toBe(60);
    for (const [lo, { body }] of world.records) expect(body.length).toBe(150_000 + lo * 7);
    // And finds its way again behind a hole.
    world.disk.flip(first, 4_200_000);
    const again = await world.open();
    expect(again.damaged.length).toBe(1);
    expect(world.records.size).toBe(59);
  });

  it('keeps entries that a killed process had written, even if the power goes next', async () => {
    const world = new World();
    world.disk.latencyMs = 1;
    const journal = await world.open();
    journal.put(recordOf(1, 0));
    await world.clock.advance(1.5);
    // Appended, the sync under way: killed here.
    const killed = new World(world.disk.kill());
    killed.disk.latencyMs = 0;
    await killed.open();
    expect(killed.sequences).toEqual({ 1: 0 });
    for (let seed = 0; seed < 20; seed++) {
      const cut = new World(killed.disk.crash(new SeededRandom(seed)));
      await cut.open();
      expect(cut.sequences).toEqual({ 1: 0 });
    }
  });
});
