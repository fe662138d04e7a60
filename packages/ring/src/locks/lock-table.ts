/**
 * The locks of one process: the holder and the waiters of each key. No etcd here: inside an owned slot a lock is a
 * matter of this process alone. `slots.ts` says when a slot may grant, must finish, or is lost.
 *
 * T1  One holder per key. The next is granted in the order of asking, at once when the key is given back.
 * T2  A wait that is aborted, timed out or refused leaves nothing behind: no queue, listener or alarm.
 * T3  A slot's `held` is the number of locks in it that are neither released nor lost.
 */
import { type Clock, invariant } from '@carillon/core';
import { LockTimeoutError, type LossReason, RingClosedError, RingFullError } from '../errors.ts';
import { Lock } from './lock.ts';
import { LockQueue, type Waiter } from './lock-queue.ts';
import type { Slot } from '../slots/slot.ts';

/** The part of the slots that the locks use. */
export interface LockSlots {
  grantable(slot: Slot): boolean;
  nextCounter(slot: Slot): number;
  onIdle(slot: Slot): void;
}

export interface WaitOptions {
  /** Ends the wait with the signal's reason. Has no effect once the lock is granted. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the wait with LockTimeoutError. Default: waits for ever. */
  readonly timeoutMs?: number | undefined;
}

/** Held and waiting locks of one process together; beyond it `lock` is refused. */
const locksMax = 1_000_000;

export class LockTable {
  private readonly clock: Clock;
  private readonly slots: LockSlots;
  /** The probable reason why a wait ran out of time, as a sentence; empty: none is known. */
  private readonly hint: () => string;
  /** By slot index, then by key. Keys that are neither held nor waited for have no queue. */
  private readonly keys = new Map<number, Map<string, LockQueue>>();
  private size = 0;
  private closed = false;

  constructor(clock: Clock, slots: LockSlots, hint: () => string = () => '') {
    this.clock = clock;
    this.slots = slots;
    this.hint = hint;
  }

  /** Locks held and waited for. */
  get count(): number {
    return this.size;
  }

  tryLock(slot: Slot, key: string): Lock | null {
    if (this.closed || this.size >= locksMax || !this.slots.grantable(slot)) return null;
    if (this.keys.get(slot.index)?.has(key) === true) return null;
    this.size++;
    return this.grant(slot, key, this.queue(slot, key));
  }

  lock(slot: Slot, key: string, options: WaitOptions): Promise<Lock> {
    if (options.signal?.aborted === true) return Promise.reject(options.signal.reason as Error);
    if (this.closed) return Promise.reject(new RingClosedError());
    if (this.size >= locksMax) {
      return Promise.reject(new RingFullError(`ring: more than ${locksMax} locks in one process.`));
    }
    const lock = this.tryLock(slot, key);
    return lock === null ? this.wait(slot, key, options) : Promise.resolve(lock);
  }

  /** The lock that is held on the key; null: none. */
  holder(slot: Slot, key: string): Lock | null {
    return this.keys.get(slot.index)?.get(key)?.holder ?? null;
  }

  /** Keys that are held, up to `max` of them. */
  heldKeys(max: number): string[] {
    const held: string[] = [];
    for (const queues of this.keys.values()) {
      for (const [key, { holder }] of queues) {
        if (holder !== null && held.push(key) >= max) return held;
      }
    }
    return held;
  }

  release(lock: Lock): void {
    if (lock.finish('released')) this.free(lock);
  }

  /** Locks may be granted in the slot: the key that `isFirst` names has its turn before all others. */
  onGrantable(slot: Slot, isFirst: (key: string) => boolean = () => false): void {
    const queues = [...(this.keys.get(slot.index) ?? [])];
    const first = queues.findIndex(([key]) => isFirst(key));
    if (first > 0) queues.unshift(...queues.splice(first, 1));
    for (const [key, queue] of queues) this.grantNext(slot, key, queue);
  }

