/**
 * Dead letters: pops that were given up, kept to be read and sent again. A dead letter is a record like any other, with
 * a number of its own that follows from the pop: two replicas that give up the same pop make the same dead letter, and
 * journal, replication and resync need to know nothing about it.
 */
import {
  type Definition,
  encodeDefinition,
  type Origin,
  State,
  type TimerRecord,
  versionAfter,
} from '@carillon/core';
import { hashNumber } from '@carillon/placement';
import { dueWallMs } from '../../timer/due-wall.ts';
import type { Instant } from '../../timer/schedule.ts';
import type { PopContext } from '../../callback/request.ts';

/**
 * No promise makes a pop that is sent again hurry: the other replicas wait long enough to hear of the first one's
 * claim.
 */
const resentGapMs = 10_000;

/** The pop that a dead letter stands for. A dead letter that was sent again keeps its own. */
export function originOf(
  { record, definition, missed, id }: Pick<PopContext, 'record' | 'definition' | 'missed' | 'id'>,
  reason: string,
  at: Instant,
): Origin {
  const { origin, timing } = definition;
  return {
    id: origin?.id ?? id,
    versionMs: origin?.versionMs ?? record.versionMs,
    versionTie: origin?.versionTie ?? record.versionTie,
    sequence: origin?.sequence ?? record.sequence + missed + 1,
    dueMs: origin?.dueMs ?? dueWallMs(record, timing, at),
    missed: origin?.missed ?? missed,
    attempts: (origin?.attempts ?? 0) + record.attempt,
    reason,
    gaveUpMs: at.wallMs,
  };
}

/** The dead letter for the present pop of `record`; its replicas are filled in when it is placed. */
export function deadLetter(
  record: TimerRecord,
  definition: Definition,
  origin: Origin,
  nowMs: number,
): TimerRecord {
  const { hi, lo } = deadLetterNumber(record, origin.sequence);
  return {
    ...record,
    hi,
    lo,
    state: State.dead,
    sequence: 0,
    attempt: 0,
    dueMs: nowMs,
    retryMs: nowMs,
    triedMs: nowMs,
    replicas: [],
    body: encodeDefinition({ ...definition, idempotent: false, origin }),
  };
}

/**
 * The letter as a pop that is due now. Its version follows from the letter's: two requests to send the same letter make
 * one pop, whichever members they reach, and a request that comes late finds that it was sent or discarded.
 */
export function resent(letter: TimerRecord, nowMs: number): TimerRecord {
  return {
    ...letter,
    ...versionAfter(letter),
    state: State.live,
    startMs: nowMs,
    dueMs: nowMs,
    retryMs: nowMs,
    triedMs: nowMs,
    gapMs: resentGapMs,
  };
}

/** The number of the dead letter that the pop `sequence` of the record becomes. */
export function deadLetterNumber(
  record: TimerRecord,
  sequence: number,
): { hi: number; lo: number } {
  const versionHi = Math.floor(record.versionMs / 2 ** 32);
  const half = (seed: number): number => {
    const version = hashNumber(
      versionHi ^ record.versionTie,
      (record.versionMs % 2 ** 32) >>> 0,
      seed,
    );
    return hashNumber(record.hi, record.lo, hashNumber(sequence, version, seed));
  };
  return { hi: half(1), lo: half(2) };
}
