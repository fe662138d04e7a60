/**
 * The visible form of a wait with `durable: true`: `P/w/<key>/<member>` under the lease of a member of the waiting
 * process, from when the lock could not be had at once until the wait is over. The record does not decide which
 * waiter is next; `lock-table.ts` does. Neighbour: `durable.ts`, the same for holders.
 *
 * W1  A wait never lasts longer because of its record, and never fails because of it.
 * W2  A record that arrives after the wait ended is seen by the watch and removed; at the latest it goes with the
 *     lease.
 */
import { type Change, type Etcd, EtcdError } from '../etcd/etcd.ts';
import type { LocalMember } from '../local-member.ts';

const txnLimitMs = 2000;
/** A record that could not be removed goes with the lease. */
const staysBehind = (): void => {};

/** One wait in sight. One of the two is called, once. */
export interface ShownWait {
  /** The wait is over: the record goes, unless it stands for another wait. */
  over(): void;
  /**
   * As `over`, but a record that stands is named instead: the caller removes it with the transaction that shows the
   * holder.
   */
  granted(): string | null;
}

/** Where a member's wait for a key is shown under a ring's prefix. */
export function waitKey(prefix: string, key: string, member: string): string {
  return `${prefix}w/${encodeURIComponent(key)}/${encodeURIComponent(member)}`;
}

export class WaitingRecords {
  private readonly etcd: Etcd;
  private readonly root: string;
  private readonly prefix: string;
  /** How many waits of this process a record stands for, by key in etcd. */
  private readonly wanted = new Map<string, number>();

  constructor(etcd: Etcd, prefix: string) {
    this.etcd = etcd;
    this.root = prefix;
    this.prefix = `${prefix}w/`;
  }

  /** Shows that `member` waits for `key`, until the wait is told to be over. */
  show(key: string, member: LocalMember): ShownWait {
    const record = waitKey(this.root, key, member.id);
    const waits = this.wanted.get(record) ?? 0;
    this.wanted.set(record, waits + 1);
    const value = JSON.stringify({ waiter: member.id });
    let stands = waits > 0;
    const written = stands
      ? Promise.resolve(undefined)
      : this.run({ put: record, value, lease: member.leaseId }).then(() => {
          stands = true;
        });
    const isLast = (): boolean => {
      const left = (this.wanted.get(record) ?? 1) - 1;
      if (left > 0) this.wanted.set(record, left);
      else this.wanted.delete(record);
      return left <= 0;
    };
    const remove = (): void => {
      written.then(() => this.removeUnlessWanted(record)).catch(staysBehind);
    };
    return {
      over: () => {
        if (isLast()) remove();
      },
      granted: () => {
        if (!isLast()) return null;
        if (stands) return record;
        remove();
        return null;
      },
    };
  }

  /** Removes a record that `granted` named, unless another wait has begun meanwhile. */
  forget(record: string): void {
    this.removeUnlessWanted(record).catch(staysBehind);
  }

  /** Told of every change under the ring's prefix. `isOwn`: whether a lease is one of this process's. */
  onChange(change: Change, isOwn: (lease: bigint) => boolean): void {
    if (change.kind === 'delete' || !change.entry.key.startsWith(this.prefix)) return;
    const { key, lease } = change.entry;
    if (isOwn(lease)) this.forget(key);
  }

  private async removeUnlessWanted(record: string): Promise<void> {
    if (!this.wanted.has(record)) await this.run({ remove: record });
  }

  private async run(
    operation: { put: string; value: string; lease: bigint } | { remove: string },
  ): Promise<void> {
    try {
      await this.etcd.txn({ when: [], success: [operation], failure: [] }, txnLimitMs);
    } catch (error) {
      // No lock depends on the record, and one that stays goes with the lease.
      if (!(error instanceof EtcdError)) throw error;
    }
  }
}
