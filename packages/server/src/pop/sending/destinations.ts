/**
 * Stands between the popper and the callbacks port, so that a receiver which is dead or slow holds up no callbacks but
 * its own, and a namespace none but callbacks to its own receivers. Synchronous, time only from the clock.
 *
 * Rules:
 *  1. Which call gets a place, and when: `places/places.ts`. Calls to one destination (an origin, as one namespace
 *     meets it) start in the order asked.
 *  2. While the circuit to a destination is open (`breaker.ts`), its calls are answered at once as unmade, with the
 *     time after which to ask again. Waiting here instead would keep claims and memory for a receiver that is known to
 *     be away.
 *  3. A receiver that does not answer within a time limit shorter than usual says nothing by that: the limit was its
 *     client's choice.
 *  4. Over the limits on waiting calls and known destinations a call is answered as unmade too.
 *  5. The request is asked for when it has a place, so that a timer cancelled while it waited is not called; without
 *     one, the call is forgotten. Otherwise `done` is called exactly once, never inside `call`.
 */
import type {
  CallbackDone,
  CallbackResult,
  Callbacks,
  Clock,
  SplitUri,
  Unmade,
} from '@carillon/core';
import { type Admission, type Sign, signOf } from '../places/breaker.ts';
import { unmade } from '../../callback/callback-failure.ts';
import { Fifo } from '../places/fifo.ts';
import {
  type Begin,
  CallingNamespace,
  Destination,
  type QueuedCall,
} from '../places/destination.ts';
import { Places } from '../places/places.ts';

export type { Begin } from '../places/destination.ts';

export interface DestinationsOptions {
  readonly clock: Clock;
  readonly callbacks: Callbacks;
  readonly inFlightMax: number;
  readonly inFlightPerDestinationMax: number;
  /** Calls that may wait, over all destinations. */
  readonly queueLengthMax: number;
  /** Destinations remembered; the longest unused is forgotten first. */
  readonly destinationCountMax?: number;
  /** Time limits below this are a client's own choice. */
  readonly usualLimitMs: number;
  /** The weight of a namespace among others; default 1 for each. */
  readonly shareOf?: (namespace: string) => number;
}

/** The receiver of a call, and the namespace that calls it. */
export interface Addressee {
  readonly uri: string;
  /** The same uri; null: it leads nowhere. */
  readonly split: SplitUri | null;
  readonly namespace: string;
}

/** The part of all waiting calls that one namespace may have, and the part of these to one origin. */
const crowdRatio = 0.9;
const crowdedRatio = 0.8;
/** One namespace has no more than this part of all destinations that are remembered. */
const destinationRatio = 0.5;
/** When there is no room, about so much later there may be. */
const crowdedMs = 2000;
/** Answers to refused calls given in one turn, so that a full queue does not stop the world. */
const refusedCountMax = 100;

export class Destinations {
  private readonly options: DestinationsOptions;
  private readonly clock: Clock;
  private readonly places: Places;
  /** Destinations by namespace and origin. */
  private readonly destinations = new Map<string, Destination>();
  /** The destination asked for last: most pops of a burst are for the same receiver. */
  private newest: { readonly origin: string; readonly destination: Destination } | null = null;
  private readonly namespaces = new Map<string, CallingNamespace>();
  private readonly refused = new Fifo<{ done: CallbackDone; result: CallbackResult }>();
  private queuedCount = 0;
  /** Namespaces with waiting calls. */
  private queueingCount = 0;
  private refusing = false;
  private closed = false;

  constructor(options: DestinationsOptions) {
    this.options = options;
    this.clock = options.clock;
    const { inFlightMax, inFlightPerDestinationMax, shareOf = () => 1 } = options;
    this.places = new Places({
      inFlightMax,
      perDestinationMax: inFlightPerDestinationMax,
      shareOf,
    });
  }

  /** Calls under way. */
  get inFlight(): number {
    return this.places.taken;
  }

  /** Calls that wait for a place. */
  get queued(): number {
    return this.queuedCount;
  }

