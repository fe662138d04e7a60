/**
 * The slots of a ring as one process sees them: it claims a free slot that placement gives to one of its members, gives
 * a slot up in order when placement moves it, and knows at once when a slot is lost. Driven by the mirror (records), by
 * membership (view, own members) and by the locks (held, idle).
 *
 * S1  Locks are granted in `owned` slots only, under a member that can be trusted at that moment.
 * S2  The record is deleted only after the last lock in the slot has ended.
 * S3  News about a record that are older than the known record are ignored.
 * S4  A slot that placement gives to another own member changes its record's member and lease in one transaction. Its
 *     locks stay held with their tokens. Until the answer is known they are trusted only while both members are.
 * S5  Every state and happening is in `slot-state.ts`; this file has no other rule about them.
 *
 * Its parts: `slot-targets.ts` names the member that should have a slot, `slot-epochs.ts` counts the numbers in tokens,
 * `slot-writer.ts` carries out transactions. This file learns the records in etcd, compares, and takes the steps:
 *
 *   mirror, answers of etcd ──► learn ──┐
 *   view, joined, lost ─────────────────┼──► evaluate ──► apply: table ──► effect: writer, or locks by the hooks
 *   end of a lock, drain limit ─────────┘
 *
 * Example: process 1 owns slot 7 for its member a, by a record of revision 120. The third lock granted there has the
 * token 120 × 2²⁴ + 3. At revision 200 member b of process 2 joins, and placement gives slot 7 to b. In process 1 the
 * slot goes from `owned` to `draining`: nothing more is granted, and the holder has 10 s to finish. It releases after
 * 0.3 s, so `releasing`: the record is written for b under b's lease, on condition that it is still the one of revision
 * 120 and that b's record is the one of revision 200. Process 2 sees at revision 205 that the slot is its own; its
 * first token, 205 × 2²⁴ + 1, is above all tokens of process 1. Where b is gone by then, the record is deleted instead,
 * and a process that wants the slot claims it.
 */
import { type Cancel, type Clock, invariant, type Log } from '@carillon/core';
import type { LossReason } from '../errors.ts';
import type { Change, Etcd, EtcdError, KeyValue } from '../etcd/etcd.ts';
import type { LocalMember } from '../local-member.ts';
import type { Membership } from '../membership.ts';
import type { RingPlacement } from '../placements.ts';
import { decodeOwner, newSlot, type Slot } from './slot.ts';
import { SlotEpochs } from './slot-epochs.ts';
import { type SlotHappening, slotEffect, slotTransitions } from './slot-state.ts';
import { SlotTargets } from './slot-targets.ts';
import { type SlotRecord, SlotWriter, troublePauseMs } from './slot-writer.ts';

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
  /** The slot's record is deleted, or handed over: another process may own the slot now. */
  onReleased(slot: Slot, member: string): void;
  onError(error: Error): void;
}

export interface SlotsOptions {
  /**
   * All slots are under this prefix, slot 7 at `<prefix>s/00007`. Every process of a ring has the same prefix and
   * count.
   */
  readonly prefix: string;
  readonly count: number;
  readonly etcd: Etcd;
  readonly clock: Clock;
  readonly log: Log;
  readonly membership: Membership;
  readonly placement: RingPlacement;
  /** How long the holders in a slot that goes to another process have to finish; infinity: as long as they like. */
  readonly drainMs: number;
  /** Grants under one epoch (`slot-epochs.ts`). */
  readonly countersMax?: number | undefined;
}

export class Slots {
  /** By index, for the whole life of the process: a slot is changed in place, so that locks can point to it. */
  readonly all: readonly Slot[];
  private readonly options: SlotsOptions;
  private readonly hooks: SlotHooks;
  private readonly writer: SlotWriter;
  /** By the key of the slot's record in etcd. */
  private readonly byKey: ReadonlyMap<string, Slot>;
  private readonly targets: SlotTargets;
  private readonly epochs: SlotEpochs;
  /** The end of the time that holders have to finish, by slot that drains. */
  private readonly drains = new Map<Slot, Cancel>();
  /** Called when nothing is held in any slot of the member. */
  private readonly idleWaiters = new Map<LocalMember, () => void>();
  /**
   * Claims and moves wait until then, because etcd has just failed. Releases wait less: locks elsewhere wait for them.
   */
  private troubleUntilMs = Number.NEGATIVE_INFINITY;
  private cancelTrouble: Cancel = () => {};
  private closed = false;

