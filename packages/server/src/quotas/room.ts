/**
 * Whether a namespace has room for more at this member. Over its quota a namespace is refused, and no other is.
 *
 *  1. A letter box is full with as many letters as its namespace may have, or when the member has as many as it may in
 *     all and the namespace has more than its equal part of them. A full box takes no more letters: pops that would
 *     become one stay due.
 *  2. Ended timers are remembered for a while, and take room as well. When the member has as many records as it may in
 *     all, namespaces with more than their equal part of them are refused. Together the others have fewer than that
 *     limit, so records end below twice the limit.
 *  3. While the box is full, recurring timers are refused: they would only make more letters, for which there is no
 *     room.
 */
import { CarillonError, type Timing } from '@carillon/core';
import type { Limits } from '../config/config.ts';
import type { QuotaTable } from './quota-table.ts';
import type { Usage } from './usage.ts';

export interface RoomParts {
  readonly quotas: QuotaTable;
  readonly usage: Usage;
  readonly limits: Pick<Limits, 'deadLetterCountMax' | 'pendingTimerCountMax'>;
}

/** Why a namespace cannot set this timer now; null when it can. */
export function refuseMore(
  parts: RoomParts,
  namespace: string,
  timing: Timing,
): CarillonError | null {
  const quota = parts.quotas.of(namespace);
  const { live, bytes, dead } = parts.usage.of(namespace);
  if (live >= quota.timerCountMax) {
    return over(
      `The namespace "${namespace}" has ${live} timers at this member, as many as it may.`,
    );
  }
  if (bytes >= quota.bytesMax) {
    return over(
      `Timers of the namespace "${namespace}" take ${bytes} bytes at this member, as many as they may.`,
    );
  }
  const overPart = refuseRecord(parts, namespace);
  if (overPart !== null) return overPart;
  if (recurs(timing) && isBoxFull(parts, namespace)) {
    const what = `The namespace "${namespace}" has ${dead} dead letters at this member, as many as it may`;
    return over(`${what}: no recurring timer is taken until some are re-sent or discarded.`);
  }
  return null;
}

export function isBoxFull({ quotas, usage, limits }: RoomParts, namespace: string): boolean {
  const { dead, bytes } = usage.of(namespace);
  const { letterCountMax, bytesMax } = quotas.of(namespace);
  if (dead >= letterCountMax || bytes >= bytesMax) return true;
  if (usage.letters < limits.deadLetterCountMax) return false;
  return dead * usage.boxes >= limits.deadLetterCountMax;
}

/** Why a namespace can have no further record now, not even of a timer that ends with it; null when it can. */
export function refuseRecord(
  { usage, limits }: RoomParts,
  namespace: string,
): CarillonError | null {
  const max = limits.pendingTimerCountMax;
  if (usage.records < max) return null;
  const { records } = usage.of(namespace);
  if (records * Math.max(usage.namespaces, 1) < max) return null;
  const all = `This member holds ${usage.records} records, as many as it may`;
  return over(
    `${all}, and ${records} of them are of the namespace "${namespace}", ended timers that are still remembered included.`,
  );
}

/** Namespaces that are looked at in one turn of the event loop. */
const boxesEachTurn = 10_000;

/**
 * Counts the namespaces whose letter box is full. With many namespaces a count takes several questions, and is as old
 * as they are.
 */
export class FullBoxes {
  private readonly parts: RoomParts;
  private names: Iterator<string> | null = null;
  private found = 0;
  private newest = 0;

  constructor(parts: RoomParts) {
    this.parts = parts;
  }

  /** Of the newest count that is complete. */
  count(): number {
    this.names ??= this.parts.usage.names();
    for (let i = 0; i < boxesEachTurn; i++) {
      const { done, value } = this.names.next();
      if (done === true) return this.finish();
      if (isBoxFull(this.parts, value)) this.found++;
    }
    return this.newest;
  }

  private finish(): number {
    this.newest = this.found;
    this.found = 0;
    this.names = null;
    return this.newest;
  }
}

function recurs(timing: Timing): boolean {
  if (timing.kind === 'at') return false;
  const { count, forever, repeatForMs, untilMs } = timing.ending;
  return forever || repeatForMs !== null || untilMs !== null || (count ?? 1) > 1;
}

function over(says: string): CarillonError {
  return new CarillonError('too_many', says);
}
