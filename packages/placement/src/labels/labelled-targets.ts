/**
 * Where a key lives on members with labels: `carillon-labels-2`. Every member and every domain has a hash of the key;
 * the lowest hash is the primary, backups come from the highest down, at most one in a domain while the domains last.
 *
 * L1. A domain is as strong as its members together: it stands with the best of its own hash and the hashes of all
 *     its members but one (the heaviest, the first in name order of these), so a domain of n members draws n times. A
 *     domain of one member stands with its own hash alone.
 * L2. Replicas in distinct domains one after the other favour small domains; a domain of several members is made
 *     stronger to make up for it, the more of all domains a key needs (`heft`, `strength`).
 * L3. Roles stay. Domains are in the order of their own hashes, which no member changes; where weights differ, a light
 *     domain is nearer the middle of that order (`rankOfHash`, and `liftedWeight` for the reason of L2). The first one
 *     is the place of the primary, the last ones are the places of the backups. Only a domain of several members takes
 *     a place that is not its own, because it has different members for the two roles: its lowest for the primary, its
 *     highest for a backup. So no primary becomes a backup nor the reverse, as long as there are as many domains before
 *     and after as replicas or the domains stay the same ones, and members weigh the same.
 * L4. As many replicas as domains, or more: each domain has one, then each has a second, and so on. The domain of the
 *     primary keeps one member free, so that a new primary there does not push the old one among the backups.
 * L5. A lookup allocates nothing: its results stand in the domains and in arrays of this object.
 */
import { TextBlocks, compareNames, mixBlock } from '../flat/hash.ts';
import { checkCount } from '../input.ts';
import { logOf, logOfHash } from '../flat/logarithm.ts';
import { rotate, scoreRotated } from '../flat/ranker.ts';
import type { Picks, Placer } from '../flat/rendezvous.ts';
import type { Domain } from './members.ts';
import { type Hashes, type Place, Spread } from './spread.ts';

const flip = 0x8000_0000 | 0;

export class LabelledTargets implements Placer, Hashes {
  readonly names: readonly string[];
  /** Index into `names` of each position; positions go from domain to domain. */
  readonly #nameOf: Int32Array;
  readonly #seeds: Int32Array;
  readonly #weights: Float64Array;
  readonly #uniform: boolean;
  /** Of each position for the key at hand, with the top bit flipped: signed comparison orders them. */
  readonly #hashes: Int32Array;
  readonly #blocks = new TextBlocks();
  readonly #top: Place;
  readonly #spread: Spread;
  /** Positions: the answer, and behind it the positions from each domain before they are interleaved. */
  readonly #list: Int32Array;
  #isText = false;
  #mixedHi = 0;
  #rotatedLo = 0;

  constructor(domain: Domain) {
    const layout: Layout = { seeds: [], weights: [], names: [], depth: 0 };
    this.#top = layOut(domain, layout, 0);
    this.names = layout.names.toSorted(compareNames);
    const indexes = new Map(this.names.map((name, i) => [name, i]));
    this.#nameOf = Int32Array.from(layout.names, (name) => indexes.get(name) as number);
    this.#seeds = Int32Array.from(layout.seeds);
    this.#weights = Float64Array.from(layout.weights);
    this.#uniform = layout.weights.every((weight) => weight === layout.weights[0]);
    this.#hashes = new Int32Array(layout.names.length);
    this.#spread = new Spread(this);
    this.#list = new Int32Array(layout.names.length * (layout.depth + 2));
  }

  pick(hi: number, lo: number, count: number, out: Picks): number {
    this.#isText = false;
    this.#mixedHi = mixBlock(hi);
    this.#rotatedLo = rotate(mixBlock(lo));
    return this.#pick(count, out);
  }

  pickText(key: string, count: number, out: Picks): number {
    this.#isText = true;
    this.#blocks.read(key);
    return this.#pick(count, out);
  }

