import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemDisk } from './disk.ts';
import { lockFolder } from './folder-lock.ts';

let folder = '';

/** Tries every call that opens something after the last descriptor is taken. */
const outOfDescriptors = `
  import { openSync } from 'node:fs';
  import { SystemDisk } from './disk.ts';
  const disk = await SystemDisk.open(process.env.FOLDER);
  const file = await disk.create('a');
  await file.append(Uint8Array.of(1, 2, 3));
  await file.sync();
  try { for (;;) openSync('/dev/null'); } catch {}
  const calls = [disk.list(), disk.create('b'), disk.read('a', 0, 9), disk.truncate('a', 1)];
  const settled = await Promise.allSettled(calls);
  await file.append(Uint8Array.of(4, 5, 6));
  await file.sync();
  await disk.rename('a', 'c');
  await disk.remove('d');
  console.log(JSON.stringify({ kinds: settled.map(({ reason }) => reason?.kind), size: file.size }));
  process.exit(0);
`;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-lock-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe('system disk', () => {
  it('creates its folder for its owner only', async () => {
    const disk = await SystemDisk.open(join(folder, 'data'));
    expect((await stat(join(folder, 'data'))).mode & 0o777).toBe(0o700);
    const file = await disk.create('a');
    await file.close();
    expect((await stat(join(folder, 'data', 'a'))).mode & 0o777).toBe(0o600);
    await disk.close();
  });

  it('refuses a folder that a live process has, and says which', async () => {
    const disk = await SystemDisk.open(folder);
    await expect(SystemDisk.open(folder)).rejects.toThrow(
      new RegExp(`in use by process ${process.pid} .*a folder of its own`),
    );
    await disk.close();
    const again = await SystemDisk.open(folder);
    await again.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it('says which file a small sync failed for, in room that the file had already', async () => {
    const disk = await SystemDisk.open(folder);
    const file = await disk.create('a', 4096);
    for (const byte of [1, 2, 3]) {
      await file.append(Uint8Array.of(byte));
      await file.sync();
    }
    await file.close();
    await expect(file.sync()).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/^Could not sync a: .*EBADF/),
    });
    await disk.close();
  });

  it('names a folder that takes no files, and not the file of the lock', async () => {
    await expect(lockFolder(join(folder, 'none'))).rejects.toThrow(
      `Could not write to the folder ${join(folder, 'none')}: no such file or directory.`,
    );
  });

  it('takes over the lock of a process that is gone', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    await writeFile(
      join(folder, 'lock'),
      JSON.stringify({ pid: child.pid, started: '1', boot: 'x' }),
    );
    const disk = await SystemDisk.open(folder);
    expect(await disk.list()).toEqual([]);
    await disk.close();
  });

  it('takes over the lock of a process whose number now belongs to another', async () => {
    await writeFile(
      join(folder, 'lock'),
      JSON.stringify({ pid: process.pid, started: '1', boot: 'x' }),
    );
    await (await SystemDisk.open(folder)).close();
  });

  it('takes over a lock file that is not one', async () => {
    await writeFile(join(folder, 'lock'), 'nonsense');
    await (await SystemDisk.open(folder)).close();
  });

  it('gives the folder to exactly one of many that try at once', async () => {
    await writeFile(
      join(folder, 'lock'),
      JSON.stringify({ pid: 2 ** 22 + 1, started: '1', boot: 'x' }),
    );
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, () => SystemDisk.open(folder)),
    );
    const won = tries.filter((one) => one.status === 'fulfilled');
    expect(won.length).toBe(1);
    await won[0]?.value.close();
  });

  it('takes room ahead from the first append after a sync on', async () => {
    const disk = await SystemDisk.open(folder);
    const file = await disk.create('a', 4096);
    const lengths: number[] = [];
    const append = async (bytes: number): Promise<void> => {
      await file.append(new Uint8Array(bytes).fill(7));
      lengths.push((await stat(join(folder, 'a'))).size);
    };
    await append(100);
    await append(100);
    await file.sync();
    await append(100);
    await append(4096);
    await append(1);
    expect(lengths).toEqual([100, 200, 4396, 4396, 8493]);
    expect([...(await disk.read('a', 4395, 4))]).toEqual([7, 7, 0, 0]);
    await file.close();
    await disk.close();
  });

  // Only Linux has prlimit.
  it.runIf(process.platform === 'linux')(
    'tells a process without descriptors so; open files and names are written all the same',
    async () => {
      const limited = ['--nofile=64:64', process.execPath, '--conditions=source', '--no-warnings'];
      const child = spawn('prlimit', [...limited, '--input-type=module', '-e', outOfDescriptors], {
        cwd: import.meta.dirname,
        env: { FOLDER: folder },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const chunks = (await child.stdout.toArray()) as Buffer[];
      const { kinds, size } = JSON.parse(Buffer.concat(chunks).toString());
      expect(kinds).toEqual(Array(4).fill('no-descriptor'));
      expect(size).toBe(6);
    },
  );

  it('says in a sentence why a folder cannot be made', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(SystemDisk.open(join(folder, 'file', 'data'))).rejects.toThrow(
      /Could not create the folder .*file/,
    );
  });
});
