import { mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@carillon/core/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReloadingFile } from './reloading-file.ts';

describe('ReloadingFile', () => {
  const clock = new VirtualClock();
  let folder: string;
  let lines: string[];
  let told: number[];
  let opened: ReloadingFile<number> | null;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'carillon-reloading-'));
    lines = [];
    told = [];
    opened = null;
  });
  afterEach(() => {
    opened?.close();
    rmSync(folder, { recursive: true });
  });

  const write = (name: string, content: string): void => writeFileSync(join(folder, name), content);

  /** The sum of the numbers in the files. */
  async function open(...names: string[]): Promise<ReloadingFile<number>> {
    const line = (message: string, fields: object = {}): void => {
      lines.push(`${message} ${JSON.stringify(fields)}`);
    };
    opened = await ReloadingFile.open<number>({
      what: 'The sum',
      files: names.map((name) => join(folder, name)),
      make: (contents) => {
        const sum = contents.reduce((total, content) => total + Number(content), 0);
        if (Number.isNaN(sum)) throw new Error('It is no number.');
        return sum;
      },
      clock,
      log: { debug: line, info: line, warn: line, error: line },
      changed: (value) => told.push(value),
    });
    return opened;
  }

  test('is made from all files, and anew when told to read them again', async () => {
    write('a', '1');
    write('b', '2');
    const file = await open('a', 'b');
    expect(file.value).toBe(3);
    write('b', '5');
    await file.reload();
    expect([file.value, told]).toEqual([6, [6]]);
  });

  test('a file that became very long is not read: the value stays, with a report', async () => {
    write('a', '1');
    const file = await open('a');
    // A sparse file, which takes no room on disk.
    truncateSync(join(folder, 'a'), 2 ** 30);
    await file.reload();
    expect([file.value, told]).toEqual([1, []]);
    expect(lines.join()).toContain('It has 1073741824 bytes; 8388608 are the most.');
  });

  test('files that did not change are not reported', async () => {
    write('a', '1');
    await (await open('a')).reload();
    expect([told, lines]).toEqual([[], []]);
  });

  test.each([
    ['cannot be understood', () => write('a', 'secret word')],
    ['is gone', () => rmSync(join(folder, 'a'))],
  ])(
    'a file that %s is reported, the value stays, and a good one is taken later',
    async (_, spoil) => {
      write('a', '1');
      const file = await open('a');
      spoil();
      await file.reload();
      expect([file.value, told]).toEqual([1, []]);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain('everything stays as it was');
      expect(lines[0]).not.toContain('secret word');
      write('a', '9');
      await file.reload();
      expect([file.value, told]).toEqual([9, [9]]);
    },
  );

  test('a file that cannot be used at the start is refused with its name and the reason', async () => {
    write('a', 'x');
    await expect(open('a')).rejects.toThrow(
      /^The sum cannot be used \(.*\/a\): It is no number\.$/,
    );
    await expect(open('none')).rejects.toThrow(/The sum cannot be used .*ENOENT/);
  });

  test.each([
    ['written', () => write('a', '7')],
    [
      'replaced by another',
      () => {
        write('new', '7');
        renameSync(join(folder, 'new'), join(folder, 'a'));
      },
    ],
  ])('a file that is %s is noticed by itself', async (_, change) => {
    write('a', '1');
    const file = await open('a');
    change();
    await expect.poll(() => clock.advance(1000).then(() => file.value)).toBe(7);
    expect(told).toEqual([7]);
  });

  test('a config map, where a link to the folder of the files is replaced, is noticed by itself', async () => {
    writeFileSync(join(folder, '..one'), '1');
    writeFileSync(join(folder, '..two'), '2');
    symlinkSync('..one', join(folder, '..data'));
    symlinkSync('..data', join(folder, 'a'));
    const file = await open('a');
    symlinkSync('..two', join(folder, '..next'));
    renameSync(join(folder, '..next'), join(folder, '..data'));
    await expect.poll(() => clock.advance(1000).then(() => file.value)).toBe(2);
  });
});
