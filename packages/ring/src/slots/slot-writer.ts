/**
 * Writes slot records to etcd, many in one transaction, and finds out the result. Used by `slots.ts`, which decides;
 * this file only carries out and reports.
 *
 * W1  Claim: "slot absent, and my member record is of my incarnation". Release and refresh: "its revision is my epoch".
 *     Move to another local member: the conditions of a claim by that member, but with the epoch instead of absence. No
 *     record of another process is ever touched. A release takes along the records of locks that ended in the slot:
 *     while the epoch stands, they are this process's.
 * W2  After a lost answer the records are read before anything else is said about them. A transaction that arrives even
 *     later is seen by the watch and handled there.
 * W3  A release that names the next owner writes the slot under that member's lease instead of removing it, with one
 *     more condition: that member's record is of the incarnation that this process knows. The next owner learns by its
 *     watch that the slot is its own, and needs no transaction. One that failed is tried again as a plain release.
 * W4  Releases that etcd did not take are tried again together, after 50 ms, then 100 ms, and so on up to 2 s: an etcd
 *     that refuses at once, for want of room or of permission, is not asked as fast as it can answer.
 */
import { type Cancel, type Clock, invariant, type Log, sleep } from '@carillon/core';
import {
  type Etcd,
  EtcdError,
  type KeyValue,
  type Operation,
  txnOperationsMax,
} from '../etcd/etcd.ts';
import type { LocalMember } from '../local-member.ts';
import { encodeOwner, type NextOwner, type Slot } from './slot.ts';

export interface SlotWriterHooks {
  /** The record is known as of `revision`. */
  onRecord(slot: Slot, entry: KeyValue | null, revision: number): void;
  /** The claim for this incarnation has ended; `onRecord` reported its result before. */
  onClaimOver(slot: Slot, incarnation: number): void;
  /**
   * The release has been tried, and after trouble a pause is over; if the record is still there, it has to be tried
   * again.
   */
  onReleaseOver(slot: Slot): void;
  /** Handing over has been tried. `isKnown`: it is known whether it happened; `onRecord` told before. */
  onMoveOver(slot: Slot, isKnown: boolean): void;
  /** etcd said no or could not be reached: do not try again at once. */
  onTrouble(error: EtcdError): void;
}

/** After trouble with etcd, the same slot is not written for this long. */
export const troublePauseMs = 200;
const txnLimitMs = 2000;
const lookLimitMs = 2000;
const lookPauseMs = 50;
const releasePauseMsMin = 50;
const releasePauseMsMax = 2000;
/** One comparison of each transaction is for the member record. */
const slotsPerTxn = txnOperationsMax - 1;

export class SlotWriter {
  private readonly etcd: Etcd;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly hooks: SlotWriterHooks;
  private readonly claims = new Map<LocalMember, Slot[]>();
  private readonly moves = new Map<LocalMember, Slot[]>();
  /** By the id of the next owner; '': the slots are only given up. */
  private readonly releases = new Map<string, { next: NextOwner | null; slots: Slot[] }>();
  /** Releases that wait for the end of a pause, and the pause that is under way, or was the last (W4). */
  private readonly untaken = new Set<Slot>();
  private pauseMs = 0;
  private cancelPause: Cancel | null = null;
  /** Records of ended locks that a release of their slot would take along. */
  private passengers: Passenger[] = [];
  private armed = false;
  private closed = false;

  constructor(parts: { etcd: Etcd; clock: Clock; log: Log }, hooks: SlotWriterHooks) {
    this.etcd = parts.etcd;
    this.clock = parts.clock;
    this.log = parts.log;
    this.hooks = hooks;
  }

  claim(slot: Slot, member: LocalMember): void {
    this.enlist(this.claims, slot, member);
  }

  /** Writes the own record under another local member, or under the same one again. */
  move(slot: Slot, member: LocalMember): void {
    this.enlist(this.moves, slot, member);
  }

  /** Gives the slot up; `next`: hands it over to a member of another process in the same transaction (W3). */
  release(slot: Slot, next: NextOwner | null): void {
    this.untaken.delete(slot);
    const id = next === null ? '' : `${next.id} ${next.incarnation}`;
    const list = this.releases.get(id) ?? { next, slots: [] };
    list.slots.push(slot);
    this.releases.set(id, list);
    this.arm();
  }

  /**
   * Removes a record in the transaction that releases the slot, if one is asked for in this moment. True: the record is
   * gone. False: no release took it along, or it is not known whether one did.
   */
  removedWith(slot: Slot, record: SlotRecord): Promise<boolean> {
    return new Promise((resolve) => {
      this.passengers.push({ slot, ...record, resolve });
      this.arm();
    });
  }

