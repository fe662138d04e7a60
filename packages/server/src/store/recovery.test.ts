import { DiskError } from '@carillon/core';
import { MemoryDisk, SeededRandom } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import { checksum } from './checksum.ts';
import type { Journal } from './journal.ts';
import { plan } from './recovery.ts';
import { encodeHeader } from './segment.ts';
import { identity, recordOf, World } from './testing/journal-world.ts';

const first = 'journal-0000000001.log';
const second = 'journal-0000000002.log';

/** A disk whose file `name` holds these bytes and nothing else changed. */
async function withFile(disk: MemoryDisk, name: string, bytes: Uint8Array): Promise<MemoryDisk> {
  const copy = new MemoryDisk();
  for (const file of await disk.list()) {
    const content = file.name === name ? bytes : await disk.read(file.name, 0, file.size);
    const written = await copy.create(file.name);
    await written.append(content);
    await written.sync();
  }
  return copy;
}

async function bytesOf(disk: MemoryDisk, name: string): Promise<Uint8Array> {
  return disk.read(name, 0, 10_000_000);
}

/** As a release with another format would have written the header. */
function setFormat(bytes: Uint8Array, format: number): void {
  const { length } = encodeHeader({ kind: 'journal', number: 1, salt: 0, identity });
  bytes[8] = format;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setUint32(length - 4, checksum(bytes, 0, length - 4, 0), true);
}

/** Three groups of changes, each confirmed; with what was true, and how long the journal was, after each. */
async function threeGroups(world: World, end: 'closed' | 'killed' = 'closed') {
  const journal = await world.open();
  const after: { size: number; sequences: Record<number, number> }[] = [];
  const size = async (): Promise<number> => (await bytesOf(world.disk, first)).length;
  after.push({ size: await size(), sequences: {} });
  const steps: (() => void)[][] = [
    [() => journal.put(recordOf(1, 0)), () => journal.put(recordOf(2, 0, 300))],
    [
      () => journal.put(recordOf(1, 1)),
      () => journal.drop(7, 2),
      () => journal.put(recordOf(3, 0)),
    ],
    [() => journal.mark(9), () => journal.put(recordOf(2, 5)), () => journal.put(recordOf(3, 1))],
  ];
  const states = [
    { 1: 0, 2: 0 },
    { 1: 1, 3: 0 },
    { 1: 1, 2: 5, 3: 1 },
  ];
  for (const [place, group] of steps.entries()) {
    for (const step of group) step();
    expect(await world.commit(journal)).toBeNull();
    after.push({ size: await size(), sequences: states[place] as Record<number, number> });
  }
  if (end === 'closed') await world.until(journal.close());
  return after;
}

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

  it('a torn tail is cut for good: what is written next is read next time', async () => {
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

  it('what was noted while it ran is known to have been there, zeros in its place are damage', async () => {
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

  it('what is lost stays lost over restarts, counted once, until a snapshot replaces the damaged files', async () => {
    const world = new World();
    const groups = await threeGroups(world);
    world.disk.flip(first, (groups[1]?.size as number) + 20);
    for (let start = 0; start < 3; start++) {
      const journal = await world.open();
      expect(journal.lost).toEqual({ entries: 1, more: false });
      if (start === 1) await world.until(journal.snapshot(world.pull()));
      await world.until(journal.close());
    }
    const journal = await world.open();
    expect(journal.wantsSnapshot(0)).toBe(false);
    journal.rewrite();
    expect(journal.wantsSnapshot(0)).toBe(true);
    await world.until(journal.snapshot(world.pull()));
    expect(journal.wantsSnapshot(0)).toBe(false);
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
    setFormat(bytes, 1);
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

  it('room that was taken ahead is neither a torn tail nor damage, whenever the power is cut', async () => {
    const seen = new Set<string>();
    for (let afterMs = 0; afterMs < 12; afterMs++) {
      const world = new World();
      const journal = await world.open();
      journal.put(recordOf(1, 1));
      world.records.set(1, recordOf(1, 1));
      expect(await world.commit(journal)).toBeNull();
      world.disk.latencyMs = 1;
      void journal.snapshot(world.pull());
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

  it('what a client wrote inside a record never passes for an entry of its own', async () => {
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

  it('whatever the table of contents names and is not there is gone, the last segment and the snapshot too', () => {
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

  it('ignores what is left over from before the newest snapshot, and what is not its own', () => {
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
      expect(await world.until(journal.snapshot(world.pull()))).toBe(true);
      await world.until(journal.close());
      return world;
    }

    it('a cut one is used as far as it goes, and what is lost is counted', async () => {
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
        fields: { entries: 1, andMaybeMore: false },
      });
    });

    it('what came before one is removed, also a part of another that was never finished', async () => {
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
    setFormat(bytes, 9);
    const found = new World(await withFile(world.disk, first, bytes));
    await expect(found.open()).rejects.toThrow(
      /journal-0000000001\.log cannot be read\. It has format 9 and this release reads format 2/,
    );
  });

  it('reads files far larger than what it reads at once, and entries across the seams', async () => {
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

  it('keeps what a killed process had written, even if the power goes next', async () => {
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
