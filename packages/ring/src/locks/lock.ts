/**
 * One granted lock. Its answers are about the present moment: `remainingMs` is computed when asked, so that a process
 * that was stopped for a while learns the truth with its first question. The signals are made only when they are
 * first read: most locks are held for microseconds.
 */
import { invariant } from '@carillon/core';
import { shown } from '../arguments.ts';
import { LockLostError, type LossReason, RingUsageError } from '../errors.ts';
import type { LocalMember } from '../local-member.ts';
import { countersPerEpoch, type Slot, trustedMs } from '../slots/slot.ts';

/** The part of the lock table that a lock uses. */
export interface LockOwner {
  release(lock: Lock): void;
}

const done = Promise.resolve();

export class Lock implements AsyncDisposable {
  readonly key: string;
  readonly slot: Slot;
  private member: LocalMember;
  private readonly owner: LockOwner;
  private readonly epoch: number;
  private readonly counter: number;
  /** Set by the ring for durable locks: runs once, when the lock is released or lost. */
  onRelease: (() => Promise<void>) | null = null;
  private end: LossReason | 'released' | null = null;
  private after = done;
  private asked = false;
  private lostController: AbortController | null = null;
  private revokingController: AbortController | null = null;

  constructor(
    key: string,
    granted: { slot: Slot; member: LocalMember; counter: number },
    owner: LockOwner,
  ) {
    this.key = key;
    this.slot = granted.slot;
    this.member = granted.member;
    this.epoch = granted.slot.epoch;
    this.counter = granted.counter;
    invariant(this.epoch > 0, 'a lock is granted under an epoch');
    this.owner = owner;
  }

  /** Grows with every grant of this key, in any process. Send it to the resource that the lock protects. */
  get token(): bigint {
    return BigInt(this.epoch) * BigInt(countersPerEpoch) + BigInt(this.counter);
  }

  /** The member that holds it. */
  get holder(): string {
    return this.member.id;
  }

  /** The revision of the slot's record under which it was granted. */
  get slotEpoch(): number {
    return this.epoch;
  }

  get held(): boolean {
    return this.end === null;
  }

  /** Aborts when the key is about to move: please finish. The lock is still valid. */
  get revoking(): AbortSignal {
    this.revokingController ??= new AbortController();
    if (this.asked) this.revokingController.abort();
    return this.revokingController.signal;
  }

  /** Aborts the moment the lock can no longer be trusted, with a `LockLostError` as reason. Not after a release. */
  get lost(): AbortSignal {
    this.lostController ??= new AbortController();
    if (this.end !== null && this.end !== 'released') {
      this.lostController.abort(new LockLostError(this.key, this.end));
    }
    return this.lostController.signal;
  }

  /** How long the lock may be trusted without another answer from etcd; 0 or less: not any more. */
  remainingMs(): number {
    return this.end === null ? trustedMs(this.slot) : 0;
  }

  /** Throws LockLostError unless the lock may be trusted for at least `minMs` more. */
  assertValid(minMs = 0): void {
    if (typeof minMs !== 'number' || !(minMs >= 0)) {
      throw new RingUsageError(`ring: minMs is ${shown(minMs)}; 0 or more is right.`);
    }
    if (this.end !== null) throw new LockLostError(this.key, this.end);
    const leftMs = trustedMs(this.slot);
    if (leftMs <= 0) throw new LockLostError(this.key, 'cut-off');
    if (leftMs < minMs) throw new LockLostError(this.key, 'too-short');
  }

  /** Gives it back; the next one in line gets it at once. Again, or after a loss: nothing happens. */
  release(): Promise<void> {
    this.owner.release(this);
    return this.after;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** By the table only: the lock is over. False when it was over before. */
  finish(reason: LossReason | 'released'): boolean {
    if (this.end !== null) return false;
    this.end = reason;
    this.after = this.onRelease?.() ?? done;
    if (reason !== 'released') this.lostController?.abort(new LockLostError(this.key, reason));
    return true;
  }

  /** By the table only: the slot went to another member of this process. */
  follow(member: LocalMember): void {
    this.member = member;
  }

  /** By the table only: the slot is moving away. */
  ask(): void {
    if (this.asked || this.end !== null) return;
    this.asked = true;
    this.revokingController?.abort();
  }
}