  /** Writes the own record again: a new epoch, below which the counter starts anew. */
  async refresh(slot: Slot, member: LocalMember): Promise<void> {
    const { key } = slot;
    const value = encodeOwner(member);
    const when = [{ key, modRevision: slot.epoch }];
    const success = [{ put: key, value, lease: member.leaseId }];
    await this.run([slot], { when, success, failure: [{ get: key }] }, (revision) =>
      this.made(slot, value, { lease: member.leaseId, revision }),
    );
  }

  close(): void {
    this.closed = true;
    this.cancelPause?.();
  }

  private enlist(list: Map<LocalMember, Slot[]>, slot: Slot, member: LocalMember): void {
    const slots = list.get(member) ?? [];
    slots.push(slot);
    list.set(member, slots);
    this.arm();
  }

  /**
   * Claims and releases that are asked for in the same moment share transactions: flushes after all work that is ready.
   */
  private arm(): void {
    if (this.armed) return;
    this.armed = true;
    this.clock.soon(() => {
      this.armed = false;
      this.flush();
    });
  }

  private flush(): void {
    const passengers = this.passengers;
    this.passengers = [];
    if (this.closed) {
      for (const { resolve } of passengers) resolve(false);
      return;
    }
    for (const [member, slots] of this.claims) {
      for (const chunk of chunks(slots)) this.runClaim(chunk, member).catch(this.failed);
    }
    this.claims.clear();
    for (const [member, slots] of this.moves) {
      for (const chunk of chunks(slots)) this.runMove(chunk, member).catch(this.failed);
    }
    this.moves.clear();
    for (const { next, slots } of this.releases.values()) {
      for (const chunk of chunks(slots)) {
        this.runRelease(chunk, boarding(chunk, passengers), next).catch(this.failed);
      }
    }
    this.releases.clear();
    // The others stay behind.
    for (const { resolve } of passengers) resolve(false);
  }

  private readonly failed = (error: unknown): void => {
    this.log.error('A slot of a ring was not written.', {
      event: 'ring-slot-unwritten',
      reason: String(error),
    });
  };

  private async runClaim(slots: readonly Slot[], member: LocalMember): Promise<void> {
    const { incarnation, leaseId, key } = member;
    if (incarnation !== 0) {
      const value = encodeOwner(member);
      const txn = {
        when: [
          { key, createRevision: incarnation },
          ...slots.map((slot) => ({ key: slot.key, createRevision: 0 })),
        ],
        success: slots.map((slot) => ({ put: slot.key, value, lease: leaseId })),
        failure: [...slots.map((slot) => ({ get: slot.key })), { get: key }],
      };
      const { extra } = await this.run(slots, txn, (revision, slot) =>
        this.made(slot, value, { lease: leaseId, revision }),
      );
      member.verify(incarnation, extra);
    }
    for (const slot of slots) this.hooks.onClaimOver(slot, incarnation);
  }

  private async runMove(slots: readonly Slot[], member: LocalMember): Promise<void> {
    const { incarnation, leaseId, key } = member;
    // Without an incarnation the member has just been lost, and `slots.ts` was told.
    if (incarnation === 0) return;
    const value = encodeOwner(member);
    const txn = {
      when: [
        { key, createRevision: incarnation },
        ...slots.map((slot) => ({ key: slot.key, modRevision: slot.epoch })),
      ],
      success: slots.map((slot) => ({ put: slot.key, value, lease: leaseId })),
      failure: [...slots.map((slot) => ({ get: slot.key })), { get: key }],
    };
    const { extra, isKnown } = await this.run(slots, txn, (revision, slot) =>
      this.made(slot, value, { lease: leaseId, revision }),
    );
    member.verify(incarnation, extra);
    for (const slot of slots) this.hooks.onMoveOver(slot, isKnown);
  }

  private async runRelease(
    slots: readonly Slot[],
    passengers: readonly Passenger[],
    next: NextOwner | null,
  ): Promise<void> {
    invariant(
      slots.every(({ epoch }) => epoch > 0),
      'a slot that is given up was owned under an epoch',
    );
    const mine = slots.map((slot) => ({ key: slot.key, modRevision: slot.epoch }));
    const failure = slots.map((slot) => ({ get: slot.key }));
    const txn =
      next === null
        ? {
            when: mine,
            success: [...slots, ...passengers].map(({ key }) => ({ remove: key })),
            failure,
          }
        : {
            when: [{ key: next.key, createRevision: next.incarnation }, ...mine],
            success: handingOver(slots, passengers, next),
            failure,
          };
    let isGone = false;
    const { isTaken } = await this.run(slots, txn, (revision, slot) => {
      isGone = true;
      if (next === null) this.hooks.onRecord(slot, null, revision);
      else this.made(slot, encodeOwner(next), { lease: next.leaseId, revision });
    });
    for (const { resolve } of passengers) resolve(isGone);
    if (!isTaken) return this.pause(slots);
    this.pauseMs = 0;
    for (const slot of slots) this.hooks.onReleaseOver(slot);
  }

