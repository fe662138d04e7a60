/**
 * Below a target: slots are plain fan-outs that cannot fail, so nothing is ranked there. One hash per target
 * picks a number below the product of the counts, and its digits are the indexes.
 */
import { invariant } from './errors.ts';
import { hashText, murmur3 } from './flat/hash.ts';
import type { NumberKey } from './flat/key.ts';
import type { SlotLevel, Topology, Vertex } from './topology.ts';

/** The slot of a key on a target: one index per slot level. */
export function readSlot(topology: Topology, target: Vertex, key: string | NumberKey): number[] {
  if (topology.slots.length === 0) return [];
  const hash = topology.hash ?? murmur3;
  const seed = hashText('slot', target.seed);
  const score = typeof key === 'string' ? hash.text(key, seed) : hash.number(key.hi, key.lo, seed);
  return slotDigits(topology.slots, scale(score, slotCount(topology.slots)));
}

/** Slots of one target. */
export function slotCount(slots: readonly SlotLevel[]): number {
  return slots.reduce((product, { count }) => product * count, 1);
}

/** An unsigned 32-bit hash as a number from 0 to `size` − 1. Exact: the product is below 2⁵³. */
export function scale(hash: number, size: number): number {
  return Math.floor((hash * size) / 2 ** 32);
}

/** The indexes a slot number stands for, widest level first. */
export function slotDigits(slots: readonly SlotLevel[], number: number): number[] {
  let left = number;
  const digits: number[] = [];
  for (const { count } of slots.toReversed()) {
    digits.unshift(left % count);
    left = Math.floor(left / count);
  }
  invariant(left === 0, 'a slot number is below the product of the slot counts');
  return digits;
}
