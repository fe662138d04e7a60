/** The journal on a real disk, in scratch folders. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SystemClock, SystemDisk } from '@carillon/core/system';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from './journal.ts';
import { Store } from '../store.ts';
import { CollectedLog, recordOf } from '../testing/journal-world.ts';

let scratch = '';

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'carillon-journal-'));
});

afterEach(async () => {
  await rm(scratch, { recursive: true });
});

async function open(folder: string): Promise<{ journal: Journal; store: Store; disk: SystemDisk }> {
  const disk = await SystemDisk.open(folder);
  const store = new Store();
  const journal = await Journal.open({
    disk,
    clock: new SystemClock(),
    log: new CollectedLog(),
    identity: 'test',
    replay: {
      put: (record) => store.put(record),
      drop: (hi, lo) => store.remove(hi, lo),
      rows: (bytes, baseMs) => store.restoreRows(bytes, baseMs, ({ dueMs }) => dueMs),
      rowsEnd: () => store.endRestore(() => {}),
    },
    onFailed: (error) => {
      throw error;
    },
    limits: { reserveBytes: 65_536 },
  });
  return { journal, store, disk };
}

function committed(journal: Journal): Promise<unknown> {
  return new Promise((resolve) => journal.commit(resolve));
}

describe('journal on a real disk', () => {
  it('brings everything back after a snapshot, more changes and a restart', async () => {
    const { journal, store, disk } = await open(scratch);
    for (let lo = 0; lo < 2000; lo++) {
      store.put(recordOf(lo, 0));
      journal.put(recordOf(lo, 0));
    }
    expect(await committed(journal)).toBeNull();
    const snapshot = journal.snapshots.take({ records: store.records() });
    for (let lo = 0; lo < 100; lo++) {
      store.put(recordOf(lo, 1));
      journal.put(recordOf(lo, 1));
    }
    expect(await snapshot).toBe(true);
    journal.drop(7, 1999);
    await journal.close();
    await disk.close();
    const files = await readdir(scratch);
    expect(files.filter((name) => name.startsWith('journal')).length).toBe(1);
    const again = await open(scratch);
    expect(again.store.size).toBe(1999);
    expect(again.store.get(7, 50)?.sequence).toBe(1);
    expect(again.store.get(7, 500)?.sequence).toBe(0);
    expect(again.journal.damaged).toEqual([]);
    await again.journal.close();
    await again.disk.close();
  });

  it('has every confirmed record after kill -9 in the middle of writing', async () => {
    const child = spawn(
      process.execPath,
      ['--conditions=source', join(import.meta.dirname, '../testing/writer-process.ts'), scratch],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let confirmed = -1;
    for await (const line of createInterface({ input: child.stdout })) {
      confirmed = Number(line);
      if (confirmed > 20_000) break;
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { journal, store, disk } = await open(scratch);
    expect(confirmed).toBeGreaterThan(20_000);
    expect(store.size).toBeGreaterThan(confirmed);
    for (let lo = 0; lo <= confirmed; lo++) {
      if (store.find(7, lo) < 0) throw new Error(`Record ${lo} of ${confirmed} is missing.`);
    }
    expect(journal.damaged).toEqual([]);
    await journal.close();
    await disk.close();
  });

  it('has every confirmed record in a copy of its files taken while writing', async () => {
    const { journal, disk } = await open(scratch);
    const copies: { folder: string; confirmed: number }[] = [];
    let confirmed = -1;
    let sent = 0;
    for (let round = 0; round < 200; round++) {
      for (const end = sent + 20; sent < end; sent++) journal.put(recordOf(sent, 0));
      const upTo = sent - 1;
      journal.commit((error) => {
        if (error === null) confirmed = upTo;
      });
      if (round % 50 === 49) copies.push(await copyOf(scratch, confirmed));
      if (round % 3 === 0) await committed(journal);
    }
    await journal.close();
    await disk.close();
    for (const copy of copies) {
      const found = await open(copy.folder);
      for (let lo = 0; lo <= copy.confirmed; lo++) expect(found.store.find(7, lo)).not.toBe(-1);
      await found.journal.close();
      await found.disk.close();
    }
    expect(copies.length).toBe(4);
  });
});

async function copyOf(
  folder: string,
  confirmed: number,
): Promise<{ folder: string; confirmed: number }> {
  const to = await mkdtemp(join(folder, 'copy-'));
  for (const name of await readdir(folder)) {
    if (/^(journal|snapshot)-/.test(name)) await copyFile(join(folder, name), join(to, name));
  }
  return { folder: to, confirmed };
}
