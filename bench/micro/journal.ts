/**
 * The journal alone, on a real disk: durable records a second with many waiting at once, against the bare
 * fdatasync of the same bytes; then how long reading a million records back takes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Disk, Log } from '@carillon/core';
import { SystemClock, SystemDisk } from '@carillon/core/system';
import { Journal } from '../../packages/server/src/store/journal/journal.ts';
import { Store } from '../../packages/server/src/store/store.ts';
import { recordOf } from './records.ts';

const waiterCount = 1000;
/** Of a whole run; a share of it is enough to see that it runs. */
const usual = { durableCount: 300_000, recoveryCount: 1_000_000 };
let { durableCount, recoveryCount } = usual;
const clock = new SystemClock();
const quiet: Log = { debug: ignore, info: ignore, warn: console.warn, error: console.error };

export async function run(report: (line: string) => void, share = 1) {
  durableCount = usual.durableCount * share;
  recoveryCount = usual.recoveryCount * share;
  const synced = await inScratch(async (disk) => {
    const { perSecond: durablePerSecond, syncs, bytes } = await durable(disk);
    report(
      `journal: ${durablePerSecond} durable records/s, ${waiterCount} waiting, ${syncs} syncs`,
    );
    const bare = await bareSyncs(disk, syncs, Math.round(bytes / syncs));
    const bareRatio = bare / (durableCount / durablePerSecond);
    report(`journal: the same syncs bare would take ${percent(bareRatio)} of that time`);
    return { durablePerSecond, bareRatio };
  });
  const recovered = await inScratch(async (disk) => {
    await fill(disk, recoveryCount);
    const took = await recovery(disk);
    report(`journal: recovery of 1 M records from segments ${shown(took.fromSegments)}`);
    report(`journal: snapshot of 1 M records while serving ${shown(took.snapshot)}`);
    report(`journal: recovery of 1 M records from a snapshot ${shown(took.fromSnapshot)}`);
    return took;
  });
  return { ...synced, ...recovered };
}

async function inScratch<T>(work: (disk: SystemDisk) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-'));
  const disk = await SystemDisk.open(folder);
  try {
    return await work(disk);
  } finally {
    await disk.close();
    rmSync(folder, { recursive: true });
  }
}

/** A thousand clients, each of which waits for its record before it sends the next. */
async function durable(disk: Disk): Promise<{ perSecond: number; syncs: number; bytes: number }> {
  let syncs = 0;
  const journal = await open(disk, new Store(), () => syncs++);
  const startedMs = performance.now();
  await new Promise<void>((resolve, reject) => {
    let sent = 0;
    let confirmed = 0;
    const send = (): void => {
      if (sent === durableCount) return;
      journal.put(recordOf(sent++));
      journal.commit((error) => {
        if (error !== null) return reject(error);
        if (++confirmed === durableCount) resolve();
        else send();
      });
    };
    for (let i = 0; i < waiterCount; i++) send();
  });
  const tookMs = performance.now() - startedMs;
  await journal.close();
  const bytes = (await disk.list()).find(({ name }) => name.startsWith('journal'))?.size ?? 0;
  return { perSecond: Math.round((durableCount / tookMs) * 1000), syncs, bytes };
}

/** Seconds for as many appends and syncs of the same size, and nothing else. */
async function bareSyncs(disk: Disk, count: number, bytes: number): Promise<number> {
  const file = await disk.create('bare');
  const block = new Uint8Array(bytes);
  const startedMs = performance.now();
  for (let i = 0; i < count; i++) {
    await file.append(block);
    await file.sync();
  }
  const tookMs = performance.now() - startedMs;
  await file.close();
  await disk.remove('bare');
  return tookMs / 1000;
}

async function fill(disk: Disk, count: number): Promise<void> {
  const journal = await open(disk, new Store());
  for (let i = 0; i < count; ) {
    for (const end = i + 10_000; i < end; i++) journal.put(recordOf(i));
    await new Promise((resolve) => journal.commit(resolve));
  }
  await journal.close();
}

async function recovery(disk: Disk) {
  const store = new Store();
  const replayed = await timed(() => open(disk, store));
  await replayed.result.beginNewestForm();
  if (store.size !== recoveryCount) throw new Error(`Only ${store.size} records came back.`);
  const written = await timed(() =>
    replayed.result.snapshots.take({ records: store.records(), rows: store.rowBlocks() }),
  );
  if (!written.result) throw new Error('The snapshot was given up.');
  await replayed.result.close();
  const again = new Store();
  const readBack = await timed(() => open(disk, again));
  if (again.size !== recoveryCount) throw new Error(`Only ${again.size} records came back.`);
  await readBack.result.close();
  return { fromSegments: replayed.took, snapshot: written.took, fromSnapshot: readBack.took };
}

interface Took {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; took: Took }> {
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - startedMs) / 1000;
  return { result, took: { seconds, cpuSeconds: (user + system) / 1e6 } };
}

function shown({ seconds, cpuSeconds }: Took): string {
  return `${seconds.toFixed(2)} s (${cpuSeconds.toFixed(2)} s of CPU)`;
}

function open(disk: Disk, store: Store, onSync: () => void = ignore): Promise<Journal> {
  return Journal.open({
    disk,
    clock,
    log: quiet,
    identity: 'bench',
    replay: {
      put: (record) => store.arm(store.put(record), record.dueMs),
      drop: (hi, lo) => void store.remove(hi, lo),
      rows: (bytes, baseMs) => store.restoreRows(bytes, baseMs, ({ dueMs }) => dueMs),
      rowsEnd: () => store.endRestore(ignore),
    },
    onFailed: (error) => {
      throw error;
    },
    onSync,
  });
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`;
}

function ignore(): void {}
