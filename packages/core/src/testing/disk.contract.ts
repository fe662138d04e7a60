/** The contract of the disk, run on a real folder and on the disk in memory. */
import { describe, expect, it } from 'vitest';
import type { Disk } from '../env.ts';

export function diskContract(name: string, open: () => Promise<Disk>): void {
  describe(`disk contract: ${name}`, () => {
    it('reads appended bytes back, in any pieces', async () => {
      const disk = await open();
      const file = await disk.create('a');
      expect(file.name).toBe('a');
      await file.append(Uint8Array.of(1, 2, 3));
      await file.append(new Uint8Array(0));
      await file.append(Uint8Array.of(4, 5));
      expect(file.size).toBe(5);
      await file.sync();
      await file.close();
      expect([...(await disk.read('a', 0, 5))]).toEqual([1, 2, 3, 4, 5]);
      expect([...(await disk.read('a', 1, 2))]).toEqual([2, 3]);
    });

    it('gives fewer bytes only at the end of the file', async () => {
      const disk = await open();
      const file = await disk.create('a');
      await file.append(Uint8Array.of(1, 2, 3));
      expect([...(await disk.read('a', 2, 100))]).toEqual([3]);
      expect([...(await disk.read('a', 3, 100))]).toEqual([]);
      expect([...(await disk.read('a', 30, 100))]).toEqual([]);
      expect([...(await disk.read('a', 1, 2, new Uint8Array(9)))]).toEqual([2, 3]);
      await file.close();
    });

    it('tells its room, or that it cannot', async () => {
      const disk = await open();
      const room = await disk.room();
      if (room === null) return;
      expect(room.totalBytes).toBeGreaterThan(0);
      expect(room.freeBytes).toBeLessThanOrEqual(room.totalBytes);
    });

    it('lists files with their sizes', async () => {
      const disk = await open();
      expect(await disk.list()).toEqual([]);
      const first = await disk.create('first');
      await first.append(new Uint8Array(10));
      const second = await disk.create('second');
      const listed = await disk.list();
      expect(listed.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
        { name: 'first', size: 10 },
        { name: 'second', size: 0 },
      ]);
      await first.close();
      await second.close();
    });

    it('empties a file that is created again', async () => {
      const disk = await open();
      const first = await disk.create('a');
      await first.append(new Uint8Array(10));
      await first.close();
      const second = await disk.create('a');
      expect(second.size).toBe(0);
      expect(await disk.list()).toEqual([{ name: 'a', size: 0 }]);
      await second.close();
    });

    it('keeps exactly the appended bytes in a file that takes room ahead', async () => {
      const disk = await open();
      const file = await disk.create('a', 8192);
      for (const byte of [1, 2, 3]) {
        await file.append(new Uint8Array(3000).fill(byte));
        await file.sync();
      }
      expect(file.size).toBe(9000);
      const bytes = await disk.read('a', 0, 9000);
      expect([0, 2999, 3000, 6000, 8999].map((at) => bytes[at])).toEqual([1, 1, 2, 3, 3]);
      await file.close();
      expect(await disk.list()).toEqual([{ name: 'a', size: 9000 }]);
    });

    it('replaces the target of a rename', async () => {
      const disk = await open();
      const old = await disk.create('to');
      await old.append(Uint8Array.of(1));
      await old.close();
      const fresh = await disk.create('from');
      await fresh.append(Uint8Array.of(2, 2));
      await fresh.close();
      await disk.rename('from', 'to');
      expect(await disk.list()).toEqual([{ name: 'to', size: 2 }]);
      expect([...(await disk.read('to', 0, 9))]).toEqual([2, 2]);
    });

    it('removes a file, and does not mind one that is not there', async () => {
      const disk = await open();
      await (await disk.create('a')).close();
      await disk.remove('a');
      await disk.remove('a');
      expect(await disk.list()).toEqual([]);
    });

    it('cuts a file', async () => {
      const disk = await open();
      const file = await disk.create('a');
      await file.append(Uint8Array.of(1, 2, 3, 4));
      await file.close();
      await disk.truncate('a', 2);
      expect([...(await disk.read('a', 0, 9))]).toEqual([1, 2]);
    });

    it('says in a DiskError that a file is not there', async () => {
      const disk = await open();
      await expect(disk.read('nothing', 0, 1)).rejects.toMatchObject({
        name: 'DiskError',
        kind: 'failed',
      });
      await expect(disk.rename('nothing', 'b')).rejects.toMatchObject({ name: 'DiskError' });
      await expect(disk.truncate('nothing', 0)).rejects.toMatchObject({ name: 'DiskError' });
    });

    it('takes large appends', async () => {
      const disk = await open();
      const file = await disk.create('a');
      const bytes = Uint8Array.from({ length: 3_000_000 }, (_, i) => i % 251);
      await file.append(bytes);
      await file.append(bytes.subarray(0, 7));
      await file.sync();
      await file.close();
      const found = await disk.read('a', 2_999_990, 100);
      expect([...found]).toEqual([...bytes.subarray(2_999_990), ...bytes.subarray(0, 7)]);
    });
  });
}
