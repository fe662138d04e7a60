/** Timer ids as requests name them. */
import {
  CarillonError,
  factorMax,
  parseLooseTimerId,
  parseTimerId,
  type TimerId,
  timerIdFault,
} from '@carillon/core';
import type { TimerService } from '../request/service.ts';

/** The id in a request that may leave the factor out. */
export type LooseId = Omit<TimerId, 'factor'> & { readonly factor: number | null };

/** The factor of ids that do not say it, as in Chronos. */
export const factorUnsaid = 2;

export function hasFactor(id: LooseId): id is TimerId {
  return id.factor !== null;
}

/** Wherever a timer of any factor would be. */
export function anywhere(id: LooseId): TimerId {
  return { ...id, factor: id.factor ?? factorMax };
}

/** Like `timerIdOf`; the factor may be left out. */
export function looseIdOf(part: string): LooseId {
  const id = parseLooseTimerId(part);
  if (id === null) throw notAnId(part);
  return id;
}

/** Throws CarillonError: a malformed id is the id of nothing. */
function timerIdOf(part: string): TimerId {
  const id = parseTimerId(part);
  if (id === null) throw notAnId(part);
  return id;
}

/** The whole id of a timer whose factor is not known; null when there is none. */
export async function findId(
  service: Pick<TimerService, 'get'>,
  id: LooseId,
  namespace: string,
): Promise<TimerId | null> {
  const timer = await service.get(namespace, anywhere(id));
  return timer === null ? null : timerIdOf(timer.id);
}

function notAnId(part: string): CarillonError {
  return new CarillonError('not_found', timerIdFault(part) ?? 'The factor is missing in this id.');
}
