/** The result of a write, as the request that asked for it sees it. */
import { CarillonError, type Progress, type TimerRecord, type Version } from '@carillon/core';
import type { Copies } from './service.ts';
import type { WriteResult } from '../replication/write.ts';

export interface Written {
  readonly record: TimerRecord;
  readonly copies: Copies;
}

export type Outcome =
  | (Written & { readonly type: 'written' })
  /** A replica holds something at least as new of the same timer. */
  | { readonly type: 'beaten'; readonly by: Progress }
  /** Nothing counts as stored. `isForeign`: the number belongs to a timer of another namespace. */
  | { readonly type: 'refused'; readonly isForeign: boolean; readonly error: CarillonError };

export function outcomeOf(result: WriteResult): Outcome {
  switch (result.type) {
    case 'confirmed': {
      const { record, have, wanted } = result;
      return { type: 'written', record, copies: { have, wanted } };
    }
    case 'have':
      return { type: 'beaten', by: result.progress };
    case 'none':
      return { type: 'refused', isForeign: false, error: noCopies(result.version) };
    case 'refused': {
      const isForeign = result.why === 'namespace';
      return { type: 'refused', isForeign, error: isForeign ? notFound() : noRoom() };
    }
  }
}

/** The record and its copies. Throws CarillonError where there are none. */
export function written(outcome: Exclude<Outcome, { type: 'beaten' }>): Written {
  if (outcome.type === 'refused') throw outcome.error;
  return outcome;
}

/** Whether a timer has this number already, in this namespace or in another. */
export function isTaken(
  outcome: Outcome,
): outcome is Extract<Outcome, { type: 'beaten' } | { type: 'refused' }> {
  return outcome.type === 'beaten' || (outcome.type === 'refused' && outcome.isForeign);
}

/** `version`: of the change that was tried last, or of one above it. */
export function noCopies({ versionMs, versionTie }: Version): CarillonError {
  return new CarillonError(
    'no_copies',
    'No replica of this timer confirmed it in time; it may or may not have been stored. Try again.',
    { version: { versionMs, versionTie } },
  );
}

function notFound(): CarillonError {
  return new CarillonError('not_found', 'No timer has this id.');
}

export function noRoom(): CarillonError {
  return new CarillonError(
    'disk_full',
    'No replica of this timer has room on its disk; nothing was stored.',
  );
}
