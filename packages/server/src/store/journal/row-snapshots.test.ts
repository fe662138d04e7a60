/** Snapshots of blocks of rows: their form, their damage, and changes while they are written. */
import { beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, withFile } from '../testing/journal-files.ts';
import { identity, recordOf, World } from '../testing/journal-world.ts';
import { Store } from '../store.ts';
import { encodeHeader, EntryWriter } from './files/segment.ts';
import { Scrub } from './scrub.ts';

const snapshot = 'snapshot-0000000003.snap';
const recordCount = 3000;
/** Three lengths of rows, so that blocks of each take turns. */
const bodyBytes = (lo: number): number => 40 + (lo % 3) * 50;

let world: World;
let bytes: Uint8Array;

/** A folder with a snapshot of rows, and nothing else. */
beforeAll(async () => {
  world = new World();
  const journal = await world.open();
  await world.until(journal.beginNewestForm());
  for (let lo = 0; lo < recordCount; lo++) {
    const record = recordOf(lo, lo % 7, bodyBytes(lo));
    journal.put(record);
    world.records.set(lo, record);
  }
  await world.commit(journal);
  expect(await world.until(journal.snapshots.take(world.pullRows()))).toBe(true);
  await world.until(journal.close());
  bytes = await bytesOf(world.disk, snapshot);
});

/** The same folder with other bytes in its snapshot. */
async function withSnapshot(changed: Uint8Array): Promise<World> {
  return new World(await withFile(world.disk, snapshot, changed));
}

/** Where each entry of the snapshot begins. */
function entryStarts(): number[] {
  const header = { form: 3, kind: 'snapshot', number: 3, salt: 0, identity } as const;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const starts: number[] = [];
  for (let at = encodeHeader(header).length; at < bytes.length; ) {
    starts.push(at);
    at += 8 + view.getUint32(at + 4, true);
  }
  return starts;
}

describe('a snapshot of rows', () => {
  it('brings back every record as it was', async () => {
    const found = await withSnapshot(bytes);
    const again = await found.open();
    expect(again.damaged).toEqual([]);
    expect(again.lost).toBeNull();
    // One millisecond later: the disk keeps whole ones, and nothing may be early.
    const later = [...world.records.values()].map((record) => ({
      ...record,
      startMs: record.startMs + 1,
      dueMs: record.dueMs + 1,
      retryMs: record.retryMs + 1,
      triedMs: record.triedMs + 1,
    }));
    expect([...found.records.values()].toSorted((a, b) => a.lo - b.lo)).toEqual(later);
  });

  it('has several blocks of some hundred records, and a form of its own', () => {
    expect(bytes[8]).toBe(3);
    // A mark, the blocks, the end.
    expect(entryStarts().length).toBeGreaterThan(6);
    expect(entryStarts().length).toBeLessThan(20);
  });

  it('times are on the clock of the process that reads it', async () => {
    const found = await withSnapshot(bytes);
    found.clock.wallOffsetMs -= 250_000;
    await found.open();
    const before = world.records.get(1)?.dueMs as number;
    expect(found.records.get(1)?.dueMs).toBe(before + 250_000 + 1);
  });

  it.each([1, 2, 3, 4])(
    'a flipped bit in block %i costs its records, and no others',
    async (place) => {
      const start = entryStarts()[place] as number;
      for (const into of [0, 5, 12, 5000]) {
        const damaged = bytes.slice();
        damaged[start + into] = (damaged[start + into] as number) ^ 16;
        const found = await withSnapshot(damaged);
        const opened = await found.open();
        const lost = recordCount - found.records.size;
        expect(opened.lost, `byte ${into}`).toEqual({ entries: lost, more: false });
        expect(lost).toBeGreaterThan(100);
        expect(lost).toBeLessThan(1500);
        expect(opened.damaged).toMatchObject([{ file: snapshot, offset: start }]);
      }
    },
  );

  it('a page of zeros costs one block or two', async () => {
    for (const at of [4096, 65_536, 131_072]) {
      const found = await withSnapshot(bytes.slice().fill(0, at, at + 4096));
      const { lost } = await found.open();
      expect(lost).toEqual({ entries: recordCount - found.records.size, more: false });
      expect(found.records.size).toBeGreaterThan(recordCount / 3);
    }
  });

  it('that is cut keeps the blocks before, and every record behind is counted as lost', async () => {
    for (let cut = 0; cut < bytes.length; cut += 40_001) {
      const found = await withSnapshot(bytes.subarray(0, cut));
      const { lost } = await found.open();
      const entries = recordCount - found.records.size;
      expect(lost, `cut at ${cut}`).toEqual({ entries, more: false });
    }
  });

  it('is read again by the scrub, which finds a flipped bit', async () => {
    const found = await withSnapshot(bytes);
    const again = await found.open();
    const damaged: string[] = [];
    const { disk, clock } = found;
    const scrub = new Scrub({
      disk,
      clock,
      identity,
      intervalMs: 1000,
      files: () => again.files,
      onRead: () => {},
      onDamage: (file) => damaged.push(file),
    });
    await found.until(scrub.pass());
    expect(damaged).toEqual([]);
    disk.flip(snapshot, 100_000);
    await found.until(scrub.pass());
    expect(damaged).toEqual([snapshot]);
  });

  it('has no rows behind records, and a segment has none: they would not be looked up', async () => {
    const salt = 5;
    const store = new Store();
    store.put(recordOf(1, 0));
    const out = new EntryWriter();
    out.put(recordOf(2, 0), 0);
    store.rowBlocks()(0, 10, (block, count) => out.rows(block, count));
    const segment = { form: 3, kind: 'journal', number: 1, salt, identity } as const;
    const found = new World();
    const file = await found.disk.create('journal-0000000001.log');
    await file.append(Buffer.concat([encodeHeader(segment), out.seal(salt)]));
    const opened = await found.open();
    expect(found.sequences).toEqual({ 2: 0 });
    expect(opened.damaged).toMatchObject([
      { file: 'journal-0000000001.log' },
      { file: 'contents' },
    ]);
  });
});

describe('changes while a snapshot of rows is written', () => {
  it('are in the segment behind it, on both sides of the walk', async () => {
    const store = new Store();
    const running = new World();
    const journal = await running.open();
    await running.until(journal.beginNewestForm());
    const put = (lo: number, sequence: number): void => {
      const record = recordOf(lo, sequence, 30 + (lo % 40) * 8);
      store.put(record);
      journal.put(record);
    };
    for (let lo = 0; lo < 2000; lo++) put(lo, 0);
    await running.commit(journal);
    const rows = store.rowBlocks();
    let turns = 0;
    const taken = journal.snapshots.take({
      records: store.records(),
      rows: (baseMs, limit, emit) => {
        turns++;
        for (let lo = turns; lo < 2000; lo += 100) put(lo, turns);
        for (let lo = turns + 50; lo < 2000; lo += 100) {
          store.remove(7, lo);
          journal.drop(7, lo);
        }
        return rows(baseMs, limit, emit);
      },
    });
    expect(await running.until(taken)).toBe(true);
    expect(turns).toBeGreaterThan(4);
    await running.until(journal.close());
    expect((await running.open()).lost).toBeNull();
    const expected: Record<number, number> = {};
    for (const next = store.records(); ; ) {
      const record = next();
      if (record === undefined) break;
      expected[record.lo] = record.sequence;
    }
    expect(running.sequences).toEqual(expected);
  });
});
