/**
 * The port to etcd: the few verbs that membership and locks need, and nothing else. `etcd-client.ts`
 * speaks to a real etcd, `testing/simulated-etcd.ts` is one in memory; `etcd.contract.ts` holds both to
 * the rules written here.
 *
 * E1  Every call settles within its `limitMs`. Without an answer the call may or may not have acted:
 *     `no-answer`. Only `not-sent` promises that it did not.
 * E2  Reads are linearizable: they see everything acknowledged before they were sent.
 * E3  A transaction is never repeated by the port after a lost answer; the caller reads first.
 * E4  `keepAlive` succeeds only when the leader that renewed the lease is shown to have been the leader
 *     *after* the renewal. An isolated former leader would otherwise acknowledge renewals that its
 *     successor never learns of.
 * E5  A watch delivers every change after `fromRevision` in order and once, all changes of one revision
 *     together, or ends with an error. It never skips.
 */
import type { Cancel } from '@carillon/core';

export interface KeyValue {
  readonly key: string;
  readonly value: string;
  /** The revision that created the key; a key deleted and made again gets a new one. */
  readonly createRevision: number;
  /** The revision that last wrote it. */
  readonly modRevision: number;
  /** The lease the key lives under; 0n: none. */
  readonly lease: bigint;
}

/** Holds when the key's revision is exactly this one. `createRevision: 0` means: the key is absent. */
export type Compare =
  | { readonly key: string; readonly createRevision: number }
  | { readonly key: string; readonly modRevision: number };

export type Operation =
  | { readonly put: string; readonly value: string; readonly lease: bigint }
  | { readonly remove: string }
  | { readonly get: string };

/** `success` runs when every comparison holds, else `failure`; at most 128 operations and comparisons each. */
export interface Txn {
  readonly when: readonly Compare[];
  readonly success: readonly Operation[];
  readonly failure: readonly Operation[];
}

/** Operations that etcd allows in one transaction by default (`--max-txn-ops`). */
export const txnOperationsMax = 128;

export interface TxnAnswer {
  readonly succeeded: boolean;
  /** The store's revision when the transaction ran; the keys it wrote have this `modRevision`. */
  readonly revision: number;
  /** One element per `get` of the branch that ran, in order; null: absent. */
  readonly found: readonly (KeyValue | null)[];
}

export interface RangeAnswer {
  readonly revision: number;
  readonly entries: readonly KeyValue[];
}

export type Change =
  | { readonly kind: 'put'; readonly entry: KeyValue }
  | { readonly kind: 'delete'; readonly key: string; readonly revision: number };

export interface WatchHandlers {
  /** The server has taken the watch; everything from here on will be delivered. */
  onOpen(): void;
  onChanges(revision: number, changes: readonly Change[]): void;
  /** Called at most once, never after the watch was cancelled. */
  onEnd(error: EtcdError): void;
}

export interface Etcd {
  /** Every entry whose key starts with `prefix`, as of one revision. */
  range(prefix: string, limitMs: number): Promise<RangeAnswer>;
  txn(txn: Txn, limitMs: number): Promise<TxnAnswer>;
  /** The caller picks the id, so that a lease whose answer was lost can still be revoked. Returns the granted TTL. */
  grantLease(id: bigint, ttlMs: number, limitMs: number): Promise<number>;
  /** Returns the renewed TTL. `proofKey`: any key the caller may read, used to prove the leader (E4). */
  keepAlive(id: bigint, proofKey: string, limitMs: number): Promise<number>;
  /** Also succeeds when the lease is already gone. */
  revokeLease(id: bigint, limitMs: number): Promise<void>;
  watch(prefix: string, fromRevision: number, handlers: WatchHandlers): Cancel;
  close(): Promise<void>;
}

export type EtcdErrorKind =
  /** No answer came: the call may have acted, or act later. */
  | 'no-answer'
  /** The call never left: it has not acted and will not. */
  | 'not-sent'
  /** The wanted revision no longer exists: read everything again. */
  | 'compacted'
  /** The lease does not exist (any more). */
  | 'lease-gone'
  /** etcd understood and said no: permissions, quota, a malformed request. */
  | 'refused';

export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly kind: EtcdErrorKind;
  constructor(kind: EtcdErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** The kind of an error thrown by the port; anything else is a defect and passes through. */
export function etcdErrorKind(error: unknown): EtcdErrorKind {
  if (error instanceof EtcdError) return error.kind;
  throw error;
}
