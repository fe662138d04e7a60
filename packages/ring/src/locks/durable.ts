/**
 * The visible form of a lock taken with `durable: true`: `P/k/<key>` with holder and token, under the holder's lease.
 * It grants nothing; the slot does. Written under the condition that the slot's epoch still stands, removed under the
 * condition that it is the very record that was written. A write that arrives after all, when its lock is already
 * over, is seen by the watch and removed.
 */
import { type Clock, sleep } from '@carillon/core';
import { type Change, type Etcd, EtcdError, type KeyValue } from '../etcd/etcd.ts';
import type { Lock } from './lock.ts';

const txnLimitMs = 2000;
const pauseMs = 50;

export class DurableRecords {
  private readonly etcd: Etcd;
  private readonly clock: Clock;
  private readonly prefix: string;
  /** The records that should be there, by key in etcd. */
  private readonly wanted = new Map<string, string>();

  constructor(parts: { etcd: Etcd; clock: Clock; prefix: string }) {
    this.etcd = parts.etcd;
    this.clock = parts.clock;
    this.prefix = `${parts.prefix}k/`;
  }

  /** True once the record stands; false when the lock was lost before. */
  async write(lock: Lock, lease: bigint): Promise<boolean> {
    const key = this.keyOf(lock);
    const value = valueOf(lock);
    this.wanted.set(key, value);
    const when = [{ key: lock.slot.key, modRevision: lock.slotEpoch }];
    const txn = { when, success: [{ put: key, value, lease }], failure: [] };
    while (lock.remainingMs() > 0) {
      try {
        const { succeeded } = await this.etcd.txn(txn, txnLimitMs);
        if (succeeded) return lock.held;
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
    if (this.wanted.get(key) === value) this.wanted.delete(key);
    const read = { when: [], success: [{ get: key }], failure: [] };
    const untilMs = this.clock.now() + txnLimitMs;
    while (this.clock.now() < untilMs) {
      try {
        const entry = (await this.etcd.txn(read, txnLimitMs)).found[0] ?? null;
        if (entry?.value === value) await this.removeEntry(entry);
        return;
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
    if (!isOwn(entry.lease) || this.wanted.get(entry.key) === entry.value) return;
    this.removeEntry(entry).catch(() => {
      // A record that could not be removed goes with the lease.
    });
  }

  private async removeEntry({ key, modRevision }: KeyValue): Promise<void> {
    const txn = { when: [{ key, modRevision }], success: [{ remove: key }], failure: [] };
    await this.etcd.txn(txn, txnLimitMs);
  }

  private keyOf(lock: Lock): string {
    return `${this.prefix}${encodeURIComponent(lock.key)}`;
  }
}

function valueOf(lock: Lock): string {
  return JSON.stringify({ holder: lock.holder, token: String(lock.token) });
}
