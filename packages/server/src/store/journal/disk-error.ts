/** Errors of the disk as the journal tells them apart: `full` and `no-descriptor` may pass, `failed` never does. */
import { DiskError, sentenceOf } from '@carillon/core';

/** Anything that is not a DiskError is taken for a failure of the disk. */
export function asDiskError(cause: unknown): DiskError {
  if (cause instanceof DiskError) return cause;
  return new DiskError('failed', sentenceOf(cause), { cause });
}
