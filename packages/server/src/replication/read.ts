/**
 * Reading one timer, here and at the other members: asks all that may hold it and takes the newest answer. Lists are in
 * `lists/`.
 */
import { type Clock, compareProgress, type TimerRecord } from '@carillon/core';
import type { Peers } from './peers.ts';
import type { Replica } from './replica.ts';
import type { Numbered } from './wire/parts.ts';

export interface ReadParts {
  readonly self: string;
  readonly clock: Clock;
  readonly replica: Replica;
  readonly peers: Peers | null;
}

/**
 * Calls `done` with the newest copy that any of `names` holds; at once where no other member has to be asked.
 * `isUnsettled`: one of them does not have the record, and says that records are on their way.
 */
export function readNewest(
  parts: ReadParts,
  number: Numbered,
  names: readonly string[],
  done: (newest: TimerRecord | null, isUnsettled: boolean) => void,
): void {
  const { self, replica, peers } = parts;
  let newest = replica.get(number.hi, number.lo) ?? null;
  const others = peers === null ? [] : names.filter((name) => name !== self);
  if (peers === null || others.length === 0) return done(newest, false);
  const waiting = new Set(others);
  let isOver = false;
  let isUnsettled = false;
  const settle = (name: string): void => {
    waiting.delete(name);
    if (isOver || ![...waiting].every((left) => peers.silent(left))) return;
    isOver = true;
    done(newest, isUnsettled);
  };
  for (const name of others) {
    peers.send(name, { type: 'read', hi: number.hi, lo: number.lo }, (answer) => {
      const record = answer?.type === 'record' ? answer.record : null;
      if (record !== null && (newest === null || isBetter(record, newest))) newest = record;
      isUnsettled ||= answer?.type === 'unknown';
      settle(name);
    });
  }
}

/** Of two copies in the same state, one may lack the digest of its request: its holder never had the timer alive. */
function isBetter(record: TimerRecord, than: TimerRecord): boolean {
  const order = compareProgress(record, than);
  return order > 0 || (order === 0 && record.body.length > than.body.length);
}
