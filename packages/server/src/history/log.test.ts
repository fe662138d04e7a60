import type { Disk } from '@carillon/core';
import { MemoryDisk, SeededRandom, settle, VirtualClock } from '@carillon/core/testing';
import { diskContract } from '../../../core/src/testing/disk.contract.ts';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../testing/one-member.ts';
import type { Entry } from './entry.ts';
import { HistoryLog, type HistoryLimits } from './log.ts';
import { RamDisk } from './ram-disk.ts';
import type { HistoryAsk, HistoryRead } from './read.ts';
import { attemptEntry, changeEntry } from './testing/entries.ts';

const MiB = 1024 * 1024;
const anything: HistoryAsk = {
  namespace: null,
  number: null,
  actor: null,
  action: null,
  changesOnly: false,
  sinceMs: 0,
  untilMs: Number.POSITIVE_INFINITY,
  before: null,
  limit: 1_000_000,
};
const roomy: HistoryLimits = {
  keepMs: 7 * 86_400_000,
  bytesMax: 1024 * MiB,
  budgetOf: () => Number.POSITIVE_INFINITY,
  fileBytesMax: 64 * 1024,
};

interface World {
  readonly clock: VirtualClock;
  readonly history: HistoryLog;
  full: boolean;
  read(ask?: Partial<HistoryAsk>): Promise<HistoryRead>;
  /** All pages of an answer. */
  readAll(ask?: Partial<HistoryAsk>): Promise<Entry[]>;
  pass(ms: number): Promise<void>;
  done<T>(promise: Promise<T>): Promise<T>;
}

async function worldOf(
  disk: Disk,
  limits: Partial<HistoryLimits> = {},
  clock = new VirtualClock(),
): Promise<World> {
  const done = async <T>(promise: Promise<T>): Promise<T> => {
    const state = { over: false };
    const over = (): void => {
      state.over = true;
    };
    promise.then(over, over);
    await settle();
    for (let turn = 0; !state.over && turn < 10_000; turn++) {
      await clock.advance(0);
      await settle();
    }
    if (!state.over) throw new Error('The work does not come to its end.');
    return promise;
  };
  const world = {
    clock,
    full: false,
    done,
    pass: async (ms: number) => {
      for (let i = 0; i < 20; i++) {
        await clock.advance(ms / 20);
        await settle();
      }
    },
    read: async (ask: Partial<HistoryAsk> = {}) => {
      const found = await done(history.read({ ...anything, ...ask }));
      if (found === null) throw new Error('Too many readings.');
      return found;
    },
    readAll: async (ask: Partial<HistoryAsk> = {}) => {
      const all: Entry[] = [];
      let before = null;
      do {
        const page = await world.read({ ...ask, before });
        all.push(...page.entries.map(({ entry }) => entry));
        before = page.more;
      } while (before !== null);
      return all;
    },
  };
  const history = new HistoryLog({
    disk,
    clock,
    log: silentLog,
    limits: { ...roomy, ...limits },
    isDiskFull: () => world.full,
  });
  await done(history.start());
  return Object.assign(world, { history });
}

/** Notes of `count` timers, lo from `from` on. */
function fill({ history, clock }: World, count: number, fields: Partial<Entry> = {}, from = 0) {
  for (let i = 0; i < count; i++) {
    const more = fields.kind === 'attempt' ? fields : {};
    history.note(attemptEntry({ wallMs: clock.wall(), lo: from + i, ...more }));
  }
}

const lows = (entries: readonly Entry[]): number[] => entries.map(({ lo }) => lo);

