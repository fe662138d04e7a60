/**
 * The members that hold a record, or should. Says where a record belongs, which members to ask before its pop, and
 * whether the pop must wait because of a holder that was not heard yet.
 */
import type { TimerRecord } from '@carillon/core';
import type { Replica } from '../replication/replica.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Membership } from './membership.ts';
import type { Repair } from './repair.ts';
import { desiredReplicas, otherHolders } from './view/desired.ts';
import type { Rejoining } from './view/rejoining.ts';

const none: readonly string[] = [];

export interface HoldersParts {
  readonly self: string;
  /** Whether this member has no way to others. */
  readonly isAlone: boolean;
  readonly membership: Pick<Membership, 'view'>;
  readonly state: Pick<ClusterState, 'isViewShared' | 'viewsDiffer'>;
  readonly rejoining: Rejoining;
  /** null: not started yet. */
  readonly replica: () => Replica | null;
  /** null: alone, or not started yet. */
  readonly repair: () => Repair | null;
}

export class Holders {
  private readonly parts: HoldersParts;

  constructor(parts: HoldersParts) {
    this.parts = parts;
  }

  /** The members that should hold a record now. */
  desired(record: TimerRecord): readonly string[] {
    const { membership, repair } = this.parts;
    const isAbsent = (name: string): boolean => repair()?.presence.absent(name) ?? false;
    return desiredReplicas(membership.view, record, record.factor, isAbsent);
  }

  /**
   * The other members that hold a record or should: asked before a pop, told after it. `widely`: also all others that
   * may have come to hold it while this member and the other replicas were away, or went by another view.
   */
  othersOf(record: TimerRecord, widely = false): readonly string[] {
    const { self, isAlone, membership } = this.parts;
    return isAlone ? none : otherHolders(membership.view, record, self, widely);
  }

  /** The members to ask before a pop; `widely`: all that may hold the record. */
  askedOf(record: TimerRecord, widely: boolean): readonly string[] {
    const { isAlone, state } = this.parts;
    if (isAlone) return none;
    const strange = state.viewsDiffer || this.givesAway(record) || this.isOfAnotherView(record);
    return this.othersOf(record, widely || strange);
  }

  /**
   * Whether this member's view wants a replica that the list does not name. A client's cancel goes by that view too:
   * where the replica is gone, the cancel is with a stand-in that this member does not know of.
   */
  private isOfAnotherView({ hi, lo, factor, replicas }: TimerRecord): boolean {
    const { view } = this.parts.membership;
    return view.place(hi, lo, factor).some((name) => !replicas.includes(name));
  }

  /**
   * Whether this member holds the record for members that do not all have it yet. When one of these goes down again,
   * the record may also be with its stand-in, which does not know of this member, and which the list no longer names.
   */
  private givesAway({ replicas }: TimerRecord): boolean {
    return !replicas.includes(this.parts.self);
  }

  /**
   * Whether a due pop must wait because its record may have changed or ended meanwhile. `slept`: it fell due before
   * this member was there; `stale`: or so soon after that others may not have told their news yet.
   */
  popWaits(handle: number, slept: boolean, stale: boolean): boolean {
    const { membership, rejoining, replica } = this.parts;
    const repair = this.parts.repair();
    // A pop that fell due before the start has probably been made: wait until another member can say so.
    if (slept && repair?.presence.acquainted === false) return true;
    if (slept && this.mayLackMembers()) return true;
    const listed = stale ? (replica()?.store.replicasOf(handle) ?? none) : none;
    if (rejoining.awaits(membership.view, listed)) return true;
    return repair?.doubts(handle) ?? false;
  }

  /**
   * Whether a member that this one does not know of may have stood in for it, and taken a change: etcd may show fewer
   * members than there are, and the others have not told that they go by the same view.
   */
  private mayLackMembers(): boolean {
    const { membership, rejoining, state, isAlone } = this.parts;
    return !isAlone && rejoining.isUnsettled(membership.view) && !state.isViewShared;
  }
}