  /** Gives the locks in the slot to the member of this process that owns it now, and returns them. */
  onMoved(slot: Slot): readonly Lock[] {
    const { member } = slot;
    invariant(member !== null, 'a slot moves to a member');
    const queues = [...(this.keys.get(slot.index)?.values() ?? [])];
    const holders = queues.flatMap(({ holder }) => (holder === null ? [] : [holder]));
    for (const holder of holders) holder.follow(member);
    return holders;
  }

  onRevoking(slot: Slot): void {
    for (const queue of this.keys.get(slot.index)?.values() ?? []) queue.holder?.ask();
  }

  onLost(slot: Slot, reason: LossReason): void {
    for (const queue of this.keys.get(slot.index)?.values() ?? []) {
      const { holder } = queue;
      if (holder?.finish(reason) === true) this.free(holder);
    }
  }

  /** Ends every wait with an error; holders stay until they finish or are lost. */
  close(): void {
    this.closed = true;
    for (const queues of this.keys.values()) {
      for (const queue of queues.values()) {
        for (let waiter = queue.shift(); waiter !== null; waiter = queue.shift()) {
          waiter.fail(new RingClosedError());
        }
      }
    }
    for (const [index, queues] of this.keys) {
      for (const [key, queue] of queues) this.tidy(index, key, queue);
    }
  }

  private wait(slot: Slot, key: string, options: WaitOptions): Promise<Lock> {
    const { signal, timeoutMs } = options;
    const queue = this.queue(slot, key);
    this.size++;
    return new Promise<Lock>((resolve, reject) => {
      const leave = (error: Error): void => {
        queue.remove(waiter);
        this.tidy(slot.index, key, queue);
        waiter.fail(error);
      };
      const onAbort = (): void => leave(signal?.reason as Error);
      const settle = (): void => {
        signal?.removeEventListener('abort', onAbort);
        cancelTimeout();
      };
      const waiter: Waiter = {
        grant: (lock) => {
          settle();
          resolve(lock);
        },
        fail: (error) => {
          settle();
          this.size--;
          reject(error);
        },
        previous: null,
        next: null,
      };
      const cancelTimeout =
        timeoutMs === undefined
          ? () => {}
          : this.clock.at(this.clock.now() + timeoutMs, () =>
              leave(new LockTimeoutError(key, timeoutMs, this.hint())),
            );
      signal?.addEventListener('abort', onAbort, { once: true });
      queue.push(waiter);
    });
  }

  private queue(slot: Slot, key: string): LockQueue {
    const queues = this.keys.get(slot.index) ?? new Map<string, LockQueue>();
    if (queues.size === 0) this.keys.set(slot.index, queues);
    const queue = queues.get(key) ?? new LockQueue();
    queues.set(key, queue);
    return queue;
  }

  private grant(slot: Slot, key: string, queue: LockQueue): Lock {
    const { member } = slot;
    invariant(member !== null, 'a slot grants under a member');
    invariant(slot.state === 'owned', 'a slot grants while it is owned');
    invariant(queue.holder === null, 'a key has one holder');
    const lock = new Lock(key, { slot, member, counter: this.slots.nextCounter(slot) }, this);
    queue.holder = lock;
    slot.held++;
    return lock;
  }

  private grantNext(slot: Slot, key: string, queue: LockQueue): void {
    if (queue.holder !== null || !queue.waiting || !this.slots.grantable(slot)) return;
    const waiter = queue.shift();
    waiter?.grant(this.grant(slot, key, queue));
  }

  /** The lock is over: the next in line, or the slot may be idle. */
  private free(lock: Lock): void {
    const { slot, key } = lock;
    const queue = this.keys.get(slot.index)?.get(key);
    if (queue?.holder !== lock) return;
    queue.holder = null;
    slot.held--;
    this.size--;
    invariant(slot.held >= 0 && this.size >= 0, 'no more locks end than were granted');
    this.grantNext(slot, key, queue);
    this.tidy(slot.index, key, queue);
    if (slot.held === 0) this.slots.onIdle(slot);
  }

  private tidy(index: number, key: string, queue: LockQueue): void {
    if (!queue.empty) return;
    const queues = this.keys.get(index);
    if (queues?.get(key) !== queue) return;
    queues.delete(key);
    if (queues.size === 0) this.keys.delete(index);
  }
}
