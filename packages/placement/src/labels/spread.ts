/** How the copies of a key spread over the domains below one: which of them hold some, and which the primary. */
import { invariant } from '../errors.ts';
import type { Domain } from './members.ts';

/** A domain with the members' positions, and its intermediate results for the key at hand. */
export interface Place {
  readonly domain: Domain;
  readonly places: readonly Place[];
  /** Positions of the members at or below. */
  readonly start: number;
  readonly end: number;
  /** The member whose hash does not count, because the domain's own stands for it (L1). */
  readonly anchor: number;
  readonly anchorWeight: number;
  /** The same, lifted by 0 to 4 quarters (L3). */
  readonly liftedWeights: readonly number[];
  /** The logarithm of the weight of all its members over the weight of the heaviest: 0 for one member (L2). */
  readonly heft: number;
  /** The places below, the ones with copies first: the primary's, then from the highest hash down. */
  readonly order: Place[];
  /** The domain's own hash, flipped. */
  own: number;
  /** Its place in the order of the domains (L3). */
  rank: number;
  copies: number;
  /** How near the two ends it stands. */
  low: number;
  high: number;
}

/** The hashes of the key at hand that the spread needs. */
export interface Hashes {
  hash(seed: number): number;
  /** The place of a domain in their order, by its own hash and the weight of its heaviest member, lifted (L3). */
  rankOf(place: Place, lift: number): number;
  /**
   * How near the lowest (`high` false) or the highest end a place is, by its own hash and the hashes of its members.
   */
  placeNearness(place: Place, high: boolean): number;
}

/** Found by trying: with it no member of a thousand random clusters holds more than 1.35 times its share (L2). */
export const strengthMax = 0.55;

export class Spread {
  readonly #hashes: Hashes;
  /** The place of the primary for the copies at hand; null where they are all backups. */
  #primary: Place | null = null;

  constructor(hashes: Hashes) {
    this.#hashes = hashes;
  }

  /** Hands copies out to the places below one; returns how many of its `order` got some. */
  over(parent: Place, copies: number, primary: boolean): number {
    const { order } = parent;
    const some = copies < order.length;
    const strength = some ? (strengthMax * (copies - 1)) / (order.length - 1) : 0;
    const lift = some ? liftOf(copies, order.length) : 0;
    for (const place of order) {
      place.own = this.#hashes.hash(place.domain.seed);
      place.rank = this.#hashes.rankOf(place, lift);
      place.high = this.#standing(place, true, strength);
      place.copies = 0;
    }
    this.#primary = null;
    if (!some) this.#toEach(parent, copies, primary);
    else if (primary) this.#toSome(order, copies, strength);
    else this.#toHighest(order, copies);
    this.#sort(order, (a, b) => this.#precedence(a) > this.#precedence(b));
    return Math.min(copies, order.length);
  }

  /** How near an end a place stands: with its own hash or that of a member (L1), and stronger with several (L2). */
  #standing(place: Place, high: boolean, strength: number): number {
    const best = this.#hashes.placeNearness(place, high);
    const gain = strength * place.heft;
    return best / (1 + gain + (gain * gain) / 2);
  }

  #toHighest(order: Place[], copies: number): void {
    this.#sort(order, isHigher);
    for (let i = 0; i < copies; i++) (order[i] as Place).copies = 1;
  }

  /** Fewer copies than places, the primary's among them (L3). */
  #toSome(order: Place[], copies: number, strength: number): void {
    this.#sort(order, isBefore);
    const backupsFrom = order.length - (copies - 1);
    let primary = order[0] as Place;
    for (let i = 0; i < backupsFrom; i++) {
      const place = order[i] as Place;
      place.low = this.#standing(place, false, strength);
      if (hasSeveral(place) && place.low > primary.low) primary = place;
    }
    primary.copies = 1;
    this.#primary = primary;
    for (let left = copies - 1; left > 0; left--) {
      let best: Place | null = null;
      for (let i = 0; i < order.length; i++) {
        const place = order[i] as Place;
        if (place.copies > 0 || (i < backupsFrom && !hasSeveral(place))) continue;
        if (best === null || place.high > best.high) best = place;
      }
      invariant(best !== null, 'the last places can always take the backups');
      best.copies = 1;
    }
  }

  /** A copy for each place, and more in rounds as far as there is room (L4). */
  #toEach({ order, start, end }: Place, copies: number, primary: boolean): void {
    this.#sort(order, isBefore);
    const first = order[0] as Place;
    if (primary) this.#primary = first;
    const spare = primary && hasSeveral(first) && copies < end - start ? 1 : 0;
    this.#sort(order, isHigher);
    for (let left = copies; left > 0; ) {
      const before = left;
      for (const place of order) {
        const room = place.end - place.start - (place === first ? spare : 0);
        if (left === 0 || place.copies === room) continue;
        place.copies++;
        left--;
      }
      invariant(left < before, 'the places below have room for every copy');
    }
  }

  /** The order in which places are served: the primary's, then from the highest down, places without copies last. */
  #precedence(place: Place): number {
    if (place === this.#primary) return 1;
    return place.copies > 0 ? place.high : Number.NEGATIVE_INFINITY;
  }

  /** Few places, so insertion does. */
  #sort(order: Place[], precedes: (a: Place, b: Place) => boolean): void {
    for (let i = 1; i < order.length; i++) {
      const place = order[i] as Place;
      let at = i;
      while (at > 0 && precedes(place, order[at - 1] as Place)) {
        order[at] = order[at - 1] as Place;
        at--;
      }
      order[at] = place;
    }
  }
}

/**
 * How far weights are lifted, in quarters: the more of all domains a key needs, the more a light one would get (L3).
 */
export function liftOf(copies: number, domains: number): number {
  return Math.round((4 * (copies - 1)) / (domains - 1));
}

/** Only such a place has different members for the two roles. */
function hasSeveral({ start, end }: Place): boolean {
  return end - start > 1;
}

function isHigher(a: Place, b: Place): boolean {
  return a.high > b.high;
}

/** In the order of the places' own hashes, which no member of the same weight changes. */
function isBefore(a: Place, b: Place): boolean {
  return a.rank < b.rank;
}
