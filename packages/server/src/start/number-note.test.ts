import { MemoryDisk } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { StartError } from '../access/start-rule.ts';
import { isNumberingNoted, noteNumbering } from './number-note.ts';

test('a folder without a note takes any key, and needs none for no key', async () => {
  const disk = new MemoryDisk();
  expect(await isNumberingNoted(disk, 0)).toBe(true);
  expect(await isNumberingNoted(disk, 7)).toBe(false);
  expect(await disk.list()).toEqual([]);
});

test('a folder with a note takes the same key, and says the ways out with another or none', async () => {
  const disk = new MemoryDisk();
  await noteNumbering(disk, 7);
  expect((await disk.list()).map(({ name }) => name)).toEqual(['numbers-00000007']);
  expect(await isNumberingNoted(disk, 7)).toBe(true);
  await expect(isNumberingNoted(disk, 8)).rejects.toThrow(StartError);
  await expect(isNumberingNoted(disk, 8)).rejects.toThrow(/has another "number-key": .*numbers-0/);
  await expect(isNumberingNoted(disk, 0)).rejects.toThrow(/has no "number-key"/);
});
