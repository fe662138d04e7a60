/**
 * A 64-bit bloom filter over target names, as two 32-bit halves. A timer id carries the filter of the
 * replicas that ever held the timer, so that a member which knows only the present view finds them.
 *
 * Each name sets up to six bits: three seeded hashes, two bit positions from each (bits 0–5 and 6–11 of the hash). A
 * filter never misses a name that was added; how often it claims one that was not is measured in `docs/placement.md`.
 */
import { hashText } from './hash.ts';

/** 64 bits as two unsigned 32-bit halves. */
export interface Bloom {
  readonly hi: number;
  readonly lo: number;
}

export const emptyBloom: Bloom = { hi: 0, lo: 0 };

/** The seeds of the three hashes. Part of the algorithm id: changing one makes old ids unreadable. */
const seeds = [1, 2, 3];

/** The bits of one target. Compute once per view, not per lookup. */
export function bloomBits(name: string): Bloom {
  let hi = 0;
  let lo = 0;
  for (const seed of seeds) {
    const hash = hashText(name, seed);
    for (const position of [hash & 63, (hash >>> 6) & 63]) {
      if (position < 32) lo |= 1 << position;
      else hi |= 1 << (position - 32);
    }
  }
  return { hi: hi >>> 0, lo: lo >>> 0 };
}

/** The filter that contains everything either of the two contains. */
export function bloomUnion(a: Bloom, b: Bloom): Bloom {
  return { hi: (a.hi | b.hi) >>> 0, lo: (a.lo | b.lo) >>> 0 };
}

/** Whether all of `bits` are in the filter: false is certain, true may be chance. */
export function bloomHas(bloom: Bloom, bits: Bloom): boolean {
  return (bits.hi & ~bloom.hi) === 0 && (bits.lo & ~bloom.lo) === 0;
}
