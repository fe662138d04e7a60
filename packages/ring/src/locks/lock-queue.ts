/** The holder of one key and its waiters, first come first served. A doubly linked list: leaving the middle is free. */
import { invariant } from '@carillon/core';
import type { Lock } from './lock.ts';

export interface Waiter {
  readonly grant: (lock: Lock) => void;
  readonly fail: (error: Error) => void;
  previous: Waiter | null;
  next: Waiter | null;
}

export class LockQueue {
  holder: Lock | null = null;
  private first: Waiter | null = null;
  private last: Waiter | null = null;

  get empty(): boolean {
    return this.holder === null && this.first === null;
  }

  get waiting(): boolean {
    return this.first !== null;
  }

  push(waiter: Waiter): void {
    invariant(waiter.previous === null && waiter.next === null, 'a waiter waits in one place');
    waiter.previous = this.last;
    if (this.last === null) this.first = waiter;
    else this.last.next = waiter;
    this.last = waiter;
  }

  shift(): Waiter | null {
    const { first } = this;
    if (first !== null) this.remove(first);
    return first;
  }

  remove(waiter: Waiter): void {
    invariant(waiter.previous !== null || this.first === waiter, 'a waiter leaves its own queue');
    if (waiter.previous === null) this.first = waiter.next;
    else waiter.previous.next = waiter.next;
    if (waiter.next === null) this.last = waiter.previous;
    else waiter.next.previous = waiter.previous;
    waiter.previous = null;
    waiter.next = null;
  }
}