  constructor(options: SlotsOptions, hooks: SlotHooks) {
    const { membership, prefix, count } = options;
    this.options = options;
    this.hooks = hooks;
    this.all = Array.from({ length: count }, (_, index) => newSlot(prefix, index));
    this.byKey = new Map(this.all.map((slot) => [slot.key, slot]));
    this.targets = new SlotTargets(options);
    this.writer = new SlotWriter(options, {
      onRecord: (slot, entry, revision) => this.learn(slot, entry, revision),
      onClaimOver: (slot, incarnation) => this.onClaimOver(slot, incarnation),
      onReleaseOver: (slot) => {
        // The record is still there: etcd failed, and a pause is over; or its answer was lost and the look found the
        // record.
        if (slot.state === 'releasing') this.writer.release(slot, null);
      },
      onMoveOver: (slot, isKnown) => this.onMoveOver(slot, isKnown),
      onTrouble: (error) => this.onTrouble(error),
    });
    this.epochs = new SlotEpochs(options, this.writer, (slot) => {
      if (this.grantable(slot)) this.hooks.onGrantable(slot);
    });
    this.onRead();
    membership.mirror.onRead(() => this.onRead());
    membership.mirror.onChange((changes) => this.onChanges(changes));
    membership.on('view', () => this.onView());
    membership.on('joined', ({ member }) => this.onJoined(member));
    membership.on('lost', ({ member, reason }) => this.onMemberLost(member, reason));
  }

  /** The id of the member that placement names for the slot, of any process; null: the ring has no active member. */
  targetOf(index: number): string | null {
    return this.targets.nameOf(index);
  }

  /** S1, and a number left for the token. Asked before each grant, since a lease runs out without an event. */
  grantable(slot: Slot): boolean {
    return (
      slot.state === 'owned' && this.epochs.hasNumber(slot) && (slot.member?.remainingMs() ?? 0) > 0
    );
  }

  /** The number of the next token under the slot's epoch. */
  nextCounter(slot: Slot): number {
    return this.epochs.next(slot);
  }

  /**
   * Removes the record of a lock that has just ended together with its slot, if the slot moves away with it. True: it
   * is gone.
   */
  removedWith(slot: Slot, record: SlotRecord): Promise<boolean> {
    return this.writer.removedWith(slot, record);
  }

  /**
   * The last lock in the slot has gone. A slot that drains is released now. The exception is a member that has just
   * begun to leave: if no other lock of it is held, revoking its lease removes the records of all its slots at once.
   */
  onIdle(slot: Slot): void {
    const { member } = slot;
    if (
      slot.state === 'draining' &&
      member !== null &&
      this.targets.departureOf(member)?.isReleasing !== false
    ) {
      this.apply(slot, 'idle');
    }
    if (member !== null) this.onSlotLeft(member);
  }

  /** Lets `depart` go on when this was the member's last slot with a lock. */
  private onSlotLeft(member: LocalMember): void {
    if (this.idleWaiters.has(member) && this.busy(member) === 0) this.idleWaiters.get(member)?.();
  }

