/**
 * The slots of a ring as one process sees them: it claims a free slot that placement gives to one of its members,
 * gives a slot up in order when placement moves it, and knows at once when a slot is lost. Driven by the mirror
 * (records), by membership (view, own members) and by the locks (held, idle).
 *
 * S1  Locks are granted in `owned` slots only, under a member that can be trusted at that moment.
 * S2  The record is deleted only after the last lock in the slot has ended.
 * S3  News about a record that are older than the known record are ignored.
 * S4  A slot that placement gives to another own member changes its record's member and lease in one transaction. Its
 *     locks stay held with their tokens. Until the answer is known they are trusted only while both members are.
 * S5  Every state and happening is in `slot-state.ts`; this file has no other rule about them.
 *
 * Example: process 1 owns slot 7 for its member a, by a record of revision 120. The third lock granted there has the token
 * 120 × 2²⁴ + 3. At revision 200 member b of process 2 joins, and placement gives slot 7 to b. In process 1 the slot goes
 * from `owned` to `draining`: nothing more is granted, and the holder has 10 s to finish. It releases after 0.3 s, so
 * `releasing`: the record is deleted, on condition that it is still the one of revision 120. Process 2 sees the deletion
 * at revision 205 and claims the slot; its record has revision 206, so its first token, 206 × 2²⁴ + 1, is above all tokens
 * of process 1.
 */
import { type Cancel, type Clock, invariant, type Log } from '@carillon/core';
import type { LossReason } from './errors.ts';
import type { Change, Etcd, EtcdError, KeyValue } from './etcd/etcd.ts';
import type { LocalMember } from './local-member.ts';
import type { MemberView } from './member.ts';
import type { Membership } from './membership.ts';
import type { RingPlacement } from './placements.ts';
import { countersPerEpoch, decodeOwner, newSlot, type Slot } from './slot.ts';
import { type SlotHappening, slotEffect, slotTransitions } from './slot-state.ts';
import { SlotWriter } from './slot-writer.ts';
import { assignWithWishes, isWishing } from './wishes.ts';

/** Called for each slot that changes, so that the locks in it follow. */
export interface SlotHooks {
  /** The slot belongs to this process now. */
  onGained(slot: Slot): void;
  /** It was handed over to another own member: locks in it are that member's now. */
  onMoved(slot: Slot): void;
  /** Locks may be granted from now on: the waiters get theirs. */
  onGrantable(slot: Slot): void;
  /** The holders are asked to finish; nothing new is granted. */
  onRevoking(slot: Slot): void;
  /** The holders had their time: every lock in it ends now. */
  onDrainLimit(slot: Slot, reason: LossReason): void;
  /** The slot is gone, and every lock in it ends now. */
  onLost(slot: Slot, reason: LossReason): void;
  /** The slot's record is deleted: another process may own the slot now. */
  onReleased(slot: Slot, member: string): void;
  onError(error: Error): void;
}

export interface SlotsOptions {
  readonly etcd: Etcd;
  readonly clock: Clock;
  readonly log: Log;
  readonly membership: Membership;
  readonly placement: RingPlacement;
  readonly prefix: string;
  readonly count: number;
  readonly drainMs: number;
  readonly countersMax?: number | undefined;
}

/** After trouble with etcd, claims wait this long. */
const troublePauseMs = 200;

/** A member on its way out, until the view no longer shows it. */
interface Departure {
  readonly incarnation: number;
  /** Its idle slots are released one by one, because some of its locks need time. */
  isReleasing: boolean;
  isOver: boolean;
}

export class Slots {
  readonly all: readonly Slot[];
  private readonly options: SlotsOptions;
  private readonly hooks: SlotHooks;
  private readonly writer: SlotWriter;
  private readonly byKey: ReadonlyMap<string, Slot>;
  /** The member that placement names for each slot; null: there is none. */
  private targets: readonly (string | null)[];
  /** Targets once the members on their way out are gone, whose slots other own members may take over at once. */
  private targetsLater: readonly (string | null)[] = [];
  /** The end of the time that holders have to finish, by slot that drains. */
  private readonly drains = new Map<Slot, Cancel>();
  private readonly departing = new Map<LocalMember, Departure>();
  /** Called when nothing is held in any slot of the member. */
  private readonly idleWaiters = new Map<LocalMember, () => void>();
  /** Slots whose next epoch is being fetched. */
  private readonly refreshing = new Set<Slot>();
  private troubleUntilMs = Number.NEGATIVE_INFINITY;
  private cancelTrouble: Cancel = () => {};
  private closed = false;

