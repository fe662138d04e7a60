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

/** The action that a change of state requires. */
export type SlotEffect =
  | 'none'
  | 'claim'
  | 'gain'
  | 'move'
  | 'revoke'
  | 'release'
  | 'released'
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
    theirs: 'lost',
    gone: 'lost',
    refused: 'owned',
    idle: 'owned',
    'member-lost': 'lost',
  },
  draining: {
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
    theirs: 'foreign',
    gone: 'foreign',
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