  /**
   * How long a call had better wait elsewhere: the circuit is open, or its namespace has most of the calls that may
   * wait, or its destination most of these, so that one more would be at the expense of others. 0: it is welcome.
   */
  waitMs({ split, namespace }: Addressee): number {
    const waitingCount = this.namespaces.get(namespace)?.queued ?? 0;
    if (waitingCount > 0 && waitingCount >= this.crowd) return crowdedMs;
    const known = this.known(split?.origin ?? '', namespace);
    if (known === undefined) return 0;
    const { length } = known.queue;
    if (length > 0 && length >= this.crowd * crowdedRatio) return crowdedMs;
    return known.breaker.waitMs(this.clock.now());
  }

  /**
   * Calls that were due until then, and start now, may be late because of their receiver: it was at its limit or left
   * alone at that moment, or its newest sign is a failure (Infinity). -Infinity: it has made none wait.
   */
  delayedUntilMs({ split, namespace }: Addressee): number {
    const known = this.known(split?.origin ?? '', namespace);
    return known?.delayedUntilMs ?? Number.NEGATIVE_INFINITY;
  }

  /** Calls of one namespace that may wait: most of all, divided among the namespaces that have some waiting. */
  private get crowd(): number {
    return (this.options.queueLengthMax * crowdRatio) / Math.max(1, this.queueingCount);
  }

  /** Origins that are left alone for a while. */
  get breakersOpen(): number {
    let open = 0;
    for (const { breaker } of this.destinations.values()) if (breaker.phase !== 'closed') open++;
    return open;
  }

  call({ split, namespace }: Addressee, begin: Begin, done: CallbackDone): void {
    if (this.closed) this.refuse(done, closing);
    else if (split === null) this.callNowhere(begin, done);
    else this.enter(this.destination(split.origin, namespace), { begin, done });
  }

  /** Answers waiting calls as not made, and cuts calls under way. */
  async close(): Promise<void> {
    this.closed = true;
    for (const destination of this.destinations.values()) this.flush(destination, closing);
    await this.options.callbacks.close();
  }

  /** The uri leads nowhere: the port answers so at once. */
  private callNowhere(begin: Begin, done: CallbackDone): void {
    const request = begin();
    if (request !== null) this.options.callbacks.call(request, done);
  }

  private enter(destination: Destination | null, call: QueuedCall): void {
    if (destination === null) {
      this.refuse(call.done, tooManyReceivers);
    } else if (destination.breaker.refuses(this.clock.now())) {
      this.refuse(call.done, this.left(destination));
    } else if (destination.queue.length === 0 && this.places.hasRoom(destination)) {
      this.start(destination, call);
    } else if (this.queuedCount >= this.options.queueLengthMax) {
      this.refuse(call.done, tooManyWaiting);
    } else {
      destination.queue.push(call);
      this.countQueued(destination, 1);
      this.noteDelay(destination);
      this.places.list(destination);
    }
  }

  /** Calls wait because the destination is at its limit. */
  private noteDelay(destination: Destination): void {
    if (destination.queue.length > 0 && this.places.isFull(destination))
      destination.delayedMs = this.clock.now();
  }

  private countQueued({ namespace }: Destination, by: 1 | -1): void {
    this.queuedCount += by;
    namespace.queued += by;
    if (namespace.queued === (by === 1 ? 1 : 0)) this.queueingCount += by;
  }

  /** Makes the call, or answers it at once when the circuit is open. */
  private start(destination: Destination, { begin, done }: QueuedCall): void {
    const nowMs = this.clock.now();
    if (destination.breaker.refuses(nowMs)) return this.refuse(done, this.left(destination));
    const request = begin();
    if (request === null) return;
    const admission = destination.breaker.admit(nowMs);
    const strange = this.places.take(destination);
    const { limitMs } = request;
    this.options.callbacks.call(request, (result) => {
      this.noteDelay(destination);
      this.places.give(destination, strange);
      const sign = this.signOf(result, limitMs);
      if (sign === 'failure') destination.failure = result;
      this.settle(destination, admission, sign);
      done(result);
    });
  }

  private signOf(result: CallbackResult, limitMs: number): Sign {
    const late = result.kind === 'no-answer' && result.reason === 'timeout';
    return late && limitMs < this.options.usualLimitMs ? 'nothing' : signOf(result);
  }