describe('the log of the history', () => {
  it('shows entries noted a moment ago, the newest first', async () => {
    const world = await worldOf(new MemoryDisk());
    fill(world, 3);
    expect(lows(await world.readAll())).toEqual([2, 1, 0]);
    fill(world, 1, {}, 3);
    expect(lows(await world.readAll())).toEqual([3, 2, 1, 0]);
  });

  it('writes once a second and syncs five seconds later, so that a kill loses a second and a power cut six', async () => {
    const disk = new MemoryDisk();
    const world = await worldOf(disk);
    fill(world, 1);
    await world.pass(999);
    expect(disk.usedBytes).toBe(0);
    await world.pass(20);
    expect(disk.usedBytes).toBeGreaterThan(40);
    expect(disk.calls.sync).toBe(0);
    await world.pass(5000);
    expect(disk.calls.sync).toBe(1);
    fill(world, 5000, {}, 1);
    const cut = await worldOf(disk.crash(new SeededRandom(4)), {}, world.clock);
    expect(lows(await cut.readAll({ number: { hi: 1, lo: 0 } }))).toEqual([0]);
  });

  it('reads everything after a kill, a restart, another kill, and finds one timer by the index', async () => {
    let disk = new MemoryDisk();
    const clock = new VirtualClock();
    const expected: number[] = [];
    for (let round = 0; round < 6; round++) {
      const world = await worldOf(disk, {}, clock);
      const count = round % 3 === 0 ? 9000 : 50;
      fill(world, count, {}, expected.length);
      for (let i = 0; i < count; i++) expected.unshift(expected.length);
      world.history.note(changeEntry({ wallMs: clock.wall(), lo: 77, action: 'cancel' }));
      expected.unshift(77);
      await world.pass(1100);
      if (round % 2 === 0) await world.done(world.history.stop());
      disk = disk.kill();
    }
    const world = await worldOf(disk, {}, clock);
    expect(lows(await world.readAll())).toEqual(expected);
    const found = await world.readAll({ number: { hi: 1, lo: 77 } });
    expect(found.map(({ kind }) => kind)).toEqual([...Array<string>(6).fill('change'), 'attempt']);
    expect(await world.readAll({ number: { hi: 1, lo: 77 }, namespace: 'other' })).toEqual([]);
    // Short files were continued, so six runs have left few files.
    expect(disk.look().filter(({ name }) => name.endsWith('.index')).length).toBeGreaterThan(3);
    const short = disk.look().filter(({ name, size }) => /\d$/.test(name) && size < 8192);
    expect(short.length).toBeLessThan(3);
  });

  it('makes whole blocks of entries that come while the disk is slow', async () => {
    const clock = new VirtualClock();
    const disk = new MemoryDisk({ clock });
    const world = await worldOf(disk, { fileBytesMax: MiB }, clock);
    disk.latencyMs = 300;
    fill(world, 60_000);
    await world.pass(10_000);
    disk.latencyMs = 0;
    await world.pass(10_000);
    expect(disk.usedBytes / 60_000).toBeLessThan(40);
    expect(world.history.omitted).toBe(0);
    expect((await world.readAll()).length).toBe(60_000);
  });

  it('begins another file after very many blocks, and does not copy the one before', async () => {
    const disk = new MemoryDisk();
    const world = await worldOf(disk, { fileBytesMax: 8 * MiB });
    for (let i = 0; i < 4100; i++) {
      fill(world, 1, {}, i);
      await world.done(world.history.flush());
    }
    const files = disk.look().filter(({ name }) => /-\d+$/.test(name));
    expect(files.map(({ name }) => name)).toEqual(['history-0000000001', 'history-0000000002']);
    expect(files[1]?.size).toBeLessThan(1000);
    expect((await world.readAll()).length).toBe(4100);
  });

  it('answers in pages that repeat and skip nothing while more is noted', async () => {
    const world = await worldOf(new MemoryDisk());
    fill(world, 5000);
    const seen: number[] = [];
    let before = null;
    do {
      const page = await world.read({ before, limit: 7 + seen.length });
      seen.push(...lows(page.entries.map(({ entry }) => entry)));
      before = page.more;
      fill(world, 100, {}, 5000);
    } while (before !== null);
    expect(seen).toEqual(Array.from({ length: 5000 }, (_, i) => 4999 - i));
  });

  it('filters by actor, action, namespace and time', async () => {
    const world = await worldOf(new MemoryDisk());
    const { history, clock } = world;
    const at = (wallMs: number, actor: string, action: 'set' | 'cancel', namespace = 'default') =>
      history.note(changeEntry({ wallMs, actor, action, namespace, lo: wallMs % 100 }));
    const from = clock.wall();
    at(from + 1, 'shop', 'set');
    at(from + 2, 'shop', 'cancel');
    at(from + 3, 'night', 'cancel', 'bank');
    at(from + 4, 'night', 'set');
    fill(world, 3);
    const found = async (ask: Partial<HistoryAsk>): Promise<number[]> =>
      (await world.readAll(ask)).map(({ wallMs }) => wallMs - from);
    expect(await found({ changesOnly: true })).toEqual([4, 3, 2, 1]);
    expect(await found({ actor: 'night' })).toEqual([4, 3]);
    expect(await found({ action: 'cancel' })).toEqual([3, 2]);
    expect(await found({ action: 'cancel', actor: 'shop' })).toEqual([2]);
    expect(await found({ namespace: 'bank' })).toEqual([3]);
    expect(await found({ changesOnly: true, sinceMs: from + 2, untilMs: from + 3 })).toEqual([
      3, 2,
    ]);
    expect(await found({ actor: 'nobody' })).toEqual([]);
  });

  it('stays within its bytes and its age', async () => {
    const disk = new MemoryDisk();
    const world = await worldOf(disk, { bytesMax: MiB, keepMs: 10 * 3_600_000 });
    for (let i = 0; i < 40; i++) {
      fill(world, 3000, {}, i * 3000);
      await world.pass(70_000);
    }
    expect(disk.usedBytes).toBeLessThan(1.1 * MiB);
    const left = await world.readAll();
    expect(left.length).toBeGreaterThan(10_000);
    expect(lows(left)[0]).toBe(119_999);
    await world.pass(10 * 3_600_000 + 1000);
    expect(await world.readAll()).toEqual([]);
    fill(world, 1);
    await world.pass(1100);
    world.history.tend();
    await world.pass(2000);
    expect(disk.usedBytes).toBeLessThan(20_000);
  });

  it('gives a namespace no more than its budget, and leaves the entries of the others', async () => {
    const disk = new MemoryDisk();
    const budgetOf = (name: string): number => (name === 'loud' ? 200 * 1024 : MiB);
    const world = await worldOf(disk, { budgetOf });
    for (let i = 0; i < 20; i++) {
      fill(world, 3000, { kind: 'attempt', namespace: 'loud' }, i * 3000);
      fill(world, 5, { kind: 'attempt', namespace: 'quiet' }, i * 5);
      await world.pass(70_000);
    }
    expect((await world.readAll({ namespace: 'quiet' })).length).toBe(100);
    const loud = await world.readAll({ namespace: 'loud' });
    expect(loud.length).toBeGreaterThan(3000);
    expect(loud.length).toBeLessThan(15_000);
    expect(disk.usedBytes).toBeLessThan(600 * 1024);
  });

  it('erases stored answers at once, from the disk as well, and over a restart in between', async () => {
    const disk = new MemoryDisk();
    const world = await worldOf(disk);
    const secret = 'card 4711 declined';
    const holds = (): boolean =>
      disk.look().some(({ name }) => bytesOf(disk, name).includes('4711'));
    fill(world, 4000, { kind: 'attempt', detail: secret, outcome: 500 });
    fill(world, 10, { kind: 'attempt', detail: 'kept', namespace: 'other' }, 4000);
    await world.pass(2000);
    expect(holds()).toBe(true);
    await world.done(world.history.erase('default'));
    const ours = await world.readAll({ namespace: 'default' });
    expect(ours.length).toBe(4000);
    expect(ours.every((entry) => entry.kind === 'attempt' && entry.detail === '')).toBe(true);
    const restarted = await worldOf(disk.kill(), {}, world.clock);
    const again = await restarted.readAll({ namespace: 'default' });
    expect(again.every((entry) => entry.kind === 'attempt' && entry.detail === '')).toBe(true);
    const others = await restarted.readAll({ namespace: 'other' });
    expect(others[0]).toMatchObject({ detail: 'kept' });
  });

  it('has nothing of erased answers on disk soon after, and forgets that they were erased', async () => {
    const disk = new MemoryDisk();
    const world = await worldOf(disk);
    fill(world, 9000, { kind: 'attempt', detail: 'card 4711 declined', outcome: 500 });
    await world.done(world.history.erase('default'));
    await world.pass(200_000);
    for (const { name } of disk.look()) expect(bytesOf(disk, name)).not.toContain('4711');
    expect(disk.look().map(({ name }) => name)).not.toContain('history-erased');
    expect((await world.readAll()).length).toBe(9000);
  });

  it('leaves entries out while the disk is full, counts them, removes the oldest file, and goes on', async () => {
    const disk = new MemoryDisk();
    const world = await worldOf(disk);
    fill(world, 9000);
    await world.pass(1100);
    const before = disk.look().length;
    disk.capacityBytes = disk.usedBytes + 10;
    fill(world, 100, {}, 9000);
    await world.pass(1100);
    expect(world.history.omitted).toBe(100);
    fill(world, 1, {}, 9100);
    expect(world.history.omitted).toBe(101);
    disk.capacityBytes = Number.POSITIVE_INFINITY;
    await world.pass(5000);
    expect(disk.look().length).toBeLessThan(before);
    fill(world, 1, {}, 9200);
    expect(lows(await world.readAll())[0]).toBe(9200);
  });

  it('gives all room to the journal once the journal finds the disk full', async () => {
    const disk = new MemoryDisk();
    const world = await worldOf(disk);
    fill(world, 9000);
    await world.pass(1100);
    const before = disk.usedBytes;
    world.full = true;
    for (let i = 0; i < 20; i++) {
      fill(world, 10);
      await world.pass(6100);
    }
    expect(disk.usedBytes).toBeLessThan(before / 2);
    expect(world.history.omitted).toBe(200);
  });

  it('survives a disk that fails, and damage in any file', async () => {
    const disk = new MemoryDisk();
    const world = await worldOf(disk);
    fill(world, 9000);
    await world.pass(1100);
    disk.appendsFail = true;
    fill(world, 5);
    await world.pass(1100);
    expect(world.history.omitted).toBe(5);
    disk.appendsFail = false;
    await world.pass(60_000);
    fill(world, 1, {}, 99);
    await world.pass(1100);
    for (const { name, size } of disk.look()) disk.flip(name, Math.floor(size / 2));
    const restarted = await worldOf(disk.kill(), {}, world.clock);
    const left = await restarted.readAll();
    expect(left.length).toBeGreaterThan(1000);
    fill(restarted, 1, {}, 12_345);
    expect(lows(await restarted.readAll())[0]).toBe(12_345);
  });

  it('never takes a number that a file has already, although the folder could not be read at the start', async () => {
    const disk = new MemoryDisk();
    const first = await worldOf(disk);
    fill(first, 3);
    await first.pass(1100);
    disk.descriptorsGone = true;
    const world = await worldOf(disk, {}, first.clock);
    disk.descriptorsGone = false;
    await world.pass(5100);
    fill(world, 1, {}, 3);
    await world.pass(1100);
    expect(lows(await world.readAll())).toEqual([3, 2, 1, 0]);
  });

  it('refuses to read for many at once', async () => {
    const world = await worldOf(new MemoryDisk());
    const asked = Array.from({ length: 20 }, () => world.history.read(anything));
    const results = await world.done(Promise.all(asked));
    expect(results.filter((found) => found === null).length).toBe(4);
  });

  it('works in memory, where a member has no disk', async () => {
    const world = await worldOf(new RamDisk(), { bytesMax: 200 * 1024 });
    for (let i = 0; i < 20; i++) {
      fill(world, 3000, {}, i * 3000);
      await world.pass(70_000);
    }
    const left = await world.readAll();
    expect(lows(left)[0]).toBe(59_999);
    expect(left.length).toBeLessThan(12_000);
  });
});

function bytesOf(disk: MemoryDisk, name: string): string {
  const { bytes, size } = (
    disk as unknown as { files: Map<string, { bytes: Uint8Array; size: number }> }
  ).files.get(name) ?? { bytes: new Uint8Array(0), size: 0 };
  return Buffer.from(bytes.subarray(0, size)).toString('latin1');
}

diskContract('history in memory', () => Promise.resolve(new RamDisk()));
