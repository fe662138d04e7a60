import { DiskError, type TimerRecord } from '@carillon/core';
import { SeededRandom, settle } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import { CollectedLog, recordOf, World } from '../testing/journal-world.ts';

async function names(world: World): Promise<string[]> {
  return (await world.disk.list()).map(({ name }) => name).toSorted((a, b) => a.localeCompare(b));
}

/** The wall clock has whole milliseconds: a start adds one, so that nothing is early. */
function aMillisecondLater(record: TimerRecord): TimerRecord {
  const { startMs, dueMs, retryMs, triedMs } = record;
  return {
    ...record,
    startMs: startMs + 1,
    dueMs: dueMs + 1,
    retryMs: retryMs + 1,
    triedMs: triedMs + 1,
  };
}

describe('journal', () => {
  it('gives back puts, drops and marks after a restart', async () => {
    const world = new World();
    const journal = await world.open();
    journal.put(recordOf(1, 0));
    journal.put(recordOf(2, 0));
    journal.put(recordOf(1, 1));
    journal.drop(7, 2);
    journal.mark(123);
    journal.mark(100);
    expect(await world.commit(journal)).toBeNull();
    expect(journal.marked).toBe(123);
    await world.until(journal.close());
    const again = await world.open();
    expect(world.records.get(1)).toEqual(aMillisecondLater(recordOf(1, 1)));
    expect(world.sequences).toEqual({ 1: 1 });
    expect(again.marked).toBe(123);
    expect(again.damaged).toEqual([]);
  });

  it('keeps times by the wall clock, so that they are right on the clock of the next process, and never early', async () => {
    const world = new World();
    const journal = await world.open();
    journal.put(recordOf(1, 0));
    await world.commit(journal);
    // Ten seconds later, on a machine whose monotonic clock started anew.
    const later = new World(world.disk.kill());
    later.clock.wallOffsetMs = world.clock.wall() + 10_000 - later.clock.now();
    await later.open();
    expect(later.records.get(1)?.dueMs).toBe(recordOf(1, 0).dueMs - 10_000 + 1);
  });

  it('takes the clocks as they are when a record is written, not as they were', async () => {
    const world = new World();
    const journal = await world.open();
    journal.drop(7, 5);
    journal.put(recordOf(1, 0));
    await world.commit(journal);
    // The wall clock is set back by a minute.
    world.clock.wallOffsetMs -= 60_000;
    for (const lo of [2, 3]) {
      journal.put(recordOf(lo, 0));
      await world.commit(journal);
    }
    await world.until(journal.close());
    await world.open();
    expect(world.records.get(2)?.dueMs).toBe(recordOf(2, 0).dueMs + 1);
    expect(world.records.get(3)?.dueMs).toBe(recordOf(3, 0).dueMs + 1);
    expect(world.records.get(1)?.dueMs).toBe(recordOf(1, 0).dueMs + 60_001);
  });

  it('syncs once for all entries of a turn of the event loop, and once more for entries that arrive meanwhile', async () => {
    const world = new World();
    world.disk.latencyMs = 2;
    const journal = await world.open();
    const before = world.disk.calls.sync;
    const done: number[] = [];
    for (let i = 0; i < 50; i++) {
      journal.put(recordOf(i, 0));
      journal.commit(() => done.push(i));
    }
    await world.clock.advance(1);
    for (let i = 50; i < 100; i++) {
      journal.put(recordOf(i, 0));
      journal.commit(() => done.push(i));
    }
    expect(done).toEqual([]);
    await world.clock.advance(3);
    expect(done.length).toBe(50);
    expect(journal.backlogBytes).toBeGreaterThan(0);
    await world.clock.advance(4);
    expect(done).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(world.disk.calls.sync - before).toBe(2);
    expect(journal.backlogBytes).toBe(0);
  });

  it('makes a commit without entries of its own wait for the sync under way', async () => {
    const world = new World();
    world.disk.latencyMs = 2;
    const journal = await world.open();
    const done: string[] = [];
    journal.put(recordOf(1, 0));
    await world.clock.advance(1);
    journal.commit(() => done.push('later'));
    await world.clock.advance(2);
    expect(done).toEqual([]);
    await world.clock.advance(1);
    expect(done).toEqual(['later']);
    journal.commit(() => done.push('idle'));
    expect(done).toEqual(['later']);
    await settle();
    await world.clock.advance(0);
    expect(done).toEqual(['later', 'idle']);
  });

  it('also writes entries without a waiting commit', async () => {
    const world = new World();
    const journal = await world.open();
    journal.put(recordOf(1, 0));
    await world.clock.advance(1);
    expect(journal.backlogBytes).toBe(0);
    const after = new World(world.disk.crash(new SeededRandom(1)));
    await after.open();
    expect(after.sequences).toEqual({ 1: 0 });
  });

  it('refuses the files of another member', async () => {
    const world = new World();
    await world.until((await world.open()).close());
    await expect(world.open('cluster/member-2')).rejects.toThrow(
      /belongs to cluster\/member-1, not to cluster\/member-2/,
    );
  });

  it('writes on in an empty last segment instead of leaving one at every start', async () => {
    const world = new World();
    for (let i = 0; i < 5; i++) await world.until((await world.open()).close());
    expect(await names(world)).toEqual(['contents', 'journal-0000000001.log', 'reserve']);
    const journal = await world.open();
    journal.put(recordOf(1, 0));
    await world.until(journal.close());
    await world.until((await world.open()).close());
    expect(await names(world)).toEqual([
      'contents',
      'journal-0000000001.log',
      'journal-0000000002.log',
      'reserve',
    ]);
  });

  it('takes nothing any more once it is closed', async () => {
    const world = new World();
    const journal = await world.open();
    journal.put(recordOf(1, 0));
    await world.until(journal.close());
    journal.put(recordOf(2, 0));
    journal.drop(7, 1);
    journal.mark(5);
    await world.until(journal.close());
    await world.clock.advance(10);
    await world.open();
    expect(world.sequences).toEqual({ 1: 0 });
  });

  it('refuses a commit once it closes: a record that came then is not on disk', async () => {
    const world = new World();
    const journal = await world.open();
    journal.put(recordOf(1, 0));
    const closed = journal.close();
    journal.put(recordOf(2, 0));
    const told: (DiskError | null)[] = [];
    journal.commit((error) => told.push(error));
    await world.until(closed);
    await world.clock.advance(10);
    expect(told).toMatchObject([{ kind: 'failed' }]);
    await world.open();
    expect(world.sequences).toEqual({ 1: 0 });
  });

  describe('snapshots', () => {
    it('replace the segments before them', async () => {
      const world = new World();
      const journal = await world.open();
      for (let i = 0; i < 300; i++) {
        world.records.set(i, recordOf(i, 3));
        journal.put(recordOf(i, 3));
      }
      journal.mark(77);
      await world.commit(journal);
      expect(journal.snapshots.pays(0)).toBe(true);
      expect(journal.snapshots.pays(1e9)).toBe(false);
      expect(await world.until(journal.snapshots.take(world.pull()))).toBe(true);
      expect(journal.snapshots.pays(0)).toBe(false);
      expect(await names(world)).toEqual([
        'contents',
        'journal-0000000002.log',
        'reserve',
        'snapshot-0000000002.snap',
      ]);
      journal.put(recordOf(1, 4));
      journal.drop(7, 2);
      await world.until(journal.close());
      const again = await world.open();
      expect(again.marked).toBe(77);
      expect(world.records.size).toBe(299);
      expect(world.sequences).toMatchObject({ 0: 3, 1: 4, 299: 3 });
    });

    it('may see a record before or after a change that happens meanwhile: the change wins', async () => {
      const world = new World();
      world.disk.latencyMs = 1;
      const journal = await world.open();
      for (let i = 0; i < 1000; i++) {
        world.records.set(i, recordOf(i, 0));
        journal.put(recordOf(i, 0));
      }
      await world.commit(journal);
      const { records } = world;
      let handedOut = 0;
      const waiting = [...records.keys()];
      const running = journal.snapshots.take({
        records: () => {
          const lo = waiting.shift();
          if (++handedOut === 500) {
            // One behind the walk, one ahead of it; one gone on either side.
            for (const changed of [100, 900]) {
              records.set(changed, recordOf(changed, 9));
              journal.put(recordOf(changed, 9));
            }
            for (const gone of [101, 901]) {
              records.delete(gone);
              journal.drop(7, gone);
            }
          }
          return lo === undefined ? undefined : (records.get(lo) ?? records.get(0));
        },
      });
      expect(await world.until(running)).toBe(true);
      await world.until(journal.close());
      await world.open();
      expect(world.sequences).toEqual(
        Object.fromEntries([...records].map(([lo, { sequence }]) => [lo, sequence])),
      );
    });

    it('are given up when the disk has no room for them, and the journal goes on', async () => {
      const world = new World();
      const journal = await world.open();
      for (let i = 0; i < 100; i++) {
        world.records.set(i, recordOf(i, 0));
        journal.put(recordOf(i, 0));
      }
      await world.commit(journal);
      world.disk.capacityBytes = world.disk.usedBytes + 3000;
      expect(await world.until(journal.snapshots.take(world.pull()))).toBe(false);
      expect(await names(world)).not.toContain('snapshot.part');
      expect(journal.snapshots.pays(0)).toBe(false);
      expect(journal.full).toBe(false);
      journal.put(recordOf(1, 1));
      expect(await world.commit(journal)).toBeNull();
      const after = new World(world.disk.crash(new SeededRandom(1)));
      await after.open();
      expect(after.records.size).toBe(100);
      expect(after.sequences).toMatchObject({ 1: 1 });
    });

    it('give way when the journal needs the room', async () => {
      const world = new World();
      world.disk.latencyMs = 1;
      world.limits = { ...world.limits, reserveBytes: 0 };
      const journal = await world.open();
      for (let i = 0; i < 2000; i++) {
        world.records.set(i, recordOf(i, 0, 600));
        journal.put(recordOf(i, 0, 600));
      }
      await world.commit(journal);
      const remove = world.disk.remove.bind(world.disk);
      world.disk.remove = async (name) => {
        // Slow, so that code that does not wait for it comes too early.
        if (name === 'snapshot.part') {
          await new Promise<void>((resolve) => world.clock.at(world.clock.now() + 20, resolve));
        }
        await remove(name);
      };
      const errors: unknown[] = [];
      const { records: next } = world.pull();
      let handedOut = 0;
      const running = journal.snapshots.take({
        records: () => {
          if (++handedOut === 600) {
            // No room is left but the room of the unfinished snapshot.
            world.disk.capacityBytes = world.disk.usedBytes;
            journal.put(recordOf(0, 1, 30_000));
            journal.commit((error) => errors.push(error));
          }
          return next();
        },
      });
      expect(await world.until(running)).toBe(false);
      await world.clock.advance(50);
      expect(errors).toEqual([null]);
    });

    it('end early when the journal closes', async () => {
      const world = new World();
      world.disk.latencyMs = 1;
      const journal = await world.open();
      for (let i = 0; i < 2000; i++) world.records.set(i, recordOf(i, 0));
      const running = journal.snapshots.take(world.pull());
      await world.clock.advance(5);
      await world.until(journal.close());
      expect(await running).toBe(false);
      world.disk.latencyMs = 0;
      expect(await names(world)).not.toContain('snapshot.part');
    });
  });

  describe('full disk', () => {
    it('gives up its reserve, goes on writing, and takes it back when there is room again', async () => {
      const world = new World();
      const journal = await world.open();
      world.disk.capacityBytes = world.disk.usedBytes + 100;
      for (let i = 0; i < 10; i++) journal.put(recordOf(i, 0));
      expect(await world.commit(journal)).toBeNull();
      expect(journal.full).toBe(true);
      expect(await names(world)).not.toContain('reserve');
      // Tries from time to time, in vain; writing goes on.
      await world.clock.advance(5000);
      expect(journal.full).toBe(true);
      journal.put(recordOf(1, 1));
      expect(await world.commit(journal)).toBeNull();
      world.disk.capacityBytes = Number.POSITIVE_INFINITY;
      await world.clock.advance(1001);
      expect(journal.full).toBe(false);
      expect(await names(world)).toContain('reserve');
      expect(world.failures).toEqual([]);
    });

    it('says so when even the reserve is used up, and writes everything when there is room again', async () => {
      const world = new World();
      const journal = await world.open();
      journal.put(recordOf(1, 0));
      await world.commit(journal);
      world.disk.capacityBytes = world.disk.usedBytes;
      journal.put(recordOf(2, 0, 5000));
      expect(await world.commit(journal)).toMatchObject({ kind: 'full' });
      // Behind entries that could not be written: nothing is confirmed out of order.
      journal.put(recordOf(3, 0));
      expect(await world.commit(journal)).toMatchObject({ kind: 'full' });
      expect(await world.commit(journal)).toMatchObject({ kind: 'full' });
      expect(journal.failed).toBeNull();
      world.disk.capacityBytes = Number.POSITIVE_INFINITY;
      await world.clock.advance(1101);
      expect(journal.full).toBe(false);
      expect(journal.backlogBytes).toBe(0);
      journal.put(recordOf(4, 0));
      expect(await world.commit(journal)).toBeNull();
      const after = new World(world.disk.crash(new SeededRandom(1)));
      await after.open();
      expect(after.sequences).toEqual({ 1: 0, 2: 0, 3: 0, 4: 0 });
    });

    it('stops the member rather than keep back without limit', async () => {
      const world = new World();
      world.limits = { ...world.limits, backlogBytesMax: 20_000 };
      const journal = await world.open();
      world.disk.capacityBytes = 0;
      for (let i = 0; i < 30 && journal.failed === null; i++) {
        journal.put(recordOf(i, 0, 1000));
        expect(await world.commit(journal)).not.toBeNull();
      }
      expect(journal.failed?.kind).toBe('failed');
      expect(world.failures.length).toBe(1);
    });

    it('does not busy itself with a full disk', async () => {
      const world = new World();
      const journal = await world.open();
      world.disk.capacityBytes = 0;
      const before = world.disk.calls.append;
      const again = (): void => {
        journal.commit(again);
      };
      journal.put(recordOf(1, 0));
      again();
      await world.clock.advance(10_000);
      expect(world.disk.calls.append - before).toBeLessThan(300);
    });

    it('also tells commits that came while the write was failing', async () => {
      const world = new World();
      world.disk.latencyMs = 2;
      const journal = await world.open();
      world.disk.capacityBytes = 0;
      const errors: unknown[] = [];
      journal.put(recordOf(1, 0));
      await world.clock.advance(1);
      journal.drop(7, 9);
      // May mean the first record, which is not on disk.
      journal.commit((error) => errors.push(error?.kind));
      await world.clock.advance(100);
      expect(errors).toEqual(['full']);
    });

    it('starts without a reserve when there is no room for one', async () => {
      const world = new World();
      world.disk.capacityBytes = 2000;
      const journal = await world.open();
      expect(journal.full).toBe(true);
      journal.put(recordOf(1, 0));
      expect(await world.commit(journal)).toBeNull();
    });

    it('starts from its reserve when there is no room for anything else', async () => {
      const world = new World();
      const journal = await world.open();
      journal.put(recordOf(1, 0));
      await world.until(journal.close());
      world.disk.capacityBytes = world.disk.usedBytes;
      const again = await world.open();
      expect(again.full).toBe(true);
      again.put(recordOf(1, 1));
      expect(await world.commit(again)).toBeNull();
    });
  });

  describe('failing disk', () => {
    it('reports a failed sync once, tells every waiting commit, and never writes again', async () => {
      const world = new World();
      world.disk.latencyMs = 1;
      const journal = await world.open();
      const errors: unknown[] = [];
      const note = (error: { kind: string } | null): void => void errors.push(error?.kind);
      world.disk.syncsFail = true;
      journal.put(recordOf(1, 0));
      journal.commit(note);
      await world.clock.advance(1);
      journal.put(recordOf(2, 0));
      journal.commit(note);
      await world.clock.advance(1);
      expect(errors).toEqual(['failed', 'failed']);
      world.disk.syncsFail = false;
      const { append, sync } = world.disk.calls;
      journal.put(recordOf(3, 0));
      journal.commit(note);
      expect(await world.until(journal.snapshots.take(world.pull()))).toBe(false);
      await world.clock.advance(10);
      expect(errors).toEqual(['failed', 'failed', 'failed']);
      expect(world.disk.calls).toEqual({ append, sync });
      expect(world.failures.length).toBe(1);
      expect(journal.failed?.kind).toBe('failed');
      await world.until(journal.close());
    });

    it('stops after a write that failed for another reason than lack of room', async () => {
      const world = new World();
      const journal = await world.open();
      world.disk.appendsFail = true;
      journal.put(recordOf(1, 0));
      expect(await world.commit(journal)).toMatchObject({ kind: 'failed' });
      expect(world.failures.length).toBe(1);
    });

    it('treats a sync that finds no room as failed: its entries may be gone', async () => {
      const world = new World();
      const create = world.disk.create.bind(world.disk);
      let room = true;
      world.disk.create = async (name) => {
        const file = await create(name);
        const sync = file.sync.bind(file);
        file.sync = () => (room ? sync() : Promise.reject(new DiskError('full', 'No room.')));
        return file;
      };
      const journal = await world.open();
      room = false;
      journal.put(recordOf(1, 0));
      expect(await world.commit(journal)).toMatchObject({ kind: 'failed' });
      expect(world.failures.length).toBe(1);
    });

    it('logs a full and a failing disk', async () => {
      const world = new World();
      const journal = await world.open();
      world.disk.syncsFail = true;
      journal.put(recordOf(1, 0));
      await world.commit(journal);
      expect(world.log).toBeInstanceOf(CollectedLog);
      expect(world.log.lines.filter(({ level }) => level === 'error').length).toBe(1);
    });
  });
});
