/**
 * Orders integer handles by the tick at which they fall due. Stores and orders only: it knows no clock, calls no code
 * of others and holds no records; `store.ts` gives it handles and takes them back when they are due. `bundles.ts`
 * keeps the handles of each slot.
 *
 * Eight tiers of 64 slots. A slot of tier t is 64ᵗ ms wide:
 *
 *   | tier | slot    | the whole tier |     | tier | slot      | the whole tier |
 *   |------|---------|----------------|-----|------|-----------|----------------|
 *   | 0    | 1 ms    | 64 ms          |     | 4    | 4.7 hours | 12.4 days      |
 *   | 1    | 64 ms   | 4.1 s          |     | 5    | 12.4 days | 2.2 years      |
 *   | 2    | 4.1 s   | 4.4 minutes    |     | 6    | 2.2 years | 139 years      |
 *   | 3    | 4.4 min | 4.7 hours      |     | 7    | 139 years | the horizon    |
 *
 * A handle lies in the tier of the highest 6-bit group in which its tick differs from the present one, so each slot
 * lies wholly ahead of the present and lower tiers always come before higher ones. When the present reaches a slot
 * above tier 0, its handles cascade: they are placed again, further down.
 *
 * Example. The present is tick 1000, in groups of 6 bits 0·15·40. Three handles are inserted:
 *
 *   due 1010 = 0·15·50   differs in the lowest group    tier 0, slot 50
 *   due 1100 = 0·17·12   differs in the second group    tier 1, slot 17, which begins at tick 17 · 64 = 1088
 *   due 6000 = 1·29·48   differs in the third group     tier 2, slot 1, which begins at tick 4096
 *
 * `nextDue` says 1010 and the first comes out there. Then it says 1088: nothing is due, but the second cascades to
 * tier 0, slot 12, and comes out at 1100. The third cascades at 4096 to tier 1, slot 29, and at 5952 to tier 0, slot
 * 48, and comes out at 6000. Six wake-ups for three handles, and none of them looked at a handle that did not move.
 *
 * Invariants:
 *  W1  A handle leaves by `advance(nowMs)` only when ceil(dueMs) ≤ nowMs.
 *  W2  Slots behind the present are empty.
 *  W3  No call does more than a bounded amount of work, however many handles share a slot.
 *
 * Ticks are milliseconds shifted to be positive and split in two (30 low bits = tiers 0 to 4, the rest above),
 * because JavaScript's bit operations stop at 32 bits.
 */
import { invariant } from '@carillon/core';
import { Bundles } from './bundles.ts';

const slotBits = 6;
const slotCount = 1 << slotBits;
const slotMask = slotCount - 1;
const tierCount = 8;
const lowTierCount = 5;
const lowSpan = 2 ** (slotBits * lowTierCount);
/** Added to a time to make its tick positive: times reach from 2230 years before zero to 6690 after. */
const originMs = 2 ** 46;
const horizon = 2 ** (slotBits * tierCount) - 1;

/** Entries that one `advance` may cascade before it returns: well under a millisecond. */
const cascadeCountMax = 8192;

/** The tier of the highest bit that differs. */
const tierOfBit = Uint8Array.from({ length: 32 }, (_, bit) => Math.floor(bit / slotBits));

export class Wheel {
  private readonly slots = new Bundles(tierCount * slotCount);
  private presentLow = 0;
  private presentHigh = 0;
  /** A slot that the present has reached and whose entries are not all placed again yet; −1: none. */
  private cascading = -1;
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Memory of the columns. */
  get bytes(): number {
    return this.slots.bytes;
  }

  /** Puts the handle in, or moves it. One that is overdue comes out of the next `advance`. */
  insert(handle: number, dueMs: number): void {
    invariant(!Number.isNaN(dueMs), 'a handle is due at a time that is a number');
    if (!this.slots.remove(handle)) this.count++;
    this.slots.push(this.slotFor(tickOf(Math.ceil(dueMs))), handle, dueMs);
  }

  /** False when the handle was not in the wheel. */
  remove(handle: number): boolean {
    if (!this.slots.remove(handle)) return false;
    this.count--;
    return true;
  }