  constructor(options: SlotsOptions, hooks: SlotHooks) {
    const { membership, prefix, count } = options;
    this.options = options;
    this.hooks = hooks;
    this.all = Array.from({ length: count }, (_, index) => newSlot(prefix, index));
    this.byKey = new Map(this.all.map((slot) => [slot.key, slot]));
    this.targets = this.assign(membership.view);
    this.writer = new SlotWriter(options, {
      onRecord: (slot, entry, revision) => this.learn(slot, entry, revision),
      onClaimOver: (slot, incarnation) => this.onClaimOver(slot, incarnation),
      onReleaseOver: (slot) => {
        if (slot.state === 'releasing') this.writer.release(slot);
      },
      onMoveOver: (slot, isKnown) => this.onMoveOver(slot, isKnown),
      onTrouble: (error) => this.onTrouble(error),
    });
    this.onRead();
    membership.mirror.onRead(() => this.onRead());
    membership.mirror.onChange((changes) => this.onChanges(changes));
    membership.on('view', (view) => this.onView(view));
    membership.on('joined', () => this.evaluateAll());
    membership.on('lost', ({ member, reason }) => this.onMemberLost(member, reason));
  }

  targetOf(index: number): string | null {
    return this.targets[index] ?? null;
  }

  /** S1, and a number left for the token. */
  grantable(slot: Slot): boolean {
    return (
      slot.state === 'owned' &&
      slot.counter < this.countersMax() - 1 &&
      (slot.member?.remainingMs() ?? 0) > 0
    );
  }

  /** The next number under the slot's epoch. Half way through, a new epoch is fetched. */
  nextCounter(slot: Slot): number {
    slot.counter++;
    invariant(slot.counter < this.countersMax(), 'a token is granted once under an epoch');
    if (slot.counter >= this.countersMax() / 2) this.refresh(slot);
    return slot.counter;
  }

  /** Removes the record of a lock that has just ended together with its slot, if the slot moves away with it. True: it is gone. */
  removedWith(slot: Slot, key: string): Promise<boolean> {
    return this.writer.removedWith(slot, key);
  }

  /** The last lock in the slot has gone. */
  onIdle(slot: Slot): void {
    const { member } = slot;
    if (
      slot.state === 'draining' &&
      member !== null &&
      this.departing.get(member)?.isReleasing !== false
    ) {
      this.apply(slot, 'idle');
    }
    if (member !== null) this.onSlotLeft(member);
  }

  private onSlotLeft(member: LocalMember): void {
    if (this.idleWaiters.has(member) && this.busy(member) === 0) this.idleWaiters.get(member)?.();
  }

  /**
   * The member is leaving: its slots grant nothing from now on. Resolves when nothing is held in any of
   * them, at the latest after the drain limit. Its lease can then be revoked.
   */
  async depart(member: LocalMember): Promise<void> {
    const { incarnation } = member;
    const departure = { incarnation, isReleasing: false, isOver: false };
    this.departing.set(member, departure);
    this.assignAll(this.options.membership.view);
    this.evaluateAll();
    if (this.busy(member) === 0) return;
    // Some holders need time. Slots without a holder are released meanwhile.
    departure.isReleasing = true;
    member.update({ phase: 'leaving' }).catch((error: unknown) => {
      this.options.log.debug('A member could not tell its ring that it leaves.', {
        event: 'ring-leave-untold',
        reason: String(error),
      });
    });
    for (const slot of this.all) {
      if (slot.member === member && slot.held === 0 && slot.state === 'draining') {
        this.apply(slot, 'idle');
      }
    }
    await new Promise<void>((resolve) => this.idleWaiters.set(member, resolve));
  }

  /** After the member is gone. */
  departed(member: LocalMember): void {
    this.idleWaiters.delete(member);
    const departure = this.departing.get(member);
    if (departure !== undefined) departure.isOver = true;
    this.onView(this.options.membership.view);
  }

  close(): void {
    this.closed = true;
    this.writer.close();
    this.cancelTrouble();
    for (const cancel of this.drains.values()) cancel();
    this.drains.clear();
  }

  private busy(member: LocalMember): number {
    return this.all.filter((slot) => slot.member === member && slot.held > 0).length;
  }

  private countersMax(): number {
    return this.options.countersMax ?? countersPerEpoch;
  }

  private assign(view: MemberView): readonly (string | null)[] {
    const active = view.members.filter((member) => member.phase === 'active');
    return assignWithWishes(this.options.placement, active, this.options.count);
  }

  private assignAll(view: MemberView): void {
    this.targets = this.assign(view);
    for (const [member, { isOver, incarnation }] of this.departing) {
      if (isOver && !view.members.some((one) => one.incarnation === incarnation)) {
        this.departing.delete(member);
      }
    }
    if (this.departing.size === 0) return;
    const leaving = new Set([...this.departing.values()].map(({ incarnation }) => incarnation));
    const members = view.members.filter(({ incarnation }) => !leaving.has(incarnation));
    this.targetsLater = this.assign({ ...view, members });
  }