  /** The hash of the key under a seed, flipped. */
  hash(seed: number): number {
    if (this.#isText) return this.#blocks.hash(seed) ^ flip;
    return scoreRotated(rotate(seed), this.#rotatedLo, this.#mixedHi);
  }

  /** How near the lowest (`high` false) or the highest end a hash of some weight is: below zero, higher is nearer. */
  nearness(flipped: number, weight: number, high: boolean): number {
    const hash = (flipped ^ flip) >>> 0;
    return logOfHash(high ? hash : 0xffff_ffff - hash) / weight;
  }

  rankOf({ own, liftedWeights }: Place, lift: number): number {
    return this.#uniform ? own : rankOfHash((own ^ flip) >>> 0, liftedWeights[lift] as number);
  }

  /** How near an end a place is with its own hash or that of its best member, the anchor aside (L1). */
  placeNearness(place: Place, high: boolean): number {
    const { own, anchorWeight } = place;
    const best = this.#best(place, high, place.anchor);
    if (best < 0) return this.nearness(own, anchorWeight, high);
    const hash = this.#hashes[best] as number;
    const weight = this.#weights[best] as number;
    if (weight !== anchorWeight) {
      return Math.max(this.nearness(own, anchorWeight, high), this.nearness(hash, weight, high));
    }
    // Of two hashes of one weight the nearer one is known without a logarithm.
    return this.nearness(high ? Math.max(own, hash) : Math.min(own, hash), weight, high);
  }

  #pick(count: number, out: Picks): number {
    checkCount(count);
    const size = Math.min(count, this.names.length);
    if (size === 0) return 0;
    const seeds = this.#seeds;
    const hashes = this.#hashes;
    for (let i = 0; i < seeds.length; i++) hashes[i] = this.hash(seeds[i] as number);
    this.#place({ place: this.#top, copies: size, primary: true }, 0, 0);
    for (let i = 0; i < size; i++) out[i] = this.#nameOf[this.#list[i] as number] as number;
    return size;
  }

  /** Writes the members of some copies below a place from `to` on, the primary first if it is one of them. */
  #place({ place, copies, primary }: Task, to: number, depth: number): void {
    if (copies === 1) this.#list[to] = this.#best(place, !primary, -1);
    else if (place.places.length === 0) this.#members({ place, copies, primary }, to);
    else {
      const chosen = this.#spread.over(place, copies, primary);
      const from = (depth + 1) * this.names.length;
      let at = from;
      for (let i = 0; i < chosen; i++) {
        const below = place.order[i] as Place;
        this.#place(
          { place: below, copies: below.copies, primary: primary && i === 0 },
          at,
          depth + 1,
        );
        at += below.copies;
      }
      this.#interleave(place, chosen, { from, to });
    }
  }

  /** First of each domain first, then second of each, and so on. */
  #interleave(
    place: Place,
    chosen: number,
    at: { readonly from: number; readonly to: number },
  ): void {
    let to = at.to;
    for (let round = 0, more = true; more; round++) {
      more = false;
      let start = at.from;
      for (let i = 0; i < chosen; i++) {
        const { copies } = place.order[i] as Place;
        if (round < copies) this.#list[to++] = this.#list[start + round] as number;
        if (round + 1 < copies) more = true;
        start += copies;
      }
    }
  }

  /** Members of one domain: the lowest if the primary is here, then from the highest down. */
  #members({ place, copies, primary }: Task, to: number): void {
    const list = this.#list;
    const lowest = primary ? this.#best(place, false, -1) : -1;
    let size = 0;
    if (primary) list[to + size++] = lowest;
    const first = to + size;
    for (let position = place.start; position < place.end; position++) {
      if (position === lowest) continue;
      let at = Math.min(to + size, to + copies);
      while (at > first && this.#beats(position, list[at - 1] as number, true)) {
        if (at < to + copies) list[at] = list[at - 1] as number;
        at--;
      }
      if (at < to + copies) list[at] = position;
      size = Math.min(size + 1, copies);
    }
  }

  /** The position at the lowest or the highest end, one aside; −1 where there is none. */
  #best(place: Place, high: boolean, aside: number): number {
    let best = -1;
    for (let position = place.start; position < place.end; position++) {
      if (position === aside) continue;
      if (best < 0 || this.#beats(position, best, high)) best = position;
    }
    return best;
  }

  #beats(position: number, other: number, high: boolean): boolean {
    const one = this.#hashes[position] as number;
    const two = this.#hashes[other] as number;
    if (this.#uniform) return high ? one > two : one < two;
    const weights = this.#weights;
    return (
      this.nearness(one, weights[position] as number, high) >
      this.nearness(two, weights[other] as number, high)
    );
  }
}

/**
 * Where a hash of some weight stands between the two ends: below zero near the lowest, above near the highest. A heavy
 * one is nearer its end; with one weight the order is that of the hashes.
 */
export function rankOfHash(hash: number, weight: number): number {
  const isLow = hash < 0x8000_0000;
  const near = logOfHash(isLow ? 0xffff_ffff - hash : hash);
  return isLow ? weight / near : -weight / near;
}

/** A weight to the power of 1 to 2, in quarters. Square roots are exact everywhere, other powers are not. */
export function liftedWeight(weight: number, lift: number): number {
  const half = Math.sqrt(weight);
  const quarter = Math.sqrt(half);
  return weight * ([1, quarter, half, half * quarter, weight][lift] as number);
}

interface Task {
  readonly place: Place;
  readonly copies: number;
  readonly primary: boolean;
}

interface Layout {
  readonly seeds: number[];
  readonly weights: number[];
  readonly names: string[];
  depth: number;
}

/** Gives every member a position, domain after domain. */
function layOut(domain: Domain, layout: Layout, depth: number): Place {
  const start = layout.names.length;
  layout.depth = Math.max(layout.depth, depth);
  const places = domain.domains.map((inner) => layOut(inner, layout, depth + 1));
  if (places.length === 0) {
    for (const { name, weight, seed } of domain.members) {
      layout.names.push(name);
      layout.weights.push(weight);
      layout.seeds.push(seed);
    }
  }
  const end = layout.names.length;
  const heaviest = domain.members.reduce((max, { weight }) => Math.max(max, weight), 0);
  const anchor = domain.members.find(({ weight }) => weight === heaviest)?.name;
  return {
    domain,
    places,
    start,
    end,
    anchor: start + layout.names.slice(start, end).indexOf(anchor ?? ''),
    anchorWeight: heaviest,
    liftedWeights: [0, 1, 2, 3, 4].map((lift) => liftedWeight(heaviest, lift)),
    heft: logOf(domain.weight / heaviest),
    order: [...places],
    own: 0,
    rank: 0,
    copies: 0,
    low: 0,
    high: 0,
  };
}
