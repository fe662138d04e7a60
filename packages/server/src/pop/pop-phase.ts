/**
 * The life of one pop at one member, as a complete table. Pure; `active-pops.ts` drives it.
 *
 *   claiming ──unopposed──► queued ──place──► calling ──outcome──► over
 *      ▲                      │                 │ │
 *      └──────place-late──────┘                 │ └──give-up──► giving-up ──outcome──► over
 *                                               └──yield, moved-on──► detached ──outcome, superseded──► over
 *
 * Example: a timer of 10 s with replicas a and b, at a. At 9.990 s the alarm rings, and the pop is `claiming`. At 9.992
 * s b has granted the claim (`unopposed`): `queued`, for its time and then for a place at its receiver. At 10.001 s
 * there is one (`place`): `calling`. At 10.050 s it answers 200 (`outcome`): the next record is written, and the pop is
 * `over`. Had the client replaced the timer at 10.030 s (`moved-on`), the pop would have been `detached`, and its
 * answer `superseded`.
 *
 * Until the request leaves, any change of its record ends a pop, and the claim is given back. From `calling` on the
 * receiver may have heard of it: only its outcome ends it.
 */
import { invariant } from '@carillon/core';

export type PopPhase =
  /** The other replicas are asked to hold back. */
  | 'claiming'
  /** The receiver is to have a place for the request. */
  | 'queued'
  /** The request has left. */
  | 'calling'
  /** The pop is given up, and its dead letter looks for replicas. */
  | 'giving-up'
  /** The request has left, or the letter is on its way, and the record has gone to another pop meanwhile. */
  | 'detached'
  /** Nothing is left to do. */
  | 'over';

export type PopEvent =
  /** All replicas that were waited for have answered, or the wait is over. */
  | 'unopposed'
  /** The wait for answers is over, but this member stood still meanwhile: the others had no time. */
  | 'stalled'
  /** Another replica says that the pop is claimed. */
  | 'taken'
  /** Another replica knows a newer record. */
  | 'ahead'
  /** The receiver has a place. */
  | 'place'
  /** The receiver has a place, but the claim has run out. */
  | 'place-late'
  /** The request did not leave the member. */
  | 'unmade'
  /** Nothing is to be written: the pop is looked at again later. */
  | 'rest'
  /** The pop is to become a dead letter. */
  | 'give-up'
  /** The next record is known. */
  | 'outcome'
  /** The pop has an outcome, but its record no longer waits for one. */
  | 'superseded'
  /** The claim of another replica goes before. */
  | 'yield'
  /** The record was written, and still waits for the outcome of this call. */
  | 'written'
  /** The record was written or dropped, and does not wait for the outcome of this call. */
  | 'moved-on';

export type PopAction =
  | 'none'
  /** Ask the other replicas to hold back. */
  | 'ask'
  /** Count a pop that another replica has made. */
  | 'count-duplicate'
  /** Ask for a place at the receiver. */
  | 'queue'
  /** Let the request leave, and renew the claim from now on. */
  | 'call'
  /** Tell the other replicas that the pop is not made here. */
  | 'give-back'
  /** As `give-back`, and look at the record again later. */
  | 'postpone'
  /** Look at the record again later; the others hear nothing of it. */
  | 'look-again'
  /** Work out the next record. */
  | 'judge'
  /** Write the next record, and tell the others. */
  | 'write'
  /** Find replicas for the dead letter. */
  | 'keep-letter'
  /** Let the claim run out. */
  | 'stop-renewing';

type Step = readonly [next: PopPhase, action: PopAction];

/** A sentence: why the event cannot come in this phase. */
type Never = string;

const unasked: Never = 'A place is asked for once the other replicas have been.';
const unsent: Never = 'No request has left, and none was refused.';
const hadPlace: Never = 'A pop asks for one place at a time, and this one was given.';
const requestEnded: Never = 'A request ends once, and that of this pop has ended.';
const notHere: Never = 'Only pops under way are told of records and claims.';
const detachedBefore: Never = 'A record that moves on detaches the pop at once.';
const isOver: Never = 'A request ends once, and so does the way of its letter.';

