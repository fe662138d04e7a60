import { MemoryDisk } from '@carillon/core/testing';
import { expect, it } from 'vitest';
import { bornWallMs } from './born.ts';

it('a folder remembers when it was first used, until its history begins anew', async () => {
  const disk = new MemoryDisk();
  expect(await bornWallMs(disk, 1000, false)).toBe(1000);
  expect(await bornWallMs(disk, 2000, false)).toBe(1000);
  expect(await bornWallMs(disk, 3000, true)).toBe(3000);
  expect(await bornWallMs(disk, 4000, false)).toBe(3000);
  expect((await disk.list()).map(({ name }) => name)).toEqual(['born-3000']);
});

it('of two dates, as a power cut may leave them, the later one counts', async () => {
  const disk = new MemoryDisk();
  await (await disk.create('born-3000')).close();
  await (await disk.create('born-1000')).close();
  expect(await bornWallMs(disk, 4000, false)).toBe(3000);
});
