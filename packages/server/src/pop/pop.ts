/** A pop under way at this member, and what can be said of one without doing anything. Its course is in popper.ts. */
import {
  type Cancel,
  compareVersions,
  type Definition,
  State,
  type TimerRecord,
} from '@carillon/core';
import type { Message } from '../replication/wire.ts';
import type { PopAddressee } from './batches.ts';
import { isOut, type PopPhase } from './pop-phase.ts';

export interface Pop {
  readonly handle: number;
  readonly record: TimerRecord;
  readonly definition: Definition;
  readonly to: PopAddressee;
  /** Whose turn it is: 0 goes first. */
  readonly position: number;
  readonly others: readonly string[];
  /** Of its claims. */
  readonly serial: number;
  phase: PopPhase;
  /** End of the claim at the others. */
  untilMs: number;
  /** Nobody has written the record since it was read. */
  unchanged: boolean;
  missed: number;
  startMs: number;
  stopRenewing: Cancel;
}

/** What the other replicas are told of it; with no term, that it will not be made here after all (C4). */
export function claimMessage(pop: Pop, termMs: number): Message {
  const { record: entry, position, phase, serial } = pop;
  return { type: 'claim', entry, termMs, position, calling: isOut(phase), serial };
}

/**
 * Whether what comes of the pop is still news for the record: not after a replace, nor once somebody else delivered it. A call that
 * stands for several pops is news while one of them is not delivered.
 */
export function concerns(pop: Pop, now: TimerRecord | null): boolean {
  const { record } = pop;
  if (now === null || now.state !== State.live || compareVersions(now, record) !== 0) return false;
  return now.sequence >= record.sequence && missedFrom(pop, now) >= 0;
}

/** How many pops before its own a call stands for that the record still waits for; below 0: not even its own. */
export function missedFrom({ phase, record, missed }: Pop, now: TimerRecord): number {
  return (isOut(phase) ? missed : 0) + record.sequence - now.sequence;
}
