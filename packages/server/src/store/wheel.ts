/**
 * Orders integer handles by the tick at which they fall due. Stores and orders only: it knows no clock,
 * calls nobody and holds no records; `store.ts` gives it handles and takes them back when they are due.
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
 * An entry lies in the tier of the highest 6-bit group in which its tick differs from the present one, so
 * each slot lies wholly ahead of the present and lower tiers always come before higher ones. When the
 * present reaches a slot above tier 0, its entries cascade: they are placed again, further down.
 *
 * Invariants:
 *  W1  An entry leaves by `advance(nowMs)` only when ceil(dueMs) ≤ nowMs.
 *  W2  A slot's bit is set exactly when its list is not empty.
 *  W3  No call does more than a bounded amount of work, however many entries share a slot.
 *
 * Ticks are milliseconds shifted to be positive and split in two (30 low bits = tiers 0 to 4, the rest
 * above), because JavaScript's bit operations stop at 32 bits.
 */
import { invariant } from '@carillon/core';

const slotBits = 6;
const slotCount = 1 << slotBits;
const slotMask = slotCount - 1;
const tierCount = 8;
const lowTierCount = 5;
const lowSpan = 2 ** (slotBits * lowTierCount);
/** Added to a time to make its tick positive: times reach from 2230 years before zero to 6690 after. */
const originMs = 2 ** 46;
const horizon = 2 ** (slotBits * tierCount) - 1;

/** Columns grow by whole pages, so that growing never copies what is there. */
const pageBits = 16;
const pageSize = 1 << pageBits;
const pageMask = pageSize - 1;

/** Entries that one `advance` may cascade before it returns: well under a millisecond. */
const cascadeCountMax = 8192;

/** The tier of the highest bit that differs. */
const tierOfBit = Uint8Array.from({ length: 32 }, (_, bit) => Math.floor(bit / slotBits));