export const popTable: Readonly<Record<PopPhase, Readonly<Record<PopEvent, Step | Never>>>> = {
  claiming: {
    unopposed: ['queued', 'queue'],
    stalled: ['claiming', 'ask'],
    taken: ['over', 'postpone'],
    // The newer record is merged right after: `written` or `moved-on` ends the pop.
    ahead: ['claiming', 'count-duplicate'],
    place: unasked,
    'place-late': unasked,
    unmade: unasked,
    rest: unsent,
    'give-up': unsent,
    outcome: unsent,
    superseded: unsent,
    yield: ['over', 'give-back'],
    written: ['over', 'give-back'],
    'moved-on': ['over', 'give-back'],
  },
  queued: {
    // Answers that come after the wait was over.
    unopposed: ['queued', 'none'],
    stalled: ['queued', 'none'],
    taken: ['queued', 'none'],
    ahead: ['queued', 'count-duplicate'],
    place: ['calling', 'call'],
    'place-late': ['claiming', 'ask'],
    unmade: ['queued', 'judge'],
    rest: ['over', 'postpone'],
    'give-up': ['giving-up', 'keep-letter'],
    // A letter that was sent again, and is given up unsent, goes back to its place.
    outcome: ['over', 'write'],
    superseded: ['over', 'give-back'],
    yield: ['over', 'give-back'],
    written: ['over', 'give-back'],
    'moved-on': ['over', 'give-back'],
  },
  calling: {
    unopposed: ['calling', 'none'],
    stalled: ['calling', 'none'],
    taken: ['calling', 'none'],
    ahead: ['calling', 'none'],
    place: hadPlace,
    'place-late': hadPlace,
    // The callbacks port had no room for it.
    unmade: ['queued', 'judge'],
    rest: 'A request that did not leave is back in the queue before the pop rests.',
    'give-up': ['giving-up', 'keep-letter'],
    outcome: ['over', 'write'],
    superseded: detachedBefore,
    // Replicas that know no more than this member go on holding back for the request that has left.
    yield: ['detached', 'none'],
    written: ['calling', 'none'],
    'moved-on': ['detached', 'stop-renewing'],
  },
  'giving-up': {
    unopposed: ['giving-up', 'none'],
    stalled: ['giving-up', 'none'],
    taken: ['giving-up', 'none'],
    ahead: ['giving-up', 'none'],
    place: hadPlace,
    'place-late': hadPlace,
    unmade: requestEnded,
    // No replica took the letter, and there was no attempt to write down.
    rest: ['over', 'look-again'],
    'give-up': requestEnded,
    outcome: ['over', 'write'],
    superseded: detachedBefore,
    yield: ['detached', 'none'],
    written: ['giving-up', 'none'],
    'moved-on': ['detached', 'stop-renewing'],
  },
  detached: {
    unopposed: ['detached', 'none'],
    stalled: ['detached', 'none'],
    taken: ['detached', 'none'],
    ahead: ['detached', 'none'],
    place: hadPlace,
    'place-late': hadPlace,
    // The pop that has the record now decides when it is tried again.
    unmade: ['over', 'none'],
    rest: ['over', 'look-again'],
    'give-up': ['detached', 'keep-letter'],
    // A claimant that knew more has not written more: the record still waits.
    outcome: ['over', 'write'],
    superseded: ['over', 'none'],
    yield: notHere,
    written: notHere,
    'moved-on': notHere,
  },
  over: {
    unopposed: ['over', 'none'],
    stalled: ['over', 'none'],
    taken: ['over', 'none'],
    ahead: ['over', 'none'],
    // The pop ended while it waited in the queue.
    place: ['over', 'none'],
    'place-late': 'Only a pop under way looks at its claim.',
    unmade: ['over', 'none'],
    rest: isOver,
    'give-up': isOver,
    outcome: isOver,
    superseded: isOver,
    yield: notHere,
    written: notHere,
    'moved-on': notHere,
  },
};

/** The same table as maps, in which a name that varies is found faster than in objects: a pop takes several steps. */
const steps = new Map(
  Object.entries(popTable).map(([phase, row]) => [phase, new Map(Object.entries(row))]),
);

export function popStep(phase: PopPhase, event: PopEvent): Step {
  const cell = steps.get(phase)?.get(event);
  invariant(typeof cell === 'object', 'a pop meets no event that its phase rules out');
  return cell;
}

/** Whether the pop is its timer's one at this member. */
export function isUnderWay(phase: PopPhase): boolean {
  return phase !== 'over' && phase !== 'detached';
}

/** Whether the receiver may have heard of the pop: its outcome belongs into the record. */
export function isOut(phase: PopPhase): boolean {
  return phase === 'calling' || phase === 'giving-up' || phase === 'detached';
}
