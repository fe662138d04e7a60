/** A pop at this member, and pure questions about it. Its course is in `popper.ts`, its phases in `pop-phase.ts`. */
import {
  type Cancel,
  compareVersions,
  type Definition,
  type Progress,
  State,
  type TimerRecord,
} from '@carillon/core';
import type { Message } from '../replication/wire/message.ts';
import type { PopSpan } from '../telemetry/pop-tracer.ts';
import type { PopAddressee } from './sending/batches.ts';
import { isOut, type PopPhase } from './pop-phase.ts';

/** A record that may pop now. */
export interface DuePop {
  readonly handle: number;
  readonly record: TimerRecord;
  readonly definition: Definition;
  readonly to: PopAddressee;
}

/** The claim of a pop at the other replicas. */
export interface PopClaim {
  /** The position of this member among the replicas: 0 goes first. */
  readonly position: number;
  /** Which of several members that want the pop gets it: the lowest (C2). */
  readonly rank: number;
  readonly others: readonly string[];
  /** The same in all its claims, and in no other's (C4). */
  readonly serial: number;
}

export interface Pop extends DuePop, PopClaim {
  phase: PopPhase;
  /** End of the claim at the others. */
  untilMs: number;
  /** When the other replicas were first asked; null: not yet. */
  askedMs: number | null;
  /** How often they were asked. */
  rounds: number;
  /** Whether one of them holds back. */
  granted: boolean;
  /** Members that hold back from the pop, and so have its record, though its list does not name them. */
  unlisted: readonly string[];
  /** The record has not been written since it was read. */
  unchanged: boolean;
  missed: number;
  startMs: number;
  /** Whether the pop had to wait for its receiver. */
  delayed: boolean;
  /** The spans of the attempt under way; null: it is not recorded. */
  span: PopSpan | null;
  stopRenewing: Cancel;
}

const none: readonly string[] = [];

/** A pop of a record that has just fallen due: the other replicas are to be asked. */
export function newPop(due: DuePop, claim: PopClaim): Pop {
  const { handle, record, definition, to } = due;
  const { position, rank, others, serial } = claim;
  return {
    handle,
    record,
    definition,
    to,
    position,
    rank,
    others,
    serial,
    phase: 'claiming',
    untilMs: 0,
    askedMs: null,
    rounds: 0,
    granted: false,
    unlisted: none,
    unchanged: true,
    missed: 0,
    startMs: 0,
    delayed: false,
    span: null,
    stopRenewing: ignore,
  };
}

/** The member holds back from the pop, and so has its record: it hears of the outcome, listed or not. */
export function holdsBack(pop: Pop, name: string): void {
  if (pop.record.replicas.includes(name) || pop.unlisted.includes(name)) return;
  pop.unlisted = [...pop.unlisted, name];
}

function ignore(): void {}

/** The claim of a pop, for the other replicas; with no term: the pop is not made here after all (C4). */
export function claimMessage(pop: Pop, termMs: number): Message {
  const { record: standing, rank: position, phase, serial } = pop;
  const calling = isOut(phase);
  return { type: 'claim', standing, termMs, position, calling, serial, dueMs: standing.retryMs };
}

/**
 * Whether the outcome of the pop is still news for the record: not after a replace, nor once another member delivered
 * it. A call that stands for several pops is news while one of them is not delivered.
 */
export function concerns(pop: Pop, now: Progress | null): boolean {
  const { record } = pop;
  if (now === null || now.state !== State.live || compareVersions(now, record) !== 0) return false;
  return now.sequence >= record.sequence && missedFrom(pop, now) >= 0;
}

/** How many pops before its own a call stands for that the record still waits for; below 0: not even its own. */
export function missedFrom({ phase, record, missed }: Pop, now: Progress): number {
  return (isOut(phase) ? missed : 0) + record.sequence - now.sequence;
}