export class Wheel {
  private readonly dues: Float64Array[] = [];
  /**
   * Two numbers a handle, all 0 while it is not in the wheel. Next: the following handle + 1, 0 at the end
   * of the list. Before: the previous handle + 1, or for the first of a list −1 − its slot.
   */
  private readonly links: Int32Array[] = [];
  /** The first handle + 1 of each slot; 0: empty. */
  private readonly heads = new Int32Array(tierCount * slotCount);
  /** Two words of 32 slots a tier. */
  private readonly occupied = new Uint32Array(tierCount * 2);
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
    return this.dues.length * pageSize * 16;
  }

  has(handle: number): boolean {
    const links = this.links[handle >>> pageBits];
    return links !== undefined && links[((handle & pageMask) << 1) + 1] !== 0;
  }

  /** The time the handle was inserted with; null when it is not in the wheel. */
  dueOf(handle: number): number | null {
    if (!this.has(handle)) return null;
    return (this.dues[handle >>> pageBits] as Float64Array)[handle & pageMask] as number;
  }

  /** Puts the handle in, or moves it. One that is overdue comes out of the next `advance`. */
  insert(handle: number, dueMs: number): void {
    invariant(!Number.isNaN(dueMs), 'a handle is due at a time that is a number');
    const page = handle >>> pageBits;
    if (page >= this.links.length) this.grow(page);
    else if (this.has(handle)) this.unlink(handle);
    (this.dues[page] as Float64Array)[handle & pageMask] = dueMs;
    this.place(handle, dueMs);
    this.count++;
  }

  /** False when the handle was not in the wheel. */
  remove(handle: number): boolean {
    if (!this.has(handle)) return false;
    this.unlink(handle);
    return true;
  }

  /**
   * Moves the present to `nowMs` and appends up to `max` due handles to `out`, oldest tick first. Returns
   * how many. More may be due: `nextDue()` is then not after `nowMs`, and the next call goes on.
   */
  advance(nowMs: number, max: number, out: number[]): number {
    const target = tickOf(Math.floor(nowMs));
    let left = max;
    let work = cascadeCountMax;
    while (left > 0 && work > 0) {
      if (this.cascading >= 0) {
        work -= this.cascade(work);
        continue;
      }
      const slot = this.nextSlot();
      if (slot < 0 || this.startOf(slot) > target) {
        this.moveTo(target);
        break;
      }
      this.moveTo(this.startOf(slot));
      if (slot < slotCount) left -= this.drain(slot, left, out);
      else this.cascading = slot;
    }
    this.count -= max - left;
    return max - left;
  }

  /** The time before which nothing can fall due; null when the wheel is empty. */
  nextDue(): number | null {
    if (this.count === 0) return null;
    return (this.cascading >= 0 ? this.present() : this.startOf(this.nextSlot())) - originMs;
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

  private grow(page: number): void {
    while (this.links.length <= page) {
      this.links.push(new Int32Array(pageSize * 2));
      this.dues.push(new Float64Array(pageSize));
    }
  }

  /** Puts a handle that is in no list at the front of its slot's list. */
  private place(handle: number, dueMs: number): void {
    const slot = this.slotFor(tickOf(Math.ceil(dueMs)));
    const first = this.heads[slot] as number;
    const links = this.links[handle >>> pageBits] as Int32Array;
    const at = (handle & pageMask) << 1;
    links[at] = first;
    links[at + 1] = -1 - slot;
    this.heads[slot] = handle + 1;
    if (first === 0) {
      const word = slot >>> 5;
      this.occupied[word] = (this.occupied[word] as number) | (1 << (slot & 31));
    } else {
      (this.links[(first - 1) >>> pageBits] as Int32Array)[(((first - 1) & pageMask) << 1) + 1] =
        handle + 1;
    }
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

  private unlink(handle: number): void {
    const links = this.links[handle >>> pageBits] as Int32Array;
    const at = (handle & pageMask) << 1;
    const next = links[at] as number;
    const before = links[at + 1] as number;
    links[at] = 0;
    links[at + 1] = 0;
    this.count--;
    if (next !== 0) {
      (this.links[(next - 1) >>> pageBits] as Int32Array)[(((next - 1) & pageMask) << 1) + 1] =
        before;
    }
    if (before < 0) this.setHead(-1 - before, next);
    else
      (this.links[(before - 1) >>> pageBits] as Int32Array)[((before - 1) & pageMask) << 1] = next;
  }

  private setHead(slot: number, first: number): void {
    this.heads[slot] = first;
    if (first !== 0) return;
    const word = slot >>> 5;
    this.occupied[word] = (this.occupied[word] as number) & ~(1 << (slot & 31));
  }

  /** Takes up to `max` handles off the front of a slot's list, out of the wheel. */
  private drain(slot: number, max: number, out: number[]): number {
    let first = this.heads[slot] as number;
    let taken = 0;
    for (; first !== 0 && taken < max; taken++) {
      const handle = first - 1;
      const links = this.links[handle >>> pageBits] as Int32Array;
      const at = (handle & pageMask) << 1;
      first = links[at] as number;
      links[at] = 0;
      links[at + 1] = 0;
      out.push(handle);
    }
    this.cutBefore(slot, first);
    return taken;
  }

  /** Places up to `max` entries of the cascading slot again, further down. */
  private cascade(max: number): number {
    const slot = this.cascading;
    let first = this.heads[slot] as number;
    let moved = 0;
    for (; first !== 0 && moved < max; moved++) {
      const handle = first - 1;
      first = (this.links[handle >>> pageBits] as Int32Array)[(handle & pageMask) << 1] as number;
      const dueMs = (this.dues[handle >>> pageBits] as Float64Array)[handle & pageMask] as number;
      this.place(handle, dueMs);
    }
    this.cutBefore(slot, first);
    if (first === 0) this.cascading = -1;
    return moved;
  }

  /** Makes `first` the head of the slot's list, after those before it have gone elsewhere. */
  private cutBefore(slot: number, first: number): void {
    this.setHead(slot, first);
    if (first === 0) return;
    (this.links[(first - 1) >>> pageBits] as Int32Array)[(((first - 1) & pageMask) << 1) + 1] =
      -1 - slot;
  }

  /** The earliest occupied slot; −1: none. Slots behind the present are empty. */
  private nextSlot(): number {
    for (let word = 0; word < tierCount * 2; word++) {
      const bits = this.occupied[word] as number;
      if (bits !== 0) return (word << 5) + 31 - Math.clz32(bits & -bits);
    }
    return -1;
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

/** What lies beyond the ends is treated as being there. */
function tickOf(wholeMs: number): number {
  return Math.min(Math.max(wholeMs + originMs, 0), horizon);
}