  /**
   * The member is leaving: its slots grant nothing from now on. Resolves when nothing is held in any of
   * them, at the latest after the drain limit. Its lease can then be revoked.
   */
  async depart(member: LocalMember): Promise<void> {
    const departure = this.targets.startDeparture(member);
    this.onView();
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

  /** After the member's lease is revoked. The departure counts until the view shows its incarnation no more. */
  departed(member: LocalMember): void {
    this.idleWaiters.delete(member);
    const departure = this.targets.departureOf(member);
    if (departure !== undefined) departure.isOver = true;
    this.onView();
  }

  close(): void {
    this.closed = true;
    this.writer.close();
    this.epochs.close();
    this.cancelTrouble();
    for (const cancel of this.drains.values()) cancel();
    this.drains.clear();
  }

  /** How many slots of the member have a lock. */
  private busy(member: LocalMember): number {
    return this.all.filter((slot) => slot.member === member && slot.held > 0).length;
  }

  /**
   * Members changed, or one of them is on its way out: placement is asked again, then each slot is compared with it.
   */
  private onView(): void {
    this.targets.update(this.options.membership.view);
    this.evaluateAll();
  }

  /** The mirror has read everything: slots without a record are learned as gone. */
  private onRead(): void {
    const { entries, revision } = this.options.membership.mirror;
    for (const slot of this.all) this.learn(slot, entries.get(slot.key) ?? null, revision);
  }

  /** Changes that the watch has seen. A deletion has no record, so its revision comes from the change itself. */
  private onChanges(changes: readonly Change[]): void {
    for (const change of changes) {
      const put = change.kind === 'put';
      const slot = this.byKey.get(put ? change.entry.key : change.key);
      if (slot === undefined) continue;
      if (put) this.learn(slot, change.entry, change.entry.modRevision);
      else this.learn(slot, null, change.revision);
    }
  }

  /**
   * The member's lease may be over at this moment, so every lock under it ends, also in slots that were about to be
   * handed over to it (S4). `depart` waits for nothing more.
   */
  private onMemberLost(member: LocalMember, reason: LossReason): void {
    for (const slot of this.all) {
      if (slot.member === member || slot.heir === member) this.apply(slot, 'member-lost', reason);
    }
    this.idleWaiters.get(member)?.();
  }

  /**
   * Takes in the slot's record as of `revision`; null: there was none. The same record comes from the watch and from
   * the answer to a transaction, in any order: the first one counts, the other one is not newer and is ignored (S3).
   */
  private learn(slot: Slot, entry: KeyValue | null, revision: number): void {
    if (this.closed || revision <= slot.seenRevision) return;
    slot.seenRevision = revision;
    this.takeIn(slot, entry);
  }

  private takeIn(slot: Slot, entry: KeyValue | null): void {
    slot.entry = entry;
    const owner = entry === null ? null : this.ownerIn(entry);
    if (entry === null) this.apply(slot, 'gone', 'removed');
    else if (owner === null) this.apply(slot, 'theirs', 'removed');
    else {
      // Tokens grow because revisions do: a new epoch is above every token of the old one, so its counter starts anew.
      if (entry.modRevision > slot.epoch) {
        slot.epoch = entry.modRevision;
        slot.counter = 0;
      }
      this.own(slot, owner);
    }
    this.evaluate(slot);
  }

  /**
   * The member knows its incarnation. Another process may have seen it earlier, by its watch, and have handed slots
   * over to it already: they were taken for another process's until now.
   */
  private onJoined(member: LocalMember): void {
    for (const slot of this.all) {
      const { entry, state } = slot;
      if (entry === null || (state !== 'foreign' && state !== 'lost')) continue;
      if (this.ownerIn(entry) === member) this.takeIn(slot, entry);
    }
    this.evaluateAll();
  }

  /** The record is that of a local member: its claim was taken, or the slot was handed over to it. */
  private own(slot: Slot, owner: LocalMember): void {
    if (slot.state === 'moving' && owner === slot.heir) {
      const before = slot.member;
      slot.member = owner;
      slot.heir = null;
      // The locks learn their new member before the waiters are served under it.
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

  /**
   * Compares the slot with the owner that placement names, and wants it or gives it up. Called after every event that
   * may change the answer. In `claiming`, `moving`, `releasing` and `lost` the answer of etcd comes first.
   */
  private evaluate(slot: Slot): void {
    if (this.closed) return;
    const wanting = this.targets.trustedOf(slot.index);
    if (slot.state === 'foreign') {
      // A slot with a record has an owner in another process; its deletion is news that leads here again.
      if (wanting === null || slot.entry !== null || this.inTrouble()) return;
      slot.member = wanting;
      this.apply(slot, 'want');
    } else if (slot.state === 'owned' || slot.state === 'draining') {
      // Out of `draining` too: placement changed its mind before the holders had finished.
      if (wanting === slot.member) this.apply(slot, 'want');
      else if (wanting === null) {
        const local = this.targets.localOf(slot.index);
        // An own member that is still joining takes the slot over in a moment.
        if (local === null || local === slot.member) this.apply(slot, 'unwant');
      } else if (!this.inTrouble()) {
        slot.heir = wanting;
        this.apply(slot, 'pass');
      }
    }
  }

  /** S5: takes the state from the table, and then carries out the effect of the step. */
  private apply(slot: Slot, happening: SlotHappening, reason: LossReason = 'removed'): void {
    const from = slot.state;
    const to = slotTransitions[from][happening];
    if (from === to) return;
    slot.state = to;
    // Released, wanted again or lost: its holders have no time limit any more.
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
        // From `draining` and `moving` the slot was this process's all the time.
        if (from !== 'draining' && from !== 'moving') this.hooks.onGained(slot);
        this.hooks.onGrantable(slot);
        break;
      case 'move':
        invariant(
          slot.heir !== null && slot.heir !== slot.member,
          'a slot moves to another member',
        );
        // Locks are granted under neither member until the answer is known; the held ones stay.
        this.writer.move(slot, slot.heir);
        break;
      case 'revoke':
        this.startDrain(slot);
        break;
      case 'release':
        invariant(slot.held === 0, 'a slot is given up after its last lock');
        this.writer.release(slot, this.targets.nextOwnerOf(slot.index));
        break;
      // The record is gone or another member's, so another process may grant in the slot; this one ended its last lock
      // before (S2).
      case 'released':
        this.hooks.onReleased(slot, slot.member?.id ?? '');
        slot.member = null;
        break;
      case 'abort':
        // The hook ends every lock of the slot before it returns: another process may own the slot already.
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

  /**
   * S2: asks the holders to finish, and ends their locks when the drain limit is over. A slot that goes to a member
   * which joined for this slot alone has no limit: that member waits for the holders, however long they take.
   */
  private startDrain(slot: Slot): void {
    const { clock, drainMs } = this.options;
    this.hooks.onRevoking(slot);
    // A holder may have finished inside its own listener.
    if (slot.state !== 'draining') return;
    if (slot.held === 0) {
      this.onIdle(slot);
      return;
    }
    if (drainMs === Number.POSITIVE_INFINITY || this.targets.goesToWish(slot.index)) return;
    this.drains.set(
      slot,
      clock.at(clock.now() + drainMs, () => {
        const leaving = slot.member !== null && this.targets.departureOf(slot.member) !== undefined;
        this.hooks.onDrainLimit(slot, leaving ? 'closed' : 'rebalanced');
      }),
    );
  }

  /**
   * The transaction with the claim has ended. After a success the slot is `owned` by now; one that still is `claiming`
   * was refused: another process was faster, or the member has a new incarnation, whose own claim is then under way.
   */
  private onClaimOver(slot: Slot, incarnation: number): void {
    if (this.closed || slot.state !== 'claiming') return;
    if (slot.member !== null && slot.member.incarnation !== incarnation) return;
    this.apply(slot, 'refused');
    this.evaluate(slot);
  }

  /**
   * S4: the transaction that hands the slot over has ended. `isKnown` false means that etcd did not say whether it took
   * the transaction, so the locks stay trusted only while both members are, until a later answer decides.
   */
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
      this.writer.move(slot, this.targets.trustedOf(slot.index) === heir ? heir : member);
    });
  }

  /** Whether claims and moves wait, because etcd just failed. */
  private inTrouble(): boolean {
    return this.options.clock.now() < this.troubleUntilMs;
  }

  /**
   * Waits before the next claims and moves, and then compares all slots: the ones that failed want their slot again.
   */
  private onTrouble(error: EtcdError): void {
    const { clock } = this.options;
    this.options.log.debug('A transaction of a ring failed at etcd.', {
      event: 'ring-transaction-failed',
      reason: error.message,
    });
    if (error.kind === 'refused') this.hooks.onError(error);
    this.troubleUntilMs = clock.now() + troublePauseMs;
    this.cancelTrouble();
    this.cancelTrouble = clock.at(this.troubleUntilMs, () => this.evaluateAll());
  }
}