  /** W4: transactions that fail in the same moment share a pause. */
  private pause(slots: readonly Slot[]): void {
    for (const slot of slots) this.untaken.add(slot);
    if (this.cancelPause !== null || this.closed) return;
    this.pauseMs = Math.min(releasePauseMsMax, Math.max(releasePauseMsMin, 2 * this.pauseMs));
    this.cancelPause = this.clock.at(this.clock.now() + this.pauseMs, () => {
      this.cancelPause = null;
      const waiting = [...this.untaken];
      this.untaken.clear();
      for (const slot of waiting) this.hooks.onReleaseOver(slot);
    });
  }

  private made(slot: Slot, value: string, at: { lease: bigint; revision: number }): void {
    const { lease, revision } = at;
    const { key } = slot;
    const entry = { key, value, lease, createRevision: revision, modRevision: revision };
    this.hooks.onRecord(slot, entry, revision);
  }

  /**
   * Runs a transaction over `slots` and reports each of their records. `failure` must begin with a `get` for each
   * slot in order; the answers to further `get`s are returned.
   */
  private async run(
    slots: readonly Slot[],
    txn: Parameters<Etcd['txn']>[0],
    onSuccess: (revision: number, slot: Slot) => void,
  ): Promise<Outcome> {
    try {
      const answer = await this.etcd.txn(txn, txnLimitMs);
      if (this.closed) return known;
      if (answer.succeeded) {
        for (const slot of slots) onSuccess(answer.revision, slot);
        return known;
      }
      this.report(slots, answer.found, answer.revision);
      if (txn.failure.length === slots.length) return known;
      const entry = answer.found[slots.length] ?? null;
      return { ...known, extra: { entry, revision: answer.revision } };
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      if (error.kind === 'no-answer') {
        await this.look(slots);
        return { ...known, isKnown: false };
      }
      if (!this.closed) this.hooks.onTrouble(error);
      return { ...known, isTaken: false };
    }
  }

  /** Reads the records until an answer comes; nothing else may be assumed about them before. */
  private async look(slots: readonly Slot[]): Promise<void> {
    const success = slots.map((slot) => ({ get: slot.key }));
    while (!this.closed) {
      try {
        const answer = await this.etcd.txn({ when: [], success, failure: [] }, lookLimitMs);
        this.report(slots, answer.found, answer.revision);
        return;
      } catch (error) {
        this.log.debug('Reading etcd after a lost answer failed.', {
          event: 'ring-look-failed',
          reason: String(error),
        });
        await sleep(this.clock, lookPauseMs);
      }
    }
  }

  private report(
    slots: readonly Slot[],
    found: readonly (KeyValue | null)[],
    revision: number,
  ): void {
    if (this.closed) return;
    slots.forEach((slot, i) => this.hooks.onRecord(slot, found[i] ?? null, revision));
  }
}

/** The record of a lock that ended in a slot. */
export interface SlotRecord {
  readonly key: string;
  /**
   * The record of the lock's next holder, when the slot goes to `next` and that member waits for it; null: none does.
   */
  inherited(next: NextOwner): string | null;
}

interface Passenger extends SlotRecord {
  readonly slot: Slot;
  readonly resolve: (isGone: boolean) => void;
}

interface Outcome {
  /** False: no answer came, and the transaction may still arrive. */
  readonly isKnown: boolean;
  /** False: etcd said no, or was not reached. */
  readonly isTaken: boolean;
  /** The member record next to refused claims, as of `revision`; null: not looked at. */
  readonly extra: { readonly entry: KeyValue | null; readonly revision: number } | null;
}

const known: Outcome = { isKnown: true, isTaken: true, extra: null };

function* chunks(slots: readonly Slot[]): Generator<readonly Slot[]> {
  for (let i = 0; i < slots.length; i += slotsPerTxn) yield slots.slice(i, i + slotsPerTxn);
}

/** Takes the records of these slots out of `waiting`, as many as the transaction has room for. */
function boarding(slots: readonly Slot[], waiting: Passenger[]): readonly Passenger[] {
  const room = txnOperationsMax - slots.length;
  const taken = waiting.filter(({ slot }) => slots.includes(slot)).slice(0, room);
  for (const one of taken) waiting.splice(waiting.indexOf(one), 1);
  return taken;
}

/**
 * The slots under their next owner. Of the records that go with each slot one at most is inherited: its token is the
 * first one under the new epoch.
 */
function handingOver(
  slots: readonly Slot[],
  passengers: readonly Passenger[],
  next: NextOwner,
): Operation[] {
  const value = encodeOwner(next);
  const lease = next.leaseId;
  const inherited = new Set<Slot>();
  const records = passengers.map((passenger): Operation => {
    const { slot, key } = passenger;
    const heir = inherited.has(slot) ? null : passenger.inherited(next);
    if (heir === null) return { remove: key };
    inherited.add(slot);
    return { put: key, value: heir, lease };
  });
  return [...slots.map((slot) => ({ put: slot.key, value, lease })), ...records];
}