  private onView(view: MemberView): void {
    this.assignAll(view);
    this.evaluateAll();
  }

  /** The mirror has read everything: slots without a record are learned as gone. */
  private onRead(): void {
    const { entries, revision } = this.options.membership.mirror;
    for (const slot of this.all) this.learn(slot, entries.get(slot.key) ?? null, revision);
  }

  private onChanges(changes: readonly Change[]): void {
    for (const change of changes) {
      const put = change.kind === 'put';
      const slot = this.byKey.get(put ? change.entry.key : change.key);
      if (slot === undefined) continue;
      if (put) this.learn(slot, change.entry, change.entry.modRevision);
      else this.learn(slot, null, change.revision);
    }
  }

  private onMemberLost(member: LocalMember, reason: LossReason): void {
    for (const slot of this.all) {
      if (slot.member === member || slot.heir === member) this.apply(slot, 'member-lost', reason);
    }
    this.idleWaiters.get(member)?.();
  }

  /** Takes in the slot's record as of `revision`; null: there was none. */
  private learn(slot: Slot, entry: KeyValue | null, revision: number): void {
    if (this.closed || revision <= slot.seenRevision) return;
    slot.seenRevision = revision;
    slot.entry = entry;
    const owner = entry === null ? null : this.ownerIn(entry);
    if (entry === null) this.apply(slot, 'gone', 'removed');
    else if (owner === null) this.apply(slot, 'theirs', 'removed');
    else {
      if (entry.modRevision > slot.epoch) {
        slot.epoch = entry.modRevision;
        slot.counter = 0;
      }
      this.own(slot, owner);
    }
    this.evaluate(slot);
  }

  /** The record is that of a local member. */
  private own(slot: Slot, owner: LocalMember): void {
    if (slot.state === 'moving' && owner === slot.heir) {
      const before = slot.member;
      slot.member = owner;
      slot.heir = null;
      this.hooks.onMoved(slot);
      this.apply(slot, 'passed');
      if (before !== null) this.onSlotLeft(before);
      return;
    }
    // A late claim of another local member has arrived: the member that had the slot loses it.
    if (slot.member !== null && slot.member !== owner) this.apply(slot, 'theirs', 'removed');
    slot.member = owner;
    this.apply(slot, 'mine');
  }

  /** The local member whose present incarnation wrote the record; null: another process, or a former incarnation. */
  private ownerIn(entry: KeyValue): LocalMember | null {
    const owner = decodeOwner(entry);
    const member = owner === null ? undefined : this.options.membership.local.get(owner.member);
    const mine = member?.incarnation === owner?.incarnation && member?.leaseId === entry.lease;
    return mine ? (member ?? null) : null;
  }

  private evaluateAll(): void {
    for (const slot of this.all) this.evaluate(slot);
  }

  /** Compares the slot with the owner that placement names, and wants it or gives it up. */
  private evaluate(slot: Slot): void {
    if (this.closed) return;
    const wanting = this.wanting(slot);
    if (slot.state === 'foreign') {
      if (wanting === null || slot.entry !== null || this.inTrouble()) return;
      slot.member = wanting;
      this.apply(slot, 'want');
    } else if (slot.state === 'owned' || slot.state === 'draining') {
      if (wanting === slot.member) this.apply(slot, 'want');
      else if (wanting === null) {
        const local = this.localTarget(slot);
        // An own member that is still joining takes the slot over in a moment.
        if (local === null || local === slot.member) this.apply(slot, 'unwant');
      } else if (!this.inTrouble()) {
        slot.heir = wanting;
        this.apply(slot, 'pass');
      }
    }
  }

  /** The local member that should have the slot; null: none, or it cannot be trusted now. */
  private wanting(slot: Slot): LocalMember | null {
    const local = this.localTarget(slot);
    return local !== null && local.remainingMs() > 0 ? local : null;
  }

  private localTarget({ index }: Slot): LocalMember | null {
    const targets = this.departing.size > 0 ? this.targetsLater : this.targets;
    const local = this.options.membership.local.get(targets[index] ?? '');
    return local === undefined || this.departing.has(local) ? null : local;
  }

