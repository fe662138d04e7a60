/**
 * The state of a simulated etcd: keys with revisions, leases, history, compaction. Synchronous and
 * without a network; `simulated-etcd.ts` puts clients, delays and faults around it.
 */
import { type Change, EtcdError, type KeyValue, type Operation, type Txn } from '../etcd/etcd.ts';
import { txnOperationsMax, type TxnAnswer } from '../etcd/etcd.ts';

interface StoredLease {
  readonly ttlMs: number;
  expiresAtMs: number;
  readonly keys: Set<string>;
}

export interface Batch {
  readonly revision: number;
  readonly changes: readonly Change[];
}

export class SimulatedStore {
  readonly entries = new Map<string, KeyValue>();
  readonly leases = new Map<bigint, StoredLease>();
  revision = 1;
  compacted = 0;
  private history: Batch[] = [];
  private readonly onBatch: (batch: Batch) => void;

  constructor(onBatch: (batch: Batch) => void) {
    this.onBatch = onBatch;
  }

  range(prefix: string): KeyValue[] {
    const found = [...this.entries.values()].filter((entry) => entry.key.startsWith(prefix));
    return found.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  txn(txn: Txn): TxnAnswer {
    const { when, success, failure } = txn;
    if (Math.max(when.length, success.length, failure.length) > txnOperationsMax) {
      throw new EtcdError('refused', 'etcd: too many operations in txn request.');
    }
    const succeeded = when.every((compare) => {
      const entry = this.entries.get(compare.key);
      return 'createRevision' in compare
        ? (entry?.createRevision ?? 0) === compare.createRevision
        : (entry?.modRevision ?? 0) === compare.modRevision;
    });
    const found = this.run(succeeded ? success : failure);
    return { succeeded, revision: this.revision, found };
  }

  grant(id: bigint, ttlMs: number, nowMs: number): number {
    if (this.leases.has(id)) throw new EtcdError('refused', 'etcd: lease already exists.');
    this.leases.set(id, { ttlMs, expiresAtMs: nowMs + ttlMs, keys: new Set() });
    return ttlMs;
  }

  renew(id: bigint, nowMs: number): number {
    const lease = this.leases.get(id);
    if (lease === undefined) throw new EtcdError('lease-gone', `etcd: lease ${id} is gone.`);
    lease.expiresAtMs = nowMs + lease.ttlMs;
    return lease.ttlMs;
  }

  /** Ends a lease and deletes its keys in one revision. */
  revoke(id: bigint): void {
    const lease = this.leases.get(id);
    if (lease === undefined) return;
    this.leases.delete(id);
    this.run([...lease.keys].map((key) => ({ remove: key })));
  }

  /** Acts as a new leader: how much of each TTL had passed is lost with the old one, so every lease starts anew. */
  extendAll(nowMs: number): void {
    for (const lease of this.leases.values()) lease.expiresAtMs = nowMs + lease.ttlMs;
  }

  expired(nowMs: number): bigint[] {
    return [...this.leases].filter(([, lease]) => lease.expiresAtMs <= nowMs).map(([id]) => id);
  }

  compact(): void {
    this.compacted = this.revision;
    this.history = [];
  }

  /** Everything from `fromRevision` on; null when part of it is compacted away. */
  since(fromRevision: number, prefix: string): Batch[] | null {
    if (fromRevision <= this.compacted) return null;
    return this.history
      .filter((batch) => batch.revision >= fromRevision)
      .map((batch) => only(batch, prefix))
      .filter((batch) => batch.changes.length > 0);
  }

  private run(operations: readonly Operation[]): (KeyValue | null)[] {
    for (const operation of operations) {
      const lease = 'put' in operation ? operation.lease : 0n;
      if (lease !== 0n && !this.leases.has(lease)) {
        throw new EtcdError('lease-gone', 'etcd: requested lease not found.');
      }
    }
    const revision = this.revision + 1;
    const found: (KeyValue | null)[] = [];
    const changes: Change[] = [];
    for (const operation of operations) {
      if ('get' in operation) found.push(this.entries.get(operation.get) ?? null);
      else if ('put' in operation) changes.push(this.put(operation, revision));
      else if (this.entries.has(operation.remove)) {
        this.detach(operation.remove);
        this.entries.delete(operation.remove);
        changes.push({ kind: 'delete', key: operation.remove, revision });
      }
    }
    if (changes.length > 0) {
      this.revision = revision;
      this.history.push({ revision, changes });
      this.onBatch({ revision, changes });
    }
    return found;
  }

  private put(operation: Extract<Operation, { put: string }>, revision: number): Change {
    const { put: key, value, lease } = operation;
    const createRevision = this.entries.get(key)?.createRevision ?? revision;
    this.detach(key);
    const entry: KeyValue = { key, value, createRevision, modRevision: revision, lease };
    this.entries.set(key, entry);
    this.leases.get(lease)?.keys.add(key);
    return { kind: 'put', entry };
  }

  private detach(key: string): void {
    const lease = this.entries.get(key)?.lease;
    if (lease !== undefined) this.leases.get(lease)?.keys.delete(key);
  }
}

export function only(batch: Batch, prefix: string): Batch {
  const changes = batch.changes.filter((change) =>
    (change.kind === 'put' ? change.entry.key : change.key).startsWith(prefix),
  );
  return { revision: batch.revision, changes };
}
