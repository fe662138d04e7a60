/** A crowd of connections can take all descriptors of a process: then no file can be opened for a while. */
import { DiskError } from '@carillon/core';

/** Says nothing about the file: it can be read as soon as a descriptor is free. */
export function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof DiskError && error.kind === 'no-descriptor';
}
