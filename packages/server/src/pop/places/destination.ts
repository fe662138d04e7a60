/** What is known of the receivers of one namespace, and of each of them: what is under way, what waits, and how it fares. */
import type { CallbackDone, CallbackRequest, CallbackResult } from '@carillon/core';
import { Breaker } from './breaker.ts';
import { Fifo } from './fifo.ts';

/** Gives the request when its turn has come; null when it is no longer wanted. */
export type Begin = () => CallbackRequest | null;

/** A call that waits for a place. */
export interface QueuedCall {
  readonly begin: Begin;
  readonly done: CallbackDone;
}

/** Destinations with waiting calls stand in one of these lines of their namespace, at times in two: what they are may change. */
export const lineNames = ['strangers', 'small', 'large'] as const;
export type LineName = (typeof lineNames)[number];

/** A namespace whose callbacks are made here. */
export class CallingNamespace {
  readonly name: string;
  readonly lines: Readonly<Record<LineName, Fifo<Destination>>> = {
    strangers: new Fifo(),
    small: new Fifo(),
    large: new Fifo(),
  };
  inFlight = 0;
  /** Of these, to destinations that have not answered. */
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
}

/** An origin, as one namespace meets it: what another one did there says nothing about it. */
export class Destination {
  readonly namespace: CallingNamespace;
  readonly breaker = new Breaker();
  readonly queue = new Fifo<QueuedCall>();
  readonly inLine: Record<LineName, boolean> = { strangers: false, small: false, large: false };
  inFlight = 0;
  /** Whether the newest sign was one of life. */
  trusted = false;
  /** What opened the circuit. */
  failure: CallbackResult | null = null;

  constructor(namespace: CallingNamespace) {
    this.namespace = namespace;
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.queue.length === 0;
  }
}