  /**
   * Moves the present to `nowMs` and appends up to `max` due handles to `out`, oldest tick first. Returns
   * how many. More may be due: `nextDue()` is then not after `nowMs`, and the next call goes on.
   */
  advance(nowMs: number, max: number, out: number[]): number {
    invariant(!Number.isNaN(nowMs), 'the present is a number');
    const target = tickOf(Math.floor(nowMs));
    let left = max;
    let work = cascadeCountMax;
    while (left > 0 && work > 0) {
      if (this.cascading >= 0) {
        work -= this.cascade(work);
        continue;
      }
      const slot = this.slots.firstSlot();
      const start = slot < 0 ? Number.POSITIVE_INFINITY : this.startOf(slot);
      if (start > target) {
        this.moveTo(target);
        break;
      }
      this.moveTo(start);
      if (slot < slotCount) left -= this.drain(slot, left, out);
      else this.cascading = slot;
    }
    this.count -= max - left;
    invariant(this.count >= 0, 'the wheel hands out no more handles than it holds');
    return max - left;
  }

  /** The time before which nothing can fall due; null when the wheel is empty. */
  nextDue(): number | null {
    if (this.count === 0) return null;
    const tick = this.cascading >= 0 ? this.present() : this.startOf(this.slots.firstSlot());
    return tick - originMs;
  }

  private present(): number {
    return this.presentHigh * lowSpan + this.presentLow;
  }

  /** Never moves back. */
  private moveTo(tick: number): void {
    if (tick <= this.present()) return;
    this.presentHigh = Math.floor(tick / lowSpan);
    this.presentLow = tick - this.presentHigh * lowSpan;
  }

  /** Takes up to `max` handles of a slot out of the wheel. */
  private drain(slot: number, max: number, out: number[]): number {
    let taken = 0;
    const { slots } = this;
    const present = this.present();
    for (; taken < max && !slots.isEmpty(slot); taken++) {
      const tick = tickOf(Math.ceil(slots.nextDue(slot)));
      invariant(tick <= present, 'no handle leaves the wheel before its tick');
      out.push(slots.pop(slot));
    }
    return taken;
  }

  /** Places up to `max` entries of the cascading slot again, further down. */
  private cascade(max: number): number {
    const { slots, cascading } = this;
    let moved = 0;
    for (; moved < max && !slots.isEmpty(cascading); moved++) {
      const dueMs = slots.nextDue(cascading);
      slots.push(this.slotFor(tickOf(Math.ceil(dueMs))), slots.pop(cascading), dueMs);
    }
    if (slots.isEmpty(cascading)) this.cascading = -1;
    return moved;
  }

  private slotFor(tick: number): number {
    let high = Math.floor(tick / lowSpan);
    let low = tick - high * lowSpan;
    if (high < this.presentHigh || (high === this.presentHigh && low < this.presentLow)) {
      high = this.presentHigh;
      low = this.presentLow;
    }
    if (high === this.presentHigh) {
      const tier = tierOfBit[31 - Math.clz32((low ^ this.presentLow) | 1)] as number;
      return (tier << slotBits) + ((low >>> (tier * slotBits)) & slotMask);
    }
    const tier = tierOfBit[31 - Math.clz32(high ^ this.presentHigh)] as number;
    return ((lowTierCount + tier) << slotBits) + ((high >>> (tier * slotBits)) & slotMask);
  }

  /** The first tick of a slot. */
  private startOf(slot: number): number {
    const tier = slot >>> slotBits;
    const digit = slot & slotMask;
    if (tier < lowTierCount) {
      return this.presentHigh * lowSpan + withDigit(this.presentLow, tier, digit);
    }
    return withDigit(this.presentHigh, tier - lowTierCount, digit) * lowSpan;
  }
}

/** `value` with the given 6-bit group replaced and everything below it 0. */
function withDigit(value: number, group: number, digit: number): number {
  const shift = group * slotBits;
  return (((value >>> shift) & ~slotMask) | digit) << shift;
}

/** A time beyond an end counts as that end. */
function tickOf(wholeMs: number): number {
  return Math.min(Math.max(wholeMs + originMs, 0), horizon);
}
