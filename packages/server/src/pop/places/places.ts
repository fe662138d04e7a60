/**
 * Which callbacks get the places. Pure but for its counters: it starts no call itself.
 *
 *  1. No more than `inFlightMax` calls are under way, and no more than `perDestinationMax` to one destination; to one
 *     that has not answered, or has stopped answering, only a few.
 *  2. Destinations that have not answered take no more than a quarter of all places for one namespace, and half of all
 *     together but for namespaces with few under way: a place at a receiver that does not answer is gone for as long as
 *     the time limit lasts. When they have taken half of their places, each has one: a new one gets a place beside many
 *     that do not answer.
 *  3. The last quarter of all places is for destinations with few calls under way, the last eighth for namespaces with
 *     few: these never wait until others have finished.
 *  4. A free place goes to the namespace with the fewest under way for its share; within a namespace destinations take
 *     turns, first the ones with few calls under way.
 */
import { invariant } from '@carillon/core';
import type { CallingNamespace, Destination, LineName } from './destination.ts';

export interface PlacesOptions {
  readonly inFlightMax: number;
  readonly perDestinationMax: number;
  /** The weight of a namespace among others. */
  readonly shareOf: (namespace: string) => number;
}

/** Calls under way to a destination that has not answered, or has stopped answering. */
const strangeCountMax = 8;
/** A destination with fewer calls under way than this goes before the others. */
const smallCount = 16;
/** Parts of all places. */
const largeRatio = 3 / 4;
const smallRatio = 7 / 8;
const strangeRatio = 1 / 2;
const strangeOfNamespaceRatio = 1 / 4;
const smallNamespaceRatio = 1 / 16;

export class Places {
  private readonly options: PlacesOptions;
  /** Places that large destinations, and small ones of large namespaces, leave to others. */
  private readonly largeMax: number;
  private readonly smallMax: number;
  /** Places for destinations that have not answered: of all namespaces, and of one. */
  private readonly strangeMax: number;
  private readonly strangeOfNamespaceMax: number;
  /** A namespace with fewer calls under way than this is small. */
  private readonly smallNamespaceCount: number;
  /** Namespaces with destinations in line. */
  private readonly waiting = new Set<CallingNamespace>();
  private count = 0;
  private strange = 0;

  constructor(options: PlacesOptions) {
    this.options = options;
    const { inFlightMax } = options;
    this.largeMax = Math.ceil(inFlightMax * largeRatio);
    this.smallMax = Math.ceil(inFlightMax * smallRatio);
    this.strangeMax = Math.ceil(inFlightMax * strangeRatio);
    this.strangeOfNamespaceMax = Math.ceil(inFlightMax * strangeOfNamespaceRatio);
    this.smallNamespaceCount = Math.ceil(inFlightMax * smallNamespaceRatio);
  }

  get taken(): number {
    return this.count;
  }

  /** Whether the destination itself has as many calls under way as it may have, however many places are free. */
  isFull(destination: Destination): boolean {
    return destination.inFlight >= this.limitOf(destination);
  }

  /** Whether a call may start there now. */
  hasRoom(destination: Destination): boolean {
    return this.fits(destination) && this.count < this.mostFor(destination);
  }

  /**
   * Takes a place, and returns the number that `give` wants with it: 1 for a destination that has not answered, else 0.
   */
  take(destination: Destination): number {
    const strange = destination.trusted ? 0 : 1;
    this.move(destination, strange, 1);
    return strange;
  }

  give(destination: Destination, strange: number): void {
    this.move(destination, strange, -1);
  }

  /** Puts a destination with waiting calls in its line, once. */
  list(destination: Destination): void {
    const { queue, inLine, namespace } = destination;
    if (queue.length === 0 || this.isFull(destination)) return;
    const line = lineOf(destination);
    if (!inLine[line]) namespace.lines[line].push(destination);
    inLine[line] = true;
    this.waiting.add(namespace);
  }

  /** The destination whose call is to start next; undefined when none may. It has left its line. */
  next(): Destination | undefined {
    for (;;) {
      const namespace = this.nextNamespace();
      if (namespace === null) return undefined;
      const destination = this.nextOf(namespace);
      if (destination.queue.length > 0 && this.hasRoom(destination)) return destination;
      // It has grown, or come to be trusted, since it took its place in line.
      this.list(destination);
    }
  }

  private nextNamespace(): CallingNamespace | null {
    let best: CallingNamespace | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const namespace of this.waiting) {
      if (!namespace.isWaiting) this.waiting.delete(namespace);
      const load = namespace.inFlight / this.options.shareOf(namespace.name);
      if (load >= least || !this.mayStart(namespace)) continue;
      best = namespace;
      least = load;
    }
    return best;
  }

  /** Whether some destination in its lines has room. */
  private mayStart(namespace: CallingNamespace): boolean {
    const { strangers, small, large } = namespace.lines;
    const most = this.mostOfSmall(namespace);
    if (this.count >= most) return false;
    if (strangers.length > 0 && this.hasStrangeRoom(namespace)) return true;
    return small.length > 0 || (large.length > 0 && this.count < this.largeMax);
  }

  /** The next destination of a namespace that may start a call. */
  private nextOf(namespace: CallingNamespace): Destination {
    const { strangers, small } = namespace.lines;
    const usual = small.length > 0 ? 'small' : 'large';
    const from = strangers.length > 0 && this.hasStrangeRoom(namespace) ? 'strangers' : usual;
    const destination = namespace.lines[from].shift();
    invariant(destination !== undefined, 'a namespace that may start a call has a line for it');
    destination.inLine[from] = false;
    return destination;
  }

  private fits(destination: Destination): boolean {
    if (this.isFull(destination)) return false;
    return destination.trusted || this.hasStrangeRoom(destination.namespace);
  }

  private hasStrangeRoom(namespace: CallingNamespace): boolean {
    if (namespace.strange >= this.strangeOfNamespaceMax) return false;
    return this.strange < this.strangeMax || namespace.strange < this.smallNamespaceCount;
  }

  private mostFor({ inFlight, namespace }: Destination): number {
    return inFlight < smallCount ? this.mostOfSmall(namespace) : this.largeMax;
  }

  private mostOfSmall({ inFlight }: CallingNamespace): number {
    return inFlight < this.smallNamespaceCount ? this.options.inFlightMax : this.smallMax;
  }

  private limitOf({ trusted, namespace }: Destination): number {
    const { perDestinationMax } = this.options;
    if (trusted) return perDestinationMax;
    const isTight = namespace.strange * 2 >= this.strangeOfNamespaceMax;
    return isTight ? 1 : Math.min(strangeCountMax, perDestinationMax);
  }

  private move(destination: Destination, strange: number, by: 1 | -1): void {
    const { namespace } = destination;
    destination.inFlight += by;
    namespace.inFlight += by;
    this.count += by;
    namespace.strange += by * strange;
    this.strange += by * strange;
    invariant(namespace.inFlight >= 0 && namespace.strange >= 0, 'a place is given back once');
  }
}

function lineOf({ trusted, inFlight }: Destination): LineName {
  if (!trusted) return 'strangers';
  return inFlight < smallCount ? 'small' : 'large';
}
