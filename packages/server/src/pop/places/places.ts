/**
 * Who gets the places for callbacks. Pure but for its counters: it starts nothing itself.
 *
 *  1. No more than `inFlightMax` calls are under way, and no more than `perDestinationMax` to one destination; to one that has not
 *     answered, or has stopped answering, only a few.
 *  2. Destinations that have not answered take no more than a quarter of all places for one namespace, and half of all together but for
 *     namespaces with few under way: a place that is taken by a silent receiver is gone for as long as the time limit lasts. When they
 *     have taken half of what they may, each has one: a new one gets its turn beside many silent ones.
 *  3. The last quarter of all places is for destinations with few calls under way, the last eighth for namespaces with few: nobody has
 *     to wait until others have finished.
 *  4. A free place goes to the namespace with the fewest under way for its share; within a namespace destinations take turns, those
 *     with few calls under way first.
 */
import { invariant } from '@carillon/core';
import { type Destination, type LineName, lineNames, type Tenant } from './destination.ts';

export interface PlacesOptions {
  readonly inFlightMax: number;
  readonly perDestinationMax: number;
  /** The weight of a namespace among others. */
  readonly shareOf: (namespace: string) => number;
}

/** Until a destination has answered, or when it has stopped answering. */
const strangeCountMax = 8;
/** A destination with fewer calls under way than this goes before the others. */
const smallCount = 16;
/** Parts of all places. */
const largeRatio = 3 / 4;
const smallRatio = 7 / 8;
const strangeRatio = 1 / 2;
const strangeOfTenantRatio = 1 / 4;
const tenantRatio = 1 / 16;

export class Places {
  private readonly options: PlacesOptions;
  /** Places that large destinations, and small ones of large namespaces, leave to others. */
  private readonly largeMax: number;
  private readonly smallMax: number;
  /** For destinations that have not answered: of all, and of one namespace. */
  private readonly strangeMax: number;
  private readonly strangeOfTenantMax: number;
  /** A namespace with fewer calls under way than this is small. */
  private readonly tenantCount: number;
  /** Those with destinations in line. */
  private readonly waiting = new Set<Tenant>();
  private count = 0;
  private strange = 0;

  constructor(options: PlacesOptions) {
    this.options = options;
    const { inFlightMax } = options;
    this.largeMax = Math.ceil(inFlightMax * largeRatio);
    this.smallMax = Math.ceil(inFlightMax * smallRatio);
    this.strangeMax = Math.ceil(inFlightMax * strangeRatio);
    this.strangeOfTenantMax = Math.ceil(inFlightMax * strangeOfTenantRatio);
    this.tenantCount = Math.ceil(inFlightMax * tenantRatio);
  }

  get taken(): number {
    return this.count;
  }

  /** Whether a call may start there now. */
  hasRoom(destination: Destination): boolean {
    return this.fits(destination) && this.count < this.mostFor(destination);
  }

  /** Takes a place. What is returned goes to `give` with it: 1 when it is one of those for destinations that have not answered. */
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
    const { queue, inFlight, inLine, tenant } = destination;
    if (queue.length === 0 || inFlight >= this.limitOf(destination)) return;
    const line = lineOf(destination);
    if (!inLine[line]) tenant.lines[line].push(destination);
    inLine[line] = true;
    this.waiting.add(tenant);
  }

  /** The destination whose call is to start next; undefined when none may. It has left its line. */
  next(): Destination | undefined {
    for (;;) {
      const tenant = this.nextTenant();
      if (tenant === null) return undefined;
      const destination = this.nextOf(tenant);
      if (destination.queue.length > 0 && this.hasRoom(destination)) return destination;
      // What it is has changed since it took its place.
      this.list(destination);
    }
  }

  private nextTenant(): Tenant | null {
    let best: Tenant | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const tenant of this.waiting) {
      if (lineNames.every((line) => tenant.lines[line].length === 0)) this.waiting.delete(tenant);
      const load = tenant.inFlight / this.options.shareOf(tenant.name);
      if (load >= least || !this.mayStart(tenant)) continue;
      best = tenant;
      least = load;
    }
    return best;
  }

  /** Whether some destination in its lines has room. */
  private mayStart(tenant: Tenant): boolean {
    const { strangers, small, large } = tenant.lines;
    const most = this.mostOfSmall(tenant);
    if (this.count >= most) return false;
    if (strangers.length > 0 && this.hasStrangeRoom(tenant)) return true;
    return small.length > 0 || (large.length > 0 && this.count < this.largeMax);
  }

  /** Of a tenant that may start a call. */
  private nextOf(tenant: Tenant): Destination {
    const { strangers, small } = tenant.lines;
    const usual = small.length > 0 ? 'small' : 'large';
    const from = strangers.length > 0 && this.hasStrangeRoom(tenant) ? 'strangers' : usual;
    const destination = tenant.lines[from].shift();
    invariant(destination !== undefined, 'a namespace that may start a call has a line for it');
    destination.inLine[from] = false;
    return destination;
  }

  private fits(destination: Destination): boolean {
    if (destination.inFlight >= this.limitOf(destination)) return false;
    return destination.trusted || this.hasStrangeRoom(destination.tenant);
  }

  private hasStrangeRoom(tenant: Tenant): boolean {
    if (tenant.strange >= this.strangeOfTenantMax) return false;
    return this.strange < this.strangeMax || tenant.strange < this.tenantCount;
  }

  private mostFor({ inFlight, tenant }: Destination): number {
    return inFlight < smallCount ? this.mostOfSmall(tenant) : this.largeMax;
  }

  private mostOfSmall({ inFlight }: Tenant): number {
    return inFlight < this.tenantCount ? this.options.inFlightMax : this.smallMax;
  }

  private limitOf({ trusted, tenant }: Destination): number {
    const { perDestinationMax } = this.options;
    if (trusted) return perDestinationMax;
    const isTight = tenant.strange * 2 >= this.strangeOfTenantMax;
    return isTight ? 1 : Math.min(strangeCountMax, perDestinationMax);
  }

  private move(destination: Destination, strange: number, by: 1 | -1): void {
    const { tenant } = destination;
    destination.inFlight += by;
    tenant.inFlight += by;
    this.count += by;
    tenant.strange += by * strange;
    this.strange += by * strange;
    invariant(tenant.inFlight >= 0 && tenant.strange >= 0, 'a place is given back once');
  }
}

function lineOf({ trusted, inFlight }: Destination): LineName {
  if (!trusted) return 'strangers';
  return inFlight < smallCount ? 'small' : 'large';
}
