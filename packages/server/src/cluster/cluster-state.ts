/**
 * The state of the cluster, as far as this member can tell: its time, the protocols of its members, and whether records
 * may be with other members than the view says.
 */
import type { Clock } from '@carillon/core';
import { protocol } from '../replication/wire/frame.ts';
import type { Instant } from '../timer/schedule.ts';
import type { Membership } from './membership.ts';
import type { Repair } from './repair.ts';
import type { View } from './view/view.ts';

/**
 * For this long after a change of the view records may be anywhere: the other members hear of the change, and say in
 * their next hello, a second later at most, that they go by another view or move records.
 */
const settleMs = 5000;

export interface StateParts {
  readonly self: string;
  readonly clock: Clock;
  readonly membership: Membership;
  /** null: alone, or not started yet. */
  readonly repair: () => Repair | null;
}

export class ClusterState {
  private readonly parts: StateParts;
  /** Of the newest view: its id, and when its members have told how they stand to it. */
  private known = { viewId: '', settledMs: 0 };

  constructor(parts: StateParts) {
    this.parts = parts;
  }

  /** Called with the view whenever it may have changed. */
  noteView({ id: viewId }: View): void {
    if (viewId === this.known.viewId) return;
    this.known = { viewId, settledMs: this.parts.clock.now() + settleMs };
  }

  /** Both clocks; the wall clock corrected by the median of the cluster's. */
  instant(): Instant {
    const { clock, repair } = this.parts;
    const offsetMs = repair()?.presence.medianOffsetMs() ?? 0;
    return { nowMs: clock.now(), wallMs: clock.wall() + offsetMs };
  }

  /** The highest protocol that another member speaks, as last heard; 0: not heard of. */
  protocolOf(name: string): number {
    return this.parts.repair()?.presence.lastHello(name)?.protocolMax ?? 0;
  }

  /**
   * Whether every member, also one that vanished and may come back, is known to be of a release that speaks this one's
   * protocol.
   */
  get isOfOneRelease(): boolean {
    const { self, membership } = this.parts;
    const { members, vanished } = membership.view;
    const reads = ({ name }: { readonly name: string }): boolean =>
      name === self || this.protocolOf(name) >= protocol.max;
    return membership.isKnown && [...members, ...vanished].every(reads);
  }

  /** This member may be out of date then, and others may have changed records that it holds without having told it. */
  get viewsDiffer(): boolean {
    const { membership, repair } = this.parts;
    return repair()?.presence.differs(membership.view.id) ?? false;
  }

  /** Other members have told that they go by the same view: then it lacks none of them. */
  get isViewShared(): boolean {
    const { membership, repair } = this.parts;
    return repair()?.presence.agrees(membership.view.id) ?? false;
  }

  /**
   * Whether a record may be with another member than the view says, as far as this member can tell: the view is new,
   * or other members go by another one, or a member has records that are on their way.
   */
  get isUnsettled(): boolean {
    const { clock, membership } = this.parts;
    const repair = this.parts.repair();
    if (repair === null) return false;
    if (clock.now() < this.known.settledMs || repair.isMoving) return true;
    const { view } = membership;
    return view.namesIn('leaving').length > 0 || this.viewsDiffer || repair.presence.othersMove;
  }
}
