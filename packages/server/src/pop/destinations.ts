/**
 * Stands between the popper and the callbacks port, so that a receiver which is dead or slow holds up nobody's
 * callbacks but its own. Synchronous, time only from the clock.
 *
 * Rules:
 *  1. No more than `inFlightMax` calls are under way, and no more than `inFlightPerDestinationMax` to one origin; to
 *     an origin that has not answered lately only a few.
 *  2. Calls to one origin start in the order asked. Between origins turns go round, and origins with few calls
 *     under way go first; the last quarter of all places is theirs alone.
 *  3. While the circuit to an origin is open (`breaker.ts`), its calls are answered at once as unmade, with the time after
 *     which to ask again. Waiting here instead would keep claims and memory for a receiver that is known to be away.
 *  4. Over the limits on waiting calls and known origins a call is answered likewise.
 *  5. The request is asked for when its turn has come, so that a timer cancelled while it waited is not called; without
 *     one, the call is forgotten. Otherwise `done` is called exactly once, never inside `call`.
 */
import type { CallbackRequest, CallbackResult, Callbacks, Clock, Unmade } from '@carillon/core';
import { type Admission, Breaker, signOf } from './breaker.ts';
import { unmade } from './callback-failure.ts';
import { splitUri } from './callback-uri.ts';
import { Fifo } from './fifo.ts';

export interface DestinationsOptions {
  readonly clock: Clock;
  readonly callbacks: Callbacks;
  readonly inFlightMax: number;
  readonly inFlightPerDestinationMax: number;
  /** Calls that may wait, over all origins. */
  readonly queueLengthMax: number;
  /** Origins remembered; the longest unused is forgotten first. */
  readonly destinationCountMax?: number;
}

/** Until an origin has answered, or when it has stopped answering. */
const untrustedCountMax = 8;
/** An origin with fewer calls under way than this goes before the others. */
const smallCount = 16;
/** The rest of what may wait is left to other origins. */
const crowdedRatio = 0.8;
/** When there is no room, about so much later there may be. */
const crowdedMs = 2000;
/** Answers to refused calls given in one turn, so that a full queue does not stop the world. */
const refusedCountMax = 100;

type Done = (result: CallbackResult) => void;

/** Gives the request when its turn has come; null when it is no longer wanted. */
export type Begin = () => CallbackRequest | null;

interface Waiting {
  readonly begin: Begin;
  readonly done: Done;
}

class Destination {
  readonly origin: string;
  readonly breaker = new Breaker();
  readonly queue = new Fifo<Waiting>();
  inFlight = 0;
  /** Whether the newest sign was one of life. */
  trusted = false;
  /** Whether it stands in the line of that name. In both at times: it may have become small while waiting. */
  inSmall = false;
  inLarge = false;
  /** What opened the circuit. */
  failure: CallbackResult | null = null;

  constructor(origin: string) {
    this.origin = origin;
  }
}

export class Destinations {
  private readonly options: DestinationsOptions;
  private readonly clock: Clock;
  private readonly largeMax: number;
  private readonly destinations = new Map<string, Destination>();
  /** Origins with waiting calls and few, or many, under way. */
  private readonly small = new Fifo<Destination>();
  private readonly large = new Fifo<Destination>();
  private readonly refused = new Fifo<{ done: Done; result: CallbackResult }>();
  private inFlightCount = 0;
  private queuedCount = 0;
  private refusing = false;
  private closed = false;

  constructor(options: DestinationsOptions) {
    this.options = options;
    this.clock = options.clock;
    this.largeMax = Math.ceil(options.inFlightMax * 0.75);
  }

  /** Calls under way. */
  get inFlight(): number {
    return this.inFlightCount;
  }

  /** Calls that wait for a place. */
  get queued(): number {
    return this.queuedCount;
  }

  /**
   * How long a call had better wait elsewhere: the circuit is open, or this origin alone fills most of what may wait, so that
   * more of it would be at the expense of others. 0: it is welcome.
   */
  waitMs(uri: string): number {
    const split = splitUri(uri, this.destinations);
    const destination = split === null ? undefined : this.destinations.get(split.origin);
    if (destination === undefined) return 0;
    const { queue, breaker } = destination;
    const crowded = queue.length >= this.options.queueLengthMax * crowdedRatio;
    return crowded ? crowdedMs : breaker.waitMs(this.clock.now());
  }

  /** Origins that are left alone for a while. */
  get breakersOpen(): number {
    let open = 0;
    for (const { breaker } of this.destinations.values()) if (breaker.phase !== 'closed') open++;
    return open;
  }

  get destinationCount(): number {
    return this.destinations.size;
  }

  call(uri: string, begin: Begin, done: Done): void {
    const split = splitUri(uri, this.destinations);
    if (this.closed) this.refuse(done, closing);
    else if (split === null) this.callNowhere(begin, done);
    else this.enter(this.destination(split.origin), { begin, done });
  }

  /** Cuts what waits and what is under way. */
  async close(): Promise<void> {
    this.closed = true;
    for (const destination of this.destinations.values()) this.flush(destination, closing);
    await this.options.callbacks.close();
  }

  /** Not a uri that leads anywhere: the port knows what to say, and says it at once. */
  private callNowhere(begin: Begin, done: Done): void {
    const request = begin();
    if (request !== null) this.options.callbacks.call(request, done);
  }

