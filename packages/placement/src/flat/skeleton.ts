/**
 * Flat targets by the thousand: a skeleton of 32 768 virtual slots, most of them free, with one target in each taken
 * slot. A key has a fixed sequence of slots; the first taken one is its target. The cost is about 32 768 / N slots,
 * two from one hash: at 1000 targets some sixteen hashes instead of 1000 scores.
 *
 * K1. Every target holds an equal share: the sequence visits all slots alike. (No weights here.)
 * K2. A target that leaves frees its slot: only its keys go on along their sequences. One that comes takes exactly
 *     the keys that meet its slot before another. Nothing moves between the others, except:
 * K3. The price. A target whose slot is taken moves to the next free one upwards, in name order. With N targets about
 *     N / 32 768 of all joins or leaves shift one other target's slot, and its keys with it.
 * K4. The primary has one sequence, the backups another that skips the primary, so a change of one role leaves the
 *     other alone, unless a former primary turns up among the backups: once in N / (k − 1) changes.
 * K5. Not the order of `compileTargets`: a cluster uses one or the other. Below 300 targets flat is faster.
 */
import { PlacementError } from '../errors.ts';
import { checkCount, checkIterable } from '../input.ts';
import { finish, hashNumber, hashText } from './hash.ts';
import { checkName, compileTargets, type Picks, type Placer } from './rendezvous.ts';

const slotBits = 15;
const slotCount = 1 << slotBits;
const slotMask = slotCount - 1;
/** Half the slots taken: beyond that shifts become common (K3). */
export const skeletonTargetsMax = slotCount / 2;
const primarySeed = 0;
const backupSeed = 1;
const stride = 0x9e3779b9 | 0;
/** So long without a hit happens only to a handful of targets; then the next taken slot upwards is used. */
const hashesMax = slotCount / 2;

/** Prepares targets of equal weight for lookups. Throws PlacementError on bad or too many names. */
export function compileSkeleton(names: Iterable<string>): Placer {
  checkIterable(names, 'The names');
  const given = Array.from(names);
  for (const name of given) checkName(name);
  return new Skeleton(compileTargets(given).names);
}

class Skeleton implements Placer {
  readonly names: readonly string[];
  /** Target index plus one; 0 is free. */
  readonly #targetAt = new Uint16Array(slotCount);
  /** One bit a slot, so that the search stays in the nearest cache. */
  readonly #taken = new Int32Array(slotCount / 32);

  constructor(names: readonly string[]) {
    if (names.length > skeletonTargetsMax) {
      throw new PlacementError(
        'too_large',
        `There are ${names.length} targets; a skeleton holds at most ${skeletonTargetsMax}.`,
      );
    }
    this.names = names;
    for (const [i, name] of names.entries()) {
      let slot = hashText(name, 0) & slotMask;
      while (this.#targetAt[slot] !== 0) slot = (slot + 1) & slotMask;
      this.#targetAt[slot] = i + 1;
      this.#taken[slot >>> 5] = (this.#taken[slot >>> 5] as number) | (1 << (slot & 31));
    }
  }

  pick(hi: number, lo: number, count: number, out: Picks): number {
    checkCount(count);
    const k = Math.min(count, this.names.length);
    if (k > 0) out[0] = this.#search(hashNumber(hi, lo, primarySeed), out, 0);
    if (k > 1) this.#backups(hashNumber(hi, lo, backupSeed), k, out);
    return k;
  }

  pickText(key: string, count: number, out: Picks): number {
    checkCount(count);
    const k = Math.min(count, this.names.length);
    if (k > 0) out[0] = this.#search(hashText(key, primarySeed), out, 0);
    if (k > 1) this.#backups(hashText(key, backupSeed), k, out);
    return k;
  }

  #backups(start: number, k: number, out: Picks): void {
    for (let found = 1; found < k; found++) out[found] = this.#search(start, out, found);
  }

  /** The first target along a sequence that is not among the first `found` of `out`. */
  #search(start: number, out: Picks, found: number): number {
    const taken = this.#taken;
    let state = start | 0;
    for (let i = 0; i < hashesMax; i++) {
      const hash = finish(state);
      const low = hash & slotMask;
      const high = hash >>> (32 - slotBits);
      if (((taken[low >>> 5] as number) >>> (low & 31)) & 1) {
        const target = this.#unused(low, out, found);
        if (target >= 0) return target;
      }
      if (((taken[high >>> 5] as number) >>> (high & 31)) & 1) {
        const target = this.#unused(high, out, found);
        if (target >= 0) return target;
      }
      state = (state + stride) | 0;
    }
    return this.#upwards(state & slotMask, out, found);
  }

  /** The target of a taken slot, or −1 when it was found before. */
  #unused(slot: number, out: Picks, found: number): number {
    const target = (this.#targetAt[slot] as number) - 1;
    for (let i = 0; i < found; i++) if (out[i] === target) return -1;
    return target;
  }

  #upwards(from: number, out: Picks, found: number): number {
    for (let slot = from; ; slot = (slot + 1) & slotMask) {
      if (this.#targetAt[slot] === 0) continue;
      const target = this.#unused(slot, out, found);
      if (target >= 0) return target;
    }
  }
}