  private settle(destination: Destination, admission: Admission, sign: Sign): void {
    const nowMs = this.clock.now();
    if (destination.breaker.failing) destination.delayedMs = nowMs;
    destination.breaker.settle(admission, sign, nowMs);
    if (sign !== 'nothing') destination.trusted = sign === 'life';
    if (destination.breaker.phase !== 'closed') this.flush(destination, this.left(destination));
    this.places.list(destination);
    this.advance();
  }

  private advance(): void {
    for (let next = this.places.next(); next !== undefined; next = this.places.next()) {
      const call = next.queue.shift();
      if (call === undefined) continue;
      this.countQueued(next, -1);
      this.start(next, call);
      this.places.list(next);
    }
  }

  private flush(destination: Destination, result: CallbackResult): void {
    const { queue } = destination;
    for (let call = queue.shift(); call !== undefined; call = queue.shift()) {
      this.countQueued(destination, -1);
      this.refuse(call.done, result);
    }
  }

  /** The receiver is left alone for a while. */
  private left({ breaker, failure }: Destination): Unmade {
    const known = failure?.kind === 'no-answer' ? ` ${failure.detail}` : '';
    return unmade(`${leftAlone}${known}`, breaker.waitMs(this.clock.now()));
  }

  private refuse(done: CallbackDone, result: CallbackResult): void {
    this.refused.push({ done, result });
    if (this.refusing) return;
    this.refusing = true;
    this.clock.soon(() => this.answerRefused());
  }

  private answerRefused(): void {
    for (let i = 0; i < refusedCountMax; i++) {
      const first = this.refused.shift();
      if (first === undefined) break;
      first.done(first.result);
    }
    this.refusing = this.refused.length > 0;
    if (this.refusing) this.clock.soon(() => this.answerRefused());
  }

  private known(origin: string, name: string): Destination | undefined {
    const { newest } = this;
    if (newest?.origin === origin && newest.destination.namespace.name === name) {
      return newest.destination;
    }
    const destination = this.destinations.get(keyOf(origin, name));
    if (destination !== undefined) this.newest = { origin, destination };
    return destination;
  }

  /** The destination, known or new; null when there are too many, all with calls under way or waiting. */
  private destination(origin: string, name: string): Destination | null {
    const known = this.known(origin, name);
    if (known !== undefined) return known;
    const { destinationCountMax = 16_384 } = this.options;
    const namespace = this.namespaces.get(name) ?? new CallingNamespace(name);
    const greedy = namespace.destinationCount >= destinationCountMax * destinationRatio;
    if (greedy && !this.forgetOne(namespace)) return null;
    if (this.destinations.size >= destinationCountMax && !this.forgetOne(null)) return null;
    const destination = new Destination(namespace);
    namespace.destinationCount++;
    this.namespaces.set(name, namespace);
    this.destinations.set(keyOf(origin, name), destination);
    return destination;
  }

  /**
   * Forgets an idle destination, of any namespace (null) or of one. Busy ones on the way go to the end, not to be met
   * at once again.
   */
  private forgetOne(of: CallingNamespace | null): boolean {
    let left = this.destinations.size;
    for (const [key, destination] of this.destinations) {
      if (left-- === 0) return false;
      this.destinations.delete(key);
      const { namespace } = destination;
      if (destination.isIdle && (of === null || of === namespace)) {
        namespace.destinationCount--;
        this.newest = null;
        if (namespace.isIdle) this.namespaces.delete(namespace.name);
        return true;
      }
      this.destinations.set(key, destination);
    }
    return false;
  }
}

/** No namespace has a space in its name. */
function keyOf(origin: string, namespace: string): string {
  return `${namespace} ${origin}`;
}

const closing = unmade('The member is closing its connections.', crowdedMs);
const tooManyWaiting = unmade('Too many callbacks wait for a place.', crowdedMs);
const tooManyReceivers = unmade('Callbacks to too many receivers are under way.', crowdedMs);
const leftAlone = 'The receiver failed several times in a row and is left alone for a moment.';
