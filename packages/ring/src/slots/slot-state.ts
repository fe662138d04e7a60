/**
 * The life of one slot in one process, as a complete table. Pure; `slots.ts` drives it.
 *
 *   foreign ──want──► claiming ──mine──► owned ──unwant──► draining ──idle──► releasing ──gone──► foreign
 *                                          ▲                   │
 *                                          └───────want────────┘         any ──member-lost──► lost ──gone──► foreign
 *
 * A slot that placement gives to another member of the same process is handed over without being released:
 *
 *   owned or draining ──pass──► moving ──passed──► owned, under the other member
 *                                  └───refused───► owned, under the member it had
 *
 * Locks are granted in `owned` only. In `draining` the holders finish. In `moving` they go on undisturbed, trusted for
 * as long as both members are. From `releasing` on no lock of the slot is held, and the record may be deleted; never
 * before.
 *
 * Example: slot 7 in process 1, whose members are a and c. Process 2 joins with b at 20 s, and a leaves at 40 s.
 *
 *    0.00 s  placement names a, the slot has no record     want         claiming    the claim is sent to etcd
 *    0.01 s  etcd has taken the claim                      mine         owned       locks are granted
 *   20.00 s  placement names b, of another process         unwant       draining    the holder has 10 s to finish
 *   20.20 s  b is gone, placement names a again            want         owned       the holder may stay after all
 *   40.00 s  placement names c, of this process            pass         moving      held locks stay, none is granted
 *   40.01 s  etcd has written c and its lease              passed       owned       locks are granted again, under c
 *   55.00 s  the lease of c has not been renewed in time   member-lost  lost        every lock in the slot ends
 *   61.00 s  etcd has deleted the record with the lease    gone         foreign     any process may claim it
 */

export type SlotState =
  | 'foreign'
  | 'claiming'
  | 'owned'
  | 'draining'
  | 'moving'
  | 'releasing'
  | 'lost';

export type SlotHappening =
  /** Placement gives the slot to a local member that can be trusted, and the slot has no owner. */
  | 'want'
  /** Placement gives the slot to another process, or the member is leaving. */
  | 'unwant'
  /** Placement gives it to another local member that can be trusted. */
  | 'pass'
  /** The record in etcd is this process's: seen by the watch, or answered. */
  | 'mine'
  /** The record now names the local member to which the slot was handed over. */
  | 'passed'
  /** The record belongs to another process, or to a former incarnation of a local member. */
  | 'theirs'
  /** The slot has no record in etcd. */
  | 'gone'
  /** The claim, or the handing over, is known not to have happened. */
  | 'refused'
  /** The last holder has gone. */
  | 'idle'
  /** The member's lease cannot be trusted any more. */
  | 'member-lost';

/** The action that a change of state requires; `slots.ts` carries it out. */
export type SlotEffect =
  | 'none'
  /** Writes the record, on condition that the slot has none. */
  | 'claim'
  /** Tells the locks that they may be granted. */
  | 'gain'
  /** Writes another local member and its lease into the record. */
  | 'move'
  /** Asks the holders to finish, and sets their time limit. */
  | 'revoke'
  /** Deletes the record, or writes the next owner into it. */
  | 'release'
  /** Tells that another process may own the slot now. */
  | 'released'
  /** Ends every lock in the slot at once. */
  | 'abort';

export const slotTransitions: Record<SlotState, Record<SlotHappening, SlotState>> = {
  foreign: {
    want: 'claiming',
    unwant: 'foreign',
    pass: 'foreign',
    // A claim that was given up for lost arrived after all: own it, so that it is released in order.
    mine: 'owned',
    passed: 'foreign',
    theirs: 'foreign',
    gone: 'foreign',
    refused: 'foreign',
    idle: 'foreign',
    'member-lost': 'foreign',
  },
  claiming: {
    want: 'claiming',
    // A transaction under way cannot be called back: its answer decides, then placement is asked again.
    unwant: 'claiming',
    pass: 'claiming',
    mine: 'owned',
    passed: 'claiming',
    theirs: 'claiming',
    gone: 'claiming',
    refused: 'foreign',
    idle: 'claiming',
    'member-lost': 'lost',
  },
  owned: {
    want: 'owned',
    unwant: 'draining',
    pass: 'moving',
    mine: 'owned',
    passed: 'owned',
    // Another process may grant locks in the slot already, so the locks here end at once.
    theirs: 'lost',
    gone: 'lost',
    refused: 'owned',
    idle: 'owned',
    'member-lost': 'lost',
  },
  draining: {
    // Placement changed its mind before the last holder had finished: the record never left, so nothing is claimed.
    want: 'owned',
    unwant: 'draining',
    pass: 'moving',
    mine: 'draining',
    passed: 'draining',
    theirs: 'lost',
    gone: 'lost',
    refused: 'draining',
    idle: 'releasing',
    'member-lost': 'lost',
  },
  moving: {
    // A transaction under way cannot be called back: its answer decides, then placement is asked again.
    want: 'moving',
    unwant: 'moving',
    pass: 'moving',
    mine: 'moving',
    passed: 'owned',
    theirs: 'lost',
    gone: 'lost',
    refused: 'owned',
    idle: 'moving',
    'member-lost': 'lost',
  },
  releasing: {
    // The release may already have happened: it must be known before the slot can be claimed again.
    want: 'releasing',
    unwant: 'releasing',
    pass: 'releasing',
    mine: 'releasing',
    passed: 'releasing',
    theirs: 'foreign',
    gone: 'foreign',
    refused: 'releasing',
    idle: 'releasing',
    'member-lost': 'lost',
  },
  lost: {
    want: 'lost',
    unwant: 'lost',
    pass: 'lost',
    mine: 'owned',
    passed: 'lost',
    // The record is known to be another's, or gone: the slot is free to be wanted again.
    theirs: 'foreign',
    gone: 'foreign',
    // The claim that was under way when the lease was lost did not happen: there is no record to wait for.
    refused: 'foreign',
    idle: 'lost',
    'member-lost': 'lost',
  },
};

export function slotEffect(from: SlotState, to: SlotState): SlotEffect {
  if (from === to) return 'none';
  if (to === 'claiming') return 'claim';
  if (to === 'owned') return 'gain';
  if (to === 'draining') return 'revoke';
  if (to === 'moving') return 'move';
  if (to === 'releasing') return 'release';
  if (to === 'lost') return 'abort';
  return from === 'releasing' ? 'released' : 'none';
}
