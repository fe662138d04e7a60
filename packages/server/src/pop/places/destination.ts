/** A namespace with its receivers, and one of these receivers: calls under way, waiting calls, and signs of life. */
import type { CallbackDone, CallbackRequest, CallbackResult } from '@carillon/core';
import { Breaker } from './breaker.ts';
import { Fifo } from './fifo.ts';

/** Gives the request when it has a place; null when it is no longer wanted. */
export type Begin = () => CallbackRequest | null;

/** A call that waits for a place. */
export interface QueuedCall {
  readonly begin: Begin;
  readonly done: CallbackDone;
}

/**
 * Destinations with waiting calls stand in one of these lines of their namespace, at times in two: a destination may
 * grow, and come to be trusted.
 */
export type LineName = 'strangers' | 'small' | 'large';

/** A namespace whose callbacks are made here. */
export class CallingNamespace {
  readonly name: string;
  readonly lines: Readonly<Record<LineName, Fifo<Destination>>> = {
    strangers: new Fifo(),
    small: new Fifo(),
    large: new Fifo(),
  };
  inFlight = 0;
  /** The calls under way to destinations that have not answered. */
  strange = 0;
  /** Calls that wait for a place. */
  queued = 0;
  destinationCount = 0;

  constructor(name: string) {
    this.name = name;
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.queued === 0 && this.destinationCount === 0;
  }

  /** Whether a destination stands in one of the lines. */
  get isWaiting(): boolean {
    const { strangers, small, large } = this.lines;
    return strangers.length > 0 || small.length > 0 || large.length > 0;
  }
}

/** An origin, as one namespace meets it: calls of another namespace say nothing about it. */
export class Destination {
  readonly namespace: CallingNamespace;
  readonly breaker = new Breaker();
  readonly queue = new Fifo<QueuedCall>();
  readonly inLine: Record<LineName, boolean> = { strangers: false, small: false, large: false };
  inFlight = 0;
  /** The last moment at which calls waited for this receiver, as far as it answers now. */
  delayedMs = Number.NEGATIVE_INFINITY;
  /** Whether the newest sign was one of life. */
  trusted = false;
  /** The failure that opened the circuit. */
  failure: CallbackResult | null = null;

  constructor(namespace: CallingNamespace) {
    this.namespace = namespace;
  }

  /** Calls that are due until then may be late because of this receiver. */
  get delayedUntilMs(): number {
    return this.breaker.failing ? Number.POSITIVE_INFINITY : this.delayedMs;
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.queue.length === 0;
  }
}
