/**
 * The handles in each slot of the wheel, with the times they are due, as stacks of bundles of 64. A handle
 * knows its place, so it can be taken out of the middle: the last of its slot moves into the gap.
 *
 * Why not linked lists through the handles: following them is one wait for memory after the other, while
 * the entries of a bundle stand side by side. Draining is several times faster that way.
 *
 * Invariants:
 *  B1  All bundles of a slot are full but the last, and that one is not empty.
 *  B2  A slot's bit is set exactly when it holds a handle.
 */
import { invariant } from '@carillon/core';

const bundleBits = 6;
const bundleSize = 1 << bundleBits;

/**
 * Columns grow by whole pages, so that growing never copies existing pages. The first page begins short and doubles:
 * few handles take few bytes.
 */
const pageBits = 16;
const pageSize = 1 << pageBits;
const pageMask = pageSize - 1;
const firstSize = 1024;

export class Bundles {
  /** By handle: its place + 1; 0: in no slot. */
  private readonly places: Int32Array<ArrayBuffer>[] = [];
  /** By place (bundle × 64 + rank): the handle there, and when it is due. */
  private readonly handles: Int32Array<ArrayBuffer>[] = [];
  private readonly dues: Float64Array[] = [];
  /** By bundle: its slot, and the bundle below it + 1 in the stack; of a free one, the next free + 1. */
  private slotOf = new Int32Array(1024);
  private below = new Int32Array(1024);
  private bundleCount = 0;
  private freeBundle = 0;
  /** By slot: its last bundle + 1, and how many handles are in that one. */
  private readonly last: Int32Array;
  private readonly fill: Uint8Array;
  /** 32 slots a word. */
  private readonly occupied: Uint32Array;

  constructor(slotCount: number) {
    this.last = new Int32Array(slotCount);
    this.fill = new Uint8Array(slotCount);
    this.occupied = new Uint32Array(Math.ceil(slotCount / 32));
  }

  get bytes(): number {
    const pages = [...this.places, ...this.handles, ...this.dues, this.below, this.slotOf];
    return pages.reduce((sum, page) => sum + page.byteLength, 0);
  }

  has(handle: number): boolean {
    return (this.places[handle >>> pageBits]?.[handle & pageMask] ?? 0) !== 0;
  }

  isEmpty(slot: number): boolean {
    return this.last[slot] === 0;
  }

  /** The lowest slot that holds a handle; −1: none does. */
  firstSlot(): number {
    const { occupied } = this;
    for (let word = 0; word < occupied.length; word++) {
      const bits = occupied[word] as number;
      if (bits !== 0) return (word << 5) + 31 - Math.clz32(bits & -bits);
    }
    return -1;
  }

  /** The handle must be in no slot. */
  push(slot: number, handle: number, dueMs: number): void {
    invariant(!this.has(handle), 'a handle is in one slot of the wheel at most');
    let fill = this.fill[slot] as number;
    if (fill === bundleSize || this.last[slot] === 0) {
      this.addBundle(slot);
      fill = 0;
    }
    this.fill[slot] = fill + 1;
    this.put((((this.last[slot] as number) - 1) << bundleBits) | fill, handle, dueMs);
  }

  /** When the handle is due that `pop` takes next out of a slot that is not empty. */
  nextDue(slot: number): number {
    return this.dueAt(this.lastPlace(slot));
  }

  /** Takes the last handle out of a slot that is not empty. */
  pop(slot: number): number {
    const place = this.lastPlace(slot);
    const handle = (this.handles[place >>> pageBits] as Int32Array)[place & pageMask] as number;
    this.setPlace(handle, 0);
    const rank = place & (bundleSize - 1);
    if (rank === 0) this.dropBundle(slot, place >>> bundleBits);
    else this.fill[slot] = rank;
    return handle;
  }

  /** False when the handle was in no slot. */
  remove(handle: number): boolean {
    if (!this.has(handle)) return false;
    const place = this.placeOf(handle);
    const slot = this.slotOf[place >>> bundleBits] as number;
    const dueMs = this.nextDue(slot);
    const last = this.pop(slot);
    if (last === handle) return true;
    this.put(place, last, dueMs);
    this.setPlace(handle, 0);
    return true;
  }

  private lastPlace(slot: number): number {
    invariant(this.last[slot] !== 0, 'a slot that gives up a handle is not empty');
    return (((this.last[slot] as number) - 1) << bundleBits) | ((this.fill[slot] as number) - 1);
  }

  private dueAt(place: number): number {
    return (this.dues[place >>> pageBits] as Float64Array)[place & pageMask] as number;
  }

  private placeOf(handle: number): number {
    return ((this.places[handle >>> pageBits] as Int32Array)[handle & pageMask] as number) - 1;
  }

  private setPlace(handle: number, placeAndOne: number): void {
    (this.places[handle >>> pageBits] as Int32Array)[handle & pageMask] = placeAndOne;
  }

  private put(place: number, handle: number, dueMs: number): void {
    this.makePlaces(handle);
    this.setPlace(handle, place + 1);
    const page = place >>> pageBits;
    (this.handles[page] as Int32Array)[place & pageMask] = handle;
    (this.dues[page] as Float64Array)[place & pageMask] = dueMs;
  }

  private makePlaces(handle: number): void {
    const { places } = this;
    while (handle >>> pageBits >= places.length) {
      places.push(new Int32Array(places.length === 0 ? firstSize : pageSize));
    }
    let page = places[handle >>> pageBits] as Int32Array<ArrayBuffer>;
    while ((handle & pageMask) >= page.length) {
      page = doubled(page);
      places[0] = page;
    }
  }

  private addBundle(slot: number): void {
    let bundle = this.freeBundle - 1;
    if (bundle >= 0) this.freeBundle = this.below[bundle] as number;
    else bundle = this.newBundle();
    const last = this.last[slot] as number;
    this.slotOf[bundle] = slot;
    this.below[bundle] = last;
    this.last[slot] = bundle + 1;
    if (last !== 0) return;
    const word = slot >>> 5;
    this.occupied[word] = (this.occupied[word] as number) | (1 << (slot & 31));
  }

  private newBundle(): number {
    const bundle = this.bundleCount++;
    this.makeRoom(bundle << bundleBits);
    if (bundle === this.below.length) {
      this.below = doubled(this.below);
      this.slotOf = doubled(this.slotOf);
    }
    return bundle;
  }

  private makeRoom(place: number): void {
    const page = this.handles[place >>> pageBits];
    if (page === undefined) {
      const size = place === 0 ? firstSize : pageSize;
      this.handles.push(new Int32Array(size));
      this.dues.push(new Float64Array(size));
    } else if (place === page.length) {
      this.handles[0] = doubled(page);
      const dues = new Float64Array(page.length * 2);
      dues.set(this.dues[0] as Float64Array);
      this.dues[0] = dues;
    }
  }

  /** The slot's last bundle has become empty; the one below it is full. */
  private dropBundle(slot: number, bundle: number): void {
    const below = this.below[bundle] as number;
    this.last[slot] = below;
    this.fill[slot] = bundleSize;
    this.below[bundle] = this.freeBundle;
    this.freeBundle = bundle + 1;
    if (below !== 0) return;
    const word = slot >>> 5;
    this.occupied[word] = (this.occupied[word] as number) & ~(1 << (slot & 31));
  }
}

function doubled(column: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(column.length * 2);
  longer.set(column);
  return longer;
}
