import { describe, expect, it } from 'vitest';
import type { DiskFile } from '../env.ts';
import { MemoryDisk } from './memory-disk.ts';
import { SeededRandom } from './seeded-random.ts';
import { settle, VirtualClock } from './virtual-clock.ts';

const bytesOf = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

async function writtenDisk(): Promise<{ disk: MemoryDisk; file: DiskFile }> {
  const disk = new MemoryDisk();
  const file = await disk.create('a');
  await file.append(bytesOf(100, 1));
  await file.sync();
  await file.append(bytesOf(2000, 2));
  return { disk, file };
}

describe('memory disk', () => {
  it('keeps synced bytes over a power cut, and of the rest a beginning of any length', async () => {
    const lengths = new Set<number>();
    let holes = 0;
    for (let seed = 0; seed < 200; seed++) {
      const { disk } = await writtenDisk();
      const found = await disk.crash(new SeededRandom(seed)).read('a', 0, 5000);
      expect(found.subarray(0, 100).every((byte) => byte === 1)).toBe(true);
      const tail = [...found.subarray(100)];
      expect(tail.every((byte) => byte === 2 || byte === 0)).toBe(true);
      if (tail.includes(0)) holes++;
      lengths.add(tail.length);
    }
    expect(lengths.size).toBeGreaterThan(100);
    expect(holes).toBeGreaterThan(10);
  });

  it('keeps all that was appended when only the process ends', async () => {
    const { disk } = await writtenDisk();
    expect((await disk.kill().read('a', 0, 5000)).length).toBe(2100);
  });

  it('answers nothing any more after the power went off', async () => {
    const { disk, file } = await writtenDisk();
    disk.crash(new SeededRandom(1));
    let answered = false;
    for (const call of [file.append(bytesOf(1, 1)), file.sync(), disk.list()]) {
      void call.then(() => {
        answered = true;
      });
    }
    await settle();
    expect(answered).toBe(false);
  });

  it('may bring a removed file back, until the folder is synced', async () => {
    let back = 0;
    for (let seed = 0; seed < 40; seed++) {
      const { disk } = await writtenDisk();
      await disk.remove('a');
      back += (await disk.crash(new SeededRandom(seed)).list()).length;
    }
    expect(back).toBeGreaterThan(5);
    expect(back).toBeLessThan(35);
    const { disk } = await writtenDisk();
    await disk.remove('a');
    await disk.create('b');
    expect((await disk.crash(new SeededRandom(3)).list()).map(({ name }) => name)).toEqual(['b']);
  });

  it('refuses an append that does not fit and leaves the file as it was', async () => {
    const { disk, file } = await writtenDisk();
    disk.capacityBytes = 2150;
    await expect(file.append(bytesOf(51, 3))).rejects.toMatchObject({ kind: 'full' });
    expect(file.size).toBe(2100);
    await file.append(bytesOf(50, 3));
    expect(file.size).toBe(2150);
  });

  it('loses the bytes that a failed sync was to save, even if a later sync says otherwise', async () => {
    const { disk, file } = await writtenDisk();
    disk.syncsFail = true;
    await expect(file.sync()).rejects.toMatchObject({ kind: 'failed' });
    disk.syncsFail = false;
    expect(disk.failureCount).toBe(1);
    await file.sync();
    const lengths = new Set<number>();
    for (let seed = 0; seed < 20; seed++) {
      lengths.add((await disk.crash(new SeededRandom(seed)).read('a', 0, 5000)).length);
    }
    expect(Math.min(...lengths)).toBeLessThan(2100);
  });

  it('fails appends when told to, and forgets everything when wiped', async () => {
    const { disk, file } = await writtenDisk();
    disk.appendsFail = true;
    await expect(file.append(bytesOf(1, 1))).rejects.toMatchObject({ kind: 'failed' });
    disk.wipe();
    expect(await disk.list()).toEqual([]);
  });

  it('rots: bytes flipped or zeroed, a file cut, a file gone, without an error', async () => {
    const { disk, file } = await writtenDisk();
    disk.flip('a', 0);
    disk.zero('a', 1, 3);
    expect([...(await disk.read('a', 0, 4))]).toEqual([0x54, 0, 0, 1]);
    disk.shorten('a', 50);
    expect(disk.look()).toEqual([{ name: 'a', size: 50 }]);
    await file.append(bytesOf(5, 9));
    expect([...(await disk.read('a', 49, 9))]).toEqual([1, 9, 9, 9, 9, 9]);
    disk.lose('a');
    await file.append(bytesOf(5, 9));
    await file.sync();
    expect(await disk.crash(new SeededRandom(1)).list()).toEqual([]);
  });

  it('takes its time on the clock, and syncs only bytes that were appended before the call', async () => {
    const clock = new VirtualClock();
    const disk = new MemoryDisk({ clock, latencyMs: 5 });
    const made = disk.create('a');
    await clock.advance(5);
    const file = await made;
    const appended = file.append(bytesOf(10, 1));
    await clock.advance(4);
    expect(file.size).toBe(0);
    await clock.advance(1);
    await appended;
    expect(file.size).toBe(10);
  });
});