  private enter(destination: Destination | null, waiting: Waiting): void {
    if (destination === null) {
      this.refuse(waiting.done, tooManyReceivers);
    } else if (destination.breaker.refuses(this.clock.now())) {
      this.refuse(waiting.done, this.left(destination));
    } else if (destination.queue.length === 0 && this.hasRoom(destination)) {
      this.start(destination, waiting);
    } else if (this.queuedCount >= this.options.queueLengthMax) {
      this.refuse(waiting.done, tooManyWaiting);
    } else {
      this.queuedCount++;
      destination.queue.push(waiting);
      this.list(destination);
    }
  }

  private hasRoom(destination: Destination): boolean {
    const { inFlight } = destination;
    const all = inFlight < smallCount ? this.options.inFlightMax : this.largeMax;
    return inFlight < this.limitOf(destination) && this.inFlightCount < all;
  }

  private limitOf({ trusted }: Destination): number {
    const { inFlightPerDestinationMax } = this.options;
    return trusted
      ? inFlightPerDestinationMax
      : Math.min(untrustedCountMax, inFlightPerDestinationMax);
  }

  /** Makes the call, or answers it at once when the circuit is open. */
  private start(destination: Destination, { begin, done }: Waiting): void {
    const nowMs = this.clock.now();
    if (destination.breaker.refuses(nowMs)) return this.refuse(done, this.left(destination));
    const request = begin();
    if (request === null) return;
    const admission = destination.breaker.admit(nowMs);
    destination.inFlight++;
    this.inFlightCount++;
    this.options.callbacks.call(request, (result) => {
      this.settle(destination, admission, result);
      done(result);
    });
  }

  private settle(destination: Destination, admission: Admission, result: CallbackResult): void {
    const sign = signOf(result);
    destination.inFlight--;
    this.inFlightCount--;
    destination.breaker.settle(admission, sign, this.clock.now());
    if (sign !== 'nothing') destination.trusted = sign === 'life';
    if (sign === 'failure') destination.failure = result;
    if (destination.breaker.phase !== 'closed') this.flush(destination, this.left(destination));
    this.list(destination);
    this.advance();
  }

  /** Puts an origin that could start a call in its line, once. */
  private list(destination: Destination): void {
    const { queue, inFlight, inSmall, inLarge } = destination;
    if (queue.length === 0 || inFlight >= this.limitOf(destination)) return;
    if (inFlight < smallCount) {
      if (!inSmall) this.small.push(destination);
      destination.inSmall = true;
    } else {
      if (!inLarge) this.large.push(destination);
      destination.inLarge = true;
    }
  }

  private advance(): void {
    for (let next = this.nextInLine(); next !== undefined; next = this.nextInLine()) {
      // Both may have changed since it took its place; when they change back it is listed again.
      if (next.inFlight >= this.limitOf(next)) continue;
      const waiting = next.queue.shift();
      if (waiting === undefined) continue;
      this.queuedCount--;
      this.start(next, waiting);
      this.list(next);
    }
  }

  private nextInLine(): Destination | undefined {
    if (this.inFlightCount >= this.options.inFlightMax) return undefined;
    const small = this.small.shift();
    if (small !== undefined) {
      small.inSmall = false;
      return small;
    }
    const large = this.inFlightCount < this.largeMax ? this.large.shift() : undefined;
    if (large !== undefined) large.inLarge = false;
    return large;
  }

  private flush({ queue }: Destination, result: CallbackResult): void {
    for (let waiting = queue.shift(); waiting !== undefined; waiting = queue.shift()) {
      this.queuedCount--;
      this.refuse(waiting.done, result);
    }
  }

  /** The receiver is left alone for a while. */
  private left({ breaker, failure }: Destination): Unmade {
    const known = failure?.kind === 'no-answer' ? ` ${failure.detail}` : '';
    return unmade(`${leftAlone}${known}`, breaker.waitMs(this.clock.now()));
  }

  private refuse(done: Done, result: CallbackResult): void {
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

  /** null when there are too many, all with calls under way or waiting. */
  private destination(origin: string): Destination | null {
    const known = this.destinations.get(origin);
    if (known !== undefined) return known;
    const { destinationCountMax = 16_384 } = this.options;
    if (this.destinations.size >= destinationCountMax && !this.forgetOne()) return null;
    const destination = new Destination(origin);
    this.destinations.set(origin, destination);
    return destination;
  }

  /** The busy ones it meets go to the end, so that they are not looked at again and again. */
  private forgetOne(): boolean {
    let left = this.destinations.size;
    for (const [origin, destination] of this.destinations) {
      if (left-- === 0) return false;
      this.destinations.delete(origin);
      if (destination.inFlight === 0 && destination.queue.length === 0) return true;
      this.destinations.set(origin, destination);
    }
    return false;
  }
}

const closing = unmade('The member is closing its connections.', crowdedMs);
const tooManyWaiting = unmade('Too many callbacks wait for their turn.', crowdedMs);
const tooManyReceivers = unmade('Callbacks to too many receivers are under way.', crowdedMs);
const leftAlone = 'The receiver failed several times in a row and is left alone for a moment.';
