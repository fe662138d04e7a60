/**
 * A disk whose reserve is small. A member sets room aside on its disk at every start; in memory, with thousands of
 * starts, that room would cost more than everything else. The member sees it in full, the disk has a part of it.
 */
import type { Disk, DiskFile } from '@carillon/core';

const shrinkFactor = 1024;

export function thriftyDisk(disk: Disk): Disk {
  return {
    room: () => disk.room(),
    list: async () =>
      (await disk.list()).map(({ name, size }) => ({
        name,
        size: isReserve(name) ? size * shrinkFactor : size,
      })),
    create: async (name, aheadBytes) => {
      const file = await disk.create(name, aheadBytes);
      return isReserve(name) ? thriftyFile(file) : file;
    },
    read: (name, offset, length) => disk.read(name, offset, length),
    rename: (from, to) => disk.rename(from, to),
    remove: (name) => disk.remove(name),
    truncate: (name, size) => disk.truncate(name, size),
  };
}

function isReserve(name: string): boolean {
  return name.startsWith('reserve');
}

function thriftyFile(file: DiskFile): DiskFile {
  return {
    name: file.name,
    get size() {
      return file.size * shrinkFactor;
    },
    append: (bytes) => file.append(bytes.subarray(0, Math.ceil(bytes.length / shrinkFactor))),
    sync: () => file.sync(),
    close: () => file.close(),
  };
}
