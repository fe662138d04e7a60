/** The real ports and the controllable ones keep the same contracts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { SystemClock, SystemDisk, SystemRandom } from '../system/index.ts';
import { clockContract } from './clock.contract.ts';
import { diskContract } from './disk.contract.ts';
import { MemoryDisk } from './memory-disk.ts';
import { randomContract } from './random.contract.ts';
import { SeededRandom } from './seeded-random.ts';
import { VirtualClock } from './virtual-clock.ts';

const scratch: string[] = [];
const opened: SystemDisk[] = [];

afterAll(async () => {
  for (const disk of opened) await disk.close();
  for (const folder of scratch) await rm(folder, { recursive: true });
});

diskContract('system', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-disk-'));
  scratch.push(folder);
  const disk = await SystemDisk.open(join(folder, 'made', 'here'));
  opened.push(disk);
  return disk;
});
diskContract('memory', async () => new MemoryDisk());

clockContract('system', () => ({
  clock: new SystemClock(),
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}));
clockContract('virtual', () => {
  const clock = new VirtualClock();
  return { clock, pass: (ms) => clock.advance(ms) };
});

randomContract('system', () => new SystemRandom());
randomContract('seeded', () => new SeededRandom(7));
