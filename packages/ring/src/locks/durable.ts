/**
 * The visible form of a lock taken with `durable: true`: `P/k/<key>` with holder and token, under the holder's lease.
 * It grants nothing; the slot does. Written under the condition that the slot's epoch still stands, removed under the
 * condition that it is the very record that was written, or together with the slot. A write that arrives after all,
 * when its lock is already over, is seen by the watch and removed.
 *
 * A key that moves to another process costs three transactions one after the other, and no other beside them: the slot
 * goes with the record of its lock, the slot is claimed, the record of the new holder replaces that of its wait.
 */
import { type Clock, sleep } from '@carillon/core';
import { type Change, type Etcd, EtcdError, type KeyValue } from '../etcd/etcd.ts';
import type { Slot } from '../slots/slot.ts';
import type { Lock } from './lock.ts';

const txnLimitMs = 2000;
const pauseMs = 50;

/** The part of the slots that the records use. */
export interface RecordSlots {
  /** Removes a record with its slot, if the slot is given up in this moment. True: the record is gone. */
  removedWith(slot: Slot, key: string): Promise<boolean>;
}

interface Wanted {
  readonly value: string;
  /** The revision that etcd gave the record; 0: not known yet. */
  revision: number;
}

export class DurableRecords {
  private readonly etcd: Etcd;
  private readonly clock: Clock;
  private readonly prefix: string;
  private readonly slots: RecordSlots;
  /** The records that should be there, by key in etcd. */
  private readonly wanted = new Map<string, Wanted>();

  constructor(parts: { etcd: Etcd; clock: Clock; prefix: string }, slots: RecordSlots) {
    this.etcd = parts.etcd;
    this.clock = parts.clock;
    this.prefix = `${parts.prefix}k/`;
    this.slots = slots;
  }

  /**
   * Shows the lock; true once the record stands, false when the lock was lost before. `wait`: the record of the wait
   * that the lock ended, which goes with the first write that arrives.
   */
  async write(lock: Lock, lease: bigint, wait: string | null = null): Promise<boolean> {
    const key = this.keyOf(lock);
    const wanted: Wanted = { value: valueOf(lock), revision: 0 };
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
    const key = this.keyOf(lock);
    const value = valueOf(lock);
    const wanted = this.wanted.get(key);
    const isWanted = wanted?.value === value;
    if (isWanted) this.wanted.delete(key);
    if (await this.slots.removedWith(lock.slot, key)) return;
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
    if (!isOwn(entry.lease) || this.wanted.get(entry.key)?.value === entry.value) return;
    this.removeEntry(entry).catch(() => {
      // A record that could not be removed goes with the lease.
    });
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

  private keyOf(lock: Lock): string {
    return `${this.prefix}${encodeURIComponent(lock.key)}`;
  }
}

function valueOf(lock: Lock): string {
  return JSON.stringify({ holder: lock.holder, token: String(lock.token) });
}