  /** S5: takes the state from the table, and then carries out the effect of the step. */
  private apply(slot: Slot, happening: SlotHappening, reason: LossReason = 'removed'): void {
    const from = slot.state;
    const to = slotTransitions[from][happening];
    if (from === to) return;
    slot.state = to;
    if (from === 'draining') {
      this.drains.get(slot)?.();
      this.drains.delete(slot);
    }
    switch (slotEffect(from, to)) {
      case 'claim':
        invariant(slot.member !== null, 'a slot is claimed for a member');
        this.writer.claim(slot, slot.member);
        break;
      case 'gain':
        if (from !== 'draining' && from !== 'moving') this.hooks.onGained(slot);
        this.hooks.onGrantable(slot);
        break;
      case 'move':
        invariant(
          slot.heir !== null && slot.heir !== slot.member,
          'a slot moves to another member',
        );
        this.writer.move(slot, slot.heir);
        break;
      case 'revoke':
        this.startDrain(slot);
        break;
      case 'release':
        invariant(slot.held === 0, 'a slot is given up after its last lock');
        this.writer.release(slot);
        break;
      case 'released':
        this.hooks.onReleased(slot, slot.member?.id ?? '');
        slot.member = null;
        break;
      case 'abort':
        slot.heir = null;
        this.hooks.onLost(slot, reason);
        invariant(slot.held === 0, 'no lock outlives its slot');
        slot.member = null;
        // The record may be gone already; then there is nothing to wait for.
        if (slot.entry === null) this.apply(slot, 'gone');
        break;
      case 'none':
        slot.member = null;
        break;
    }
  }

  /** S2: asks the holders to finish, and ends their locks when the drain limit is over. */
  private startDrain(slot: Slot): void {
    const { clock, drainMs } = this.options;
    this.hooks.onRevoking(slot);
    // A holder may have finished inside its own listener.
    if (slot.state !== 'draining') return;
    if (slot.held === 0) {
      this.onIdle(slot);
      return;
    }
    if (drainMs === Number.POSITIVE_INFINITY || this.goesToWish(slot)) return;
    this.drains.set(
      slot,
      clock.at(clock.now() + drainMs, () => {
        const leaving = slot.member !== null && this.departing.has(slot.member);
        this.hooks.onDrainLimit(slot, leaving ? 'closed' : 'rebalanced');
      }),
    );
  }

  /** A member that is here for this slot alone waits for the holders, however long they take. */
  private goesToWish({ index }: Slot): boolean {
    const { members } = this.options.membership.view;
    const target = members.find(({ id }) => id === this.targets[index]);
    return target !== undefined && isWishing(target);
  }

  /** etcd did not take the claim: another process was faster, or the member has a new incarnation. */
  private onClaimOver(slot: Slot, incarnation: number): void {
    if (this.closed || slot.state !== 'claiming') return;
    if (slot.member !== null && slot.member.incarnation !== incarnation) return;
    this.apply(slot, 'refused');
    this.evaluate(slot);
  }

  /** S4: `isKnown` false means that etcd did not say whether it took the transaction. */
  private onMoveOver(slot: Slot, isKnown: boolean): void {
    if (this.closed || slot.state !== 'moving') return;
    if (isKnown) {
      slot.heir = null;
      this.apply(slot, 'refused');
      return this.evaluate(slot);
    }
    // The transaction may still arrive. Another one with the same condition decides, whichever of the two etcd takes.
    const { clock } = this.options;
    clock.at(clock.now() + troublePauseMs, () => {
      const { member, heir } = slot;
      if (this.closed || slot.state !== 'moving' || member === null || heir === null) return;
      this.writer.move(slot, this.wanting(slot) === heir ? heir : member);
    });
  }

  /** Writes the record anew for a higher epoch, under which tokens count from 0 again. */
  private refresh(slot: Slot): void {
    const { member } = slot;
    if (this.closed || slot.state !== 'owned' || member === null) return;
    if (this.refreshing.has(slot)) return;
    this.refreshing.add(slot);
    const over = (): void => {
      this.refreshing.delete(slot);
      if (this.closed) return;
      if (this.grantable(slot)) this.hooks.onGrantable(slot);
      // Nothing left to grant with, and no grant that would ask again: this one must.
      else if (slot.counter >= this.countersMax() - 1) {
        const { clock } = this.options;
        clock.at(clock.now() + troublePauseMs, () => this.refresh(slot));
      }
    };
    this.writer
      .refresh(slot, member)
      .finally(over)
      .catch((error: unknown) =>
        this.options.log.error('A slot of a ring was not refreshed.', {
          event: 'ring-slot-unrefreshed',
          reason: String(error),
        }),
      );
  }

  /** Whether claims and moves wait, because etcd just failed. */
  private inTrouble(): boolean {
    return this.options.clock.now() < this.troubleUntilMs;
  }

  private onTrouble(error: EtcdError): void {
    const { clock } = this.options;
    this.options.log.debug('A transaction of a ring was not taken by etcd.', {
      event: 'ring-transaction-failed',
      reason: error.message,
    });
    if (error.kind === 'refused') this.hooks.onError(error);
    this.troubleUntilMs = clock.now() + troublePauseMs;
    this.cancelTrouble();
    this.cancelTrouble = clock.at(this.troubleUntilMs, () => this.evaluateAll());
  }
}
