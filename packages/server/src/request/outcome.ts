/** What the result of a write means for the client that asked for it. */
import { CarillonError, type TimerRecord, type Version } from '@carillon/core';
import type { Copies } from './service.ts';
import type { WriteResult } from '../replication/write.ts';

export interface Written {
  readonly record: TimerRecord;
  readonly copies: Copies;
}

/** Throws CarillonError. */
export function confirmed(result: Exclude<WriteResult, { type: 'have' }>): Written {
  if (result.type === 'confirmed') {
    return { record: result.record, copies: { have: result.have, wanted: result.wanted } };
  }
  if (result.type === 'none') throw noCopies(result.version);
  if (result.why === 'namespace') {
    throw new CarillonError('not_found', 'No timer has this id.');
  }
  throw new CarillonError(
    'disk_full',
    'No replica of this timer has room on its disk; nothing was stored.',
  );
}

/** Somebody has this number already, in this namespace or in another. */
export function isTaken(
  result: WriteResult,
): result is Extract<WriteResult, { type: 'have' } | { why: 'namespace' }> {
  return result.type === 'have' || (result.type === 'refused' && result.why === 'namespace');
}

/** `version`: of the change that was tried last, or of one above it. */
export function noCopies({ versionMs, versionTie }: Version): CarillonError {
  return new CarillonError(
    'no_copies',
    'No replica of this timer confirmed it in time; it may or may not have been stored. Try again.',
    { version: { versionMs, versionTie } },
  );
}
