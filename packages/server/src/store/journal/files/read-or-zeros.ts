/**
 * Reading a file of a disk that cannot read all of it: a bad sector is an error of the whole call. Bytes that cannot be
 * read come as zeros, which no checksum takes for an entry, so that the rest of the file is not lost with it.
 */
import { type Disk, DiskError } from '@carillon/core';
import { isOutOfDescriptors } from './descriptors.ts';

/** The unit in which a disk reads or fails to read. */
const pageBytes = 4096;
/** A disk may take seconds for each page that it cannot read: after so many, the rest of the call is given up. */
const failuresMax = 32;

export interface Stretch {
  readonly offset: number;
  readonly length: number;
}

/** `into`: memory that the bytes may be read into. */
export async function readOrZeros(
  disk: Disk,
  name: string,
  wanted: Stretch,
  into?: Uint8Array,
): Promise<Uint8Array> {
  try {
    return await disk.read(name, wanted.offset, wanted.length, into);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return readPages(disk, name, wanted);
  }
}

async function readPages(disk: Disk, name: string, wanted: Stretch): Promise<Uint8Array> {
  const bytes = new Uint8Array(wanted.length);
  let failures = 0;
  for (let at = 0; at < wanted.length && failures < failuresMax; ) {
    const offset = wanted.offset + at;
    const length = Math.min(pageBytes - (offset % pageBytes), wanted.length - at);
    try {
      bytes.set(await disk.read(name, offset, length), at);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      failures++;
    }
    at += length;
  }
  return bytes;
}

function isUnreadable(error: unknown): boolean {
  return error instanceof DiskError && !isOutOfDescriptors(error);
}
