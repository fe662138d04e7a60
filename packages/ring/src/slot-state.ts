/**
 * The life of one slot in one process, as a complete table. Pure; `slots.ts` drives it.
 *
 *   foreign ──want──► claiming ──mine──► owned ──unwant──► draining ──idle──► releasing ──gone──► foreign
 *                                          ▲                   │
 *                                          └───────want────────┘         any ──member-lost──► lost ──gone──► foreign
 *
 * Locks are granted in `owned` only. In `draining` the holders finish. From `releasing` on no lock of the slot is
 * held, and the record may be deleted; never before.
 */

export type SlotState = 'foreign' | 'claiming' | 'owned' | 'draining' | 'releasing' | 'lost';

export type SlotHappening =
  /** Placement gives the slot to a local member that can be trusted, and the slot has no owner. */
  | 'want'
  /** Placement gives the slot to another process, or the member is leaving. */
  | 'unwant'
  /** The record in etcd is this process's: seen by the watch, or answered. */
  | 'mine'
  /** The record belongs to another process, or to a former incarnation of a local member. */
  | 'theirs'
  /** The slot has no record in etcd. */
  | 'gone'
  /** The claim is known not to have happened. */
  | 'refused'
  /** The last holder has gone. */
  | 'idle'
  /** The member's lease cannot be trusted any more. */
  | 'member-lost';

/** The action that a change of state requires. */
export type SlotEffect = 'none' | 'claim' | 'gain' | 'revoke' | 'release' | 'released' | 'abort';

export const slotTransitions: Record<SlotState, Record<SlotHappening, SlotState>> = {
  foreign: {
    want: 'claiming',
    unwant: 'foreign',
    // A claim that was given up for lost arrived after all: own it, so that it is released in order.
    mine: 'owned',
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
    mine: 'owned',
    theirs: 'claiming',
    gone: 'claiming',
    refused: 'foreign',
    idle: 'claiming',
    'member-lost': 'lost',
  },
  owned: {
    want: 'owned',
    unwant: 'draining',
    mine: 'owned',
    theirs: 'lost',
    gone: 'lost',
    refused: 'owned',
    idle: 'owned',
    'member-lost': 'lost',
  },
  draining: {
    want: 'owned',
    unwant: 'draining',
    mine: 'draining',
    theirs: 'lost',
    gone: 'lost',
    refused: 'draining',
    idle: 'releasing',
    'member-lost': 'lost',
  },
  releasing: {
    // The release may already have happened: it must be known before the slot can be claimed again.
    want: 'releasing',
    unwant: 'releasing',
    mine: 'releasing',
    theirs: 'foreign',
    gone: 'foreign',
    refused: 'releasing',
    idle: 'releasing',
    'member-lost': 'lost',
  },
  lost: {
    want: 'lost',
    unwant: 'lost',
    mine: 'owned',
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
  if (to === 'releasing') return 'release';
  if (to === 'lost') return 'abort';
  return from === 'releasing' ? 'released' : 'none';
}
