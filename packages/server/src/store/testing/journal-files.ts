/** For tests of recovery: a small journal whose every byte is known, and disks on which one file is another. */
import { MemoryDisk } from '@carillon/core/testing';
import { checksum } from '../journal/files/checksum.ts';
import { encodeHeader } from '../journal/files/segment.ts';
import { identity, recordOf, type World } from './journal-world.ts';

export const first = 'journal-0000000001.log';
export const second = 'journal-0000000002.log';

/** A disk whose file `name` holds these bytes and nothing else changed. */
export async function withFile(
  disk: MemoryDisk,
  name: string,
  bytes: Uint8Array,
): Promise<MemoryDisk> {
  const copy = new MemoryDisk();
  for (const file of await disk.list()) {
    const content = file.name === name ? bytes : await disk.read(file.name, 0, file.size);
    const written = await copy.create(file.name);
    await written.append(content);
    await written.sync();
  }
  return copy;
}

export async function bytesOf(disk: MemoryDisk, name: string): Promise<Uint8Array> {
  return disk.read(name, 0, 10_000_000);
}

/** As a release with another form would have written the header. */
export function setForm(bytes: Uint8Array, form: number): void {
  const { length } = encodeHeader({ form, kind: 'journal', number: 1, salt: 0, identity });
  bytes[8] = form;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setUint32(length - 4, checksum(bytes, 0, length - 4, 0), true);
}

/** Three groups of changes, each confirmed; with the records, and the length of the journal, after each. */
export async function threeGroups(world: World, end: 'closed' | 'killed' = 'closed') {
  const journal = await world.open();
  const after: { size: number; sequences: Record<number, number> }[] = [];
  const size = async (): Promise<number> => (await bytesOf(world.disk, first)).length;
  after.push({ size: await size(), sequences: {} });
  const steps: (() => void)[][] = [
    [() => journal.put(recordOf(1, 0)), () => journal.put(recordOf(2, 0, 300))],
    [
      () => journal.put(recordOf(1, 1)),
      () => journal.drop(7, 2),
      () => journal.put(recordOf(3, 0)),
    ],
    [() => journal.mark(9), () => journal.put(recordOf(2, 5)), () => journal.put(recordOf(3, 1))],
  ];
  const states = [
    { 1: 0, 2: 0 },
    { 1: 1, 3: 0 },
    { 1: 1, 2: 5, 3: 1 },
  ];
  for (const [place, group] of steps.entries()) {
    for (const step of group) step();
    const error = await world.commit(journal);
    if (error !== null) throw error;
    after.push({ size: await size(), sequences: states[place] as Record<number, number> });
  }
  if (end === 'closed') await world.until(journal.close());
  return after;
}
