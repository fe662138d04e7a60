/**
 * The visible form of a lock taken with `durable: true`: `P/k/<key>` with holder and token, under the holder's lease.
 * It grants nothing; the slot does. Written under the condition that the slot's epoch still stands, removed under the
 * condition that it is the very record that was written, or together with the slot. A write that arrives after all,
 * when its lock is already over, is seen by the watch and removed.
 *
 * A key that moves to another process costs one transaction: the slot goes to its next owner, and where that member
 * waits for the key, the record of the lock becomes the next holder's. The token in such an **inherited** record cannot
 * be known before its transaction has run, so the record names the holder alone: its token is the first one of its own
 * revision. The next owner grants that key first, and finds its record there; one that waits no longer removes it.
 */
import { type Clock, sleep } from '@carillon/core';
import { type Change, type Etcd, EtcdError, type KeyValue } from '../etcd/etcd.ts';
import { firstTokenOf, type NextOwner, type Slot } from '../slots/slot.ts';
import type { SlotRecord } from '../slots/slot-writer.ts';
import type { Lock } from './lock.ts';
import { waitKey } from './waiting.ts';

const txnLimitMs = 2000;
const pauseMs = 50;

/** The part of the slots that the records use. */
export interface RecordSlots {
  /** Removes a record with its slot, if the slot is given up in this moment. True: the record is gone. */
  removedWith(slot: Slot, record: SlotRecord): Promise<boolean>;
  /** The record of this key in etcd, as far as this process has seen it. */
  seen(key: string): KeyValue | undefined;
  /** Removes the record of a wait that is over. */
  forgetWait(record: string): void;
}

interface Wanted {
  readonly lock: Lock;
  readonly value: string;
  /** The revision that etcd gave the record; 0: not known yet. */
  revision: number;
}

export class DurableRecords {
  private readonly etcd: Etcd;
  private readonly clock: Clock;
  private readonly root: string;
  private readonly prefix: string;
  private readonly slots: RecordSlots;
  /** The records that should be there, by key in etcd. */
  private readonly wanted = new Map<string, Wanted>();

  constructor(parts: { etcd: Etcd; clock: Clock; prefix: string }, slots: RecordSlots) {
    this.etcd = parts.etcd;
    this.clock = parts.clock;
    this.root = parts.prefix;
    this.prefix = `${parts.prefix}k/`;
    this.slots = slots;
  }

  /**
   * Shows the lock; true once the record stands, false when the lock was lost before. `wait`: the record of the wait
   * that the lock ended, which goes with the first write that arrives.
   */
  async write(lock: Lock, lease: bigint, wait: string | null = null): Promise<boolean> {
    const key = this.keyOf(lock.key);
    const inherited = this.inheritedBy(lock, lease);
    if (inherited !== null) {
      this.wanted.set(key, { lock, value: inherited.value, revision: inherited.modRevision });
      if (wait !== null) this.slots.forgetWait(wait);
      return lock.held;
    }
    const wanted: Wanted = { lock, value: valueOf(lock), revision: 0 };
    this.wanted.set(key, wanted);
    const when = [{ key: lock.slot.key, modRevision: lock.slotEpoch }];
    const put = { put: key, value: wanted.value, lease };
    const success = wait === null ? [put] : [put, { remove: wait }];
    while (lock.remainingMs() > 0) {
      try {
        const { succeeded, revision } = await this.etcd.txn(
          { when, success, failure: [] },
          txnLimitMs,
        );
        if (succeeded) {
          wanted.revision = revision;
          return lock.held;
        }
        // The slot got a new epoch, or is lost; the lock itself knows which.
        when.length = 0;
      } catch (error) {
        if (!(error instanceof EtcdError) || error.kind === 'refused') throw error;
        // Writing the same again is harmless, so there is no need to look first.
        await sleep(this.clock, pauseMs);
      }
    }
    return false;
  }

  /** Best effort: a record that stays is removed by etcd when the lease ends. */
  async remove(lock: Lock): Promise<void> {
    const key = this.keyOf(lock.key);
    const wanted = this.wanted.get(key);
    const isWanted = wanted?.lock === lock;
    const value = isWanted ? wanted.value : valueOf(lock);
    if (isWanted) this.wanted.delete(key);
    if (await this.slots.removedWith(lock.slot, this.passed(lock.key))) return;
    let modRevision = isWanted ? wanted.revision : 0;
    const untilMs = this.clock.now() + txnLimitMs;
    while (this.clock.now() < untilMs) {
      try {
        // Revision 0 is that of no record: the transaction then only reads which one is there.
        const entry = await this.removeEntry({ key, modRevision });
        if (entry?.value !== value) return;
        modRevision = entry.modRevision;
      } catch (error) {
        if (!(error instanceof EtcdError) || error.kind === 'refused') return;
        await sleep(this.clock, pauseMs);
      }
    }
  }

  /** Told of every change under the ring's prefix. `isOwn`: whether a lease is one of this process's. */
  onChange(change: Change, isOwn: (lease: bigint) => boolean): void {
    if (change.kind === 'delete' || !change.entry.key.startsWith(this.prefix)) return;
    const { entry } = change;
    const isWanted = (): boolean => this.wanted.get(entry.key)?.value === entry.value;
    if (!isOwn(entry.lease) || isWanted()) return;
    // The lock that inherits the record is granted by the same change, and takes it over in a moment.
    this.clock.soon(() => {
      if (isWanted()) return;
      this.removeEntry(entry).catch(() => {
        // A record that could not be removed goes with the lease.
      });
    });
  }

  /** Whether the record of the key came with the slot, under its present epoch: the key is then granted first. */
  isInherited(slot: Slot, key: string): boolean {
    const entry = this.slots.seen(this.keyOf(key));
    return entry?.modRevision === slot.epoch && entry.lease === slot.member?.leaseId;
  }

  private inheritedBy(lock: Lock, lease: bigint): KeyValue | null {
    const entry = this.slots.seen(this.keyOf(lock.key));
    if (entry?.modRevision !== lock.slotEpoch || entry.lease !== lease) return null;
    const isFirst = lock.token === firstTokenOf(entry.modRevision);
    return isFirst && entry.value === inheritedValue(lock.holder) ? entry : null;
  }

  /** The record of a lock that ended, for the transaction that gives its slot up. */
  private passed(key: string): SlotRecord {
    return {
      key: this.keyOf(key),
      inherited: ({ id }: NextOwner) =>
        this.slots.seen(waitKey(this.root, key, id)) === undefined ? null : inheritedValue(id),
    };
  }

  /** Removes the record if it is the one of this revision; else the record that is there, null: none. */
  private async removeEntry({
    key,
    modRevision,
  }: Pick<KeyValue, 'key' | 'modRevision'>): Promise<KeyValue | null> {
    const txn = {
      when: [{ key, modRevision }],
      success: [{ remove: key }],
      failure: [{ get: key }],
    };
    const { found } = await this.etcd.txn(txn, txnLimitMs);
    return found[0] ?? null;
  }

  private keyOf(key: string): string {
    return `${this.prefix}${encodeURIComponent(key)}`;
  }
}

function inheritedValue(holder: string): string {
  return JSON.stringify({ holder });
}

function valueOf(lock: Lock): string {
  return JSON.stringify({ holder: lock.holder, token: String(lock.token) });
}
