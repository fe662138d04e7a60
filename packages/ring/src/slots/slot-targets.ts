/**
 * Which member each slot should belong to: placement over the view, now and as it will be when the members on their way
 * out are gone. Decides nothing about the slots themselves; `slots.ts` compares and acts.
 *
 * Example: 4 slots, members a and b in this process, c in another one. Placement names a b c a. When a leaves, it stays
 * in the view until its lease is revoked, so placement goes on naming it; without a it would name b b c c. Slot 0 is
 * therefore handed over to b at once, with its locks held, instead of being released, seen as free and claimed again.
 * Slot 3 is given up: c claims it, or is handed it as soon as the view says that a leaves.
 */
import type { LocalMember } from '../local-member.ts';
import { memberKey, type MemberView, takesSlots } from '../member.ts';
import type { Membership } from '../membership.ts';
import type { RingPlacement } from '../placements.ts';
import type { NextOwner } from './slot.ts';
import { assignWithWishes, isWishing } from '../wishes.ts';

/** A member on its way out, until the view no longer shows it. */
export interface Departure {
  readonly incarnation: number;
  /** Its idle slots are released one by one, because some of its locks need time. */
  isReleasing: boolean;
  isOver: boolean;
}

export interface SlotTargetsOptions {
  readonly membership: Membership;
  readonly placement: RingPlacement;
  readonly count: number;
}

export class SlotTargets {
  private readonly options: SlotTargetsOptions;
  /** The member that placement names for each slot; null: there is none. */
  private now: readonly (string | null)[];
  /** The same without the members on their way out; out of date while no member is. */
  private later: readonly (string | null)[] = [];
  private readonly departures = new Map<LocalMember, Departure>();

  constructor(options: SlotTargetsOptions) {
    this.options = options;
    this.now = this.assign(options.membership.view);
  }

  /** The id of the member that placement names for the slot in the view of this moment. */
  nameOf(index: number): string | null {
    return this.now[index] ?? null;
  }

  /** The local member that should have the slot, also when it cannot be trusted yet or any more; null: none. */
  localOf(index: number): LocalMember | null {
    const targets = this.departures.size > 0 ? this.later : this.now;
    const local = this.options.membership.local.get(targets[index] ?? '');
    return local === undefined || this.departures.has(local) ? null : local;
  }

  /** The local member that should have the slot and can be trusted at this moment; null: none. */
  trustedOf(index: number): LocalMember | null {
    const local = this.localOf(index);
    return local !== null && local.remainingMs() > 0 ? local : null;
  }

  /** Whether the slot goes to a member that joined for this slot alone (`wishes.ts`). */
  goesToWish(index: number): boolean {
    const { members } = this.options.membership.view;
    const target = members.find(({ id }) => id === this.now[index]);
    return target !== undefined && isWishing(target);
  }

  /**
   * The member of another process that should have the slot by the view that all processes see. Null: there is none,
   * the slot stays in this process, only this process knows so far that its member leaves, or the other one claims its
   * slots itself. The next owner sees the same view before it sees the slot, because its watch tells changes in order;
   * so it does not give the slot back.
   */
  nextOwnerOf(index: number): NextOwner | null {
    const id = this.now[index] ?? null;
    const { view, local, mirror } = this.options.membership;
    if (id === null || local.has(id)) return null;
    const key = memberKey(mirror.prefix, id);
    const entry = mirror.entries.get(key);
    const incarnation = view.members.find((member) => member.id === id)?.incarnation;
    if (entry === undefined || entry.createRevision !== incarnation) return null;
    if (!takesSlots(entry)) return null;
    return { id, key, incarnation, leaseId: entry.lease };
  }

  departureOf(member: LocalMember): Departure | undefined {
    return this.departures.get(member);
  }

  /** From now on the member gets no slot, although the view shows it. */
  startDeparture(member: LocalMember): Departure {
    const departure = { incarnation: member.incarnation, isReleasing: false, isOver: false };
    this.departures.set(member, departure);
    return departure;
  }

  /** Asks placement about the view. A departure ends when it is over and the view shows its incarnation no more. */
  update(view: MemberView): void {
    this.now = this.assign(view);
    for (const [member, { isOver, incarnation }] of this.departures) {
      if (isOver && !view.members.some((one) => one.incarnation === incarnation)) {
        this.departures.delete(member);
      }
    }
    if (this.departures.size === 0) return;
    const leaving = new Set([...this.departures.values()].map(({ incarnation }) => incarnation));
    const members = view.members.filter(({ incarnation }) => !leaving.has(incarnation));
    this.later = this.assign({ ...view, members });
  }

  /** Only active members get slots: one that is `leaving` has told the ring so. */
  private assign(view: MemberView): readonly (string | null)[] {
    const active = view.members.filter((member) => member.phase === 'active');
    return assignWithWishes(this.options.placement, active, this.options.count);
  }
}
