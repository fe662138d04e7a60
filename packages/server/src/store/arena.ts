/**
 * Byte blocks of any size off the JavaScript heap, named by a 32-bit ref. `store.ts` keeps the refs and its packed
 * rows in the blocks.
 *
 * Memory comes in pages of 256 KiB, at first of 16 KiB. A page serves one size class (multiples of 8 bytes up to 256,
 * then eight classes per doubling up to 64 KiB) and has its own list of free slots, so that a page whose last slot is
 * released can serve any other class. A larger block gets a page of its own.
 *
 * Compaction: when gaps add up, `beginCompaction` takes the emptiest pages out of use; the owner of the refs then
 * moves the blocks that still lie there (`isSparse`, `move`), in slices as small as it likes. The arena does not know
 * the owner of a ref, which saves a back pointer in every block.
 *
 * Invariants:
 *  A1  A ref stays valid, and its bytes in place, until it is released or moved.
 *  A2  No slot of a sparse page is handed out.
 *  A3  A page is in its class's list of roomy pages exactly when it has room and is not sparse.
 */
import { invariant } from '@carillon/core';

const granuleBits = 3;
const granule = 1 << granuleBits;
/** A ref is the page's number and, in these low bits, the granule in the page. */
const offsetBits = 15;
const offsetMask = (1 << offsetBits) - 1;
const pageBytes = granule << offsetBits;
const pageCountMax = 2 ** (32 - offsetBits);
/** Pages of an arena with few blocks: a whole one for each of their classes would be hundreds of times as much. */
const shortPageBytes = 16 * 1024;
/** A class with larger slots has whole pages only. */
const shortSlotBytesMax = 1024;
/** From this size on, an arena takes whole pages only. */
const shortArenaBytesMax = 1024 * 1024;

const fineBytesMax = 256;
const slotBytesMax = 64 * 1024;
/** Empty pages kept for the next class that needs one. */
const sparePageCountMax = 16;
/** Below this, gaps are not worth moving anything. */
const gapBytesMin = 4 * 1024 * 1024;

const classBytes = sizesOfClasses();

/** Where a block's bytes are, at `offsetOf(ref)`. Valid until the block is released or moved. */
export interface ArenaPage {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView<ArrayBuffer>;
}

class Page implements ArenaPage {
  readonly id: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView<ArrayBuffer>;
  readonly slotBytes: number;
  readonly slotCount: number;
  /** −1: one large block that has the page for itself. */
  readonly sizeClass: number;
  used = 0;
  /** Slots handed out at least once; the page's memory beyond them was never touched. */
  touched = 0;
  /** Byte offset + 1 of the first released slot; 0: none. Its first four bytes name the next in the same way. */
  free = 0;
  /** Where the page stands in its class's list of roomy pages; −1: not there. */
  place = -1;
  sparse = false;

  constructor(id: number, buffer: ArrayBuffer, sizeClass: number) {
    this.id = id;
    this.bytes = new Uint8Array(buffer);
    this.view = new DataView(buffer);
    this.sizeClass = sizeClass;
    this.slotBytes = sizeClass < 0 ? buffer.byteLength : (classBytes[sizeClass] as number);
    this.slotCount = Math.floor(buffer.byteLength / this.slotBytes);
  }

  take(): number {
    this.used++;
    invariant(this.used <= this.slotCount, 'a page gives no more slots than it has');
    if (this.free === 0) return this.touched++ * this.slotBytes;
    const offset = this.free - 1;
    this.free = this.view.getUint32(offset, true);
    return offset;
  }

  give(offset: number): void {
    invariant(this.used > 0, 'a page takes back no more slots than it gave');
    this.view.setUint32(offset, this.free, true);
    this.free = offset + 1;
    this.used--;
  }
}

export class Arena {
  private readonly pages: (Page | undefined)[] = [];
  private readonly freeIds: number[] = [];
  private readonly spare: ArrayBuffer[] = [];
  private readonly spareShort: ArrayBuffer[] = [];
  private readonly roomy: Page[][] = classBytes.map(() => []);
  private gapBytes = 0;
  /** Gaps that the last compaction could not remove; the next one starts when there are clearly more. */
  private gapBytesAccepted = 0;
  private pageBytesTotal = 0;
  private usedBytesTotal = 0;

  /** In blocks handed out, rounded up to their class. */
  get usedBytes(): number {
    return this.usedBytesTotal;
  }

  /** Of all pages, used or not. */
  get bytes(): number {
    const { spare, spareShort } = this;
    return this.pageBytesTotal + spare.length * pageBytes + spareShort.length * shortPageBytes;
  }

  /** A block with room for `length` bytes, whose content is arbitrary. */
  allocate(length: number): number {
    const sizeClass = classFor(length);
    const page = sizeClass < 0 ? this.addPage(-1, length) : this.pageWithRoom(sizeClass);
    if (page.free !== 0) this.gapBytes -= page.slotBytes;
    const offset = page.take();
    if (page.used === page.slotCount) this.dropRoomy(page);
    this.usedBytesTotal += page.slotBytes;
    return refOf(page, offset);
  }

  /**
   * Up to `countMax` blocks of `length` bytes that lie side by side: the first, how many they are, and the step from
   * ref to ref.
   */
  reserve(length: number, countMax: number): { ref: number; count: number; step: number } {
    const sizeClass = classFor(length);
    const step = length >>> granuleBits;
    // Of another release's size: each may get more room than it needs.
    if (sizeClass < 0 || classBytes[sizeClass] !== length) {
      return { ref: this.allocate(length), count: 1, step };
    }
    let page = this.pageWithRoom(sizeClass);
    if (page.touched === page.slotCount) {
      page = this.addRoomyPage(sizeClass);
    }
    const count = Math.min(countMax, page.slotCount - page.touched);
    const offset = page.touched * length;
    page.touched += count;
    page.used += count;
    this.usedBytesTotal += count * length;
    if (page.used === page.slotCount) this.dropRoomy(page);
    return { ref: refOf(page, offset), count, step };
  }

  release(ref: number): void {
    const page = this.page(ref);
    page.give(this.offsetOf(ref));
    this.usedBytesTotal -= page.slotBytes;
    this.gapBytes += page.slotBytes;
    if (page.used === 0) this.dropPage(page);
    else if (page.place < 0 && !page.sparse) this.addRoomy(page);
  }

  /** Whether a block of `length` bytes would get just the room that this one has. */
  fits(ref: number, length: number): boolean {
    const { sizeClass, slotBytes } = this.page(ref);
    return sizeClass < 0 ? length === slotBytes : classFor(length) === sizeClass;
  }

  page(ref: number): ArenaPage & Page {
    const page = this.pages[ref >>> offsetBits];
    invariant(page !== undefined, 'a ref names a page of the arena');
    return page;
  }

  offsetOf(ref: number): number {
    return (ref & offsetMask) << granuleBits;
  }

  get wantsCompaction(): boolean {
    return (
      this.gapBytes > gapBytesMin + this.gapBytesAccepted * 1.5 &&
      this.gapBytes > this.usedBytesTotal / 4
    );
  }

  /**
   * Takes the emptiest pages of each class out of use, as many as the others (and few new ones) can make
   * up for. False when that would help nothing.
   */
  beginCompaction(): boolean {
    let found = false;
    for (const pages of this.roomy) {
      for (const page of sparsest(pages)) {
        this.dropRoomy(page);
        page.sparse = true;
        found = true;
      }
    }
    if (!found) this.endCompaction();
    return found;
  }

  /** To be called when everything in sparse pages has been moved. */
  endCompaction(): void {
    this.gapBytesAccepted = this.gapBytes;
  }

  isSparse(ref: number): boolean {
    return this.page(ref).sparse;
  }

  /** The block's new ref, in a page that stays. */
  move(ref: number): number {
    const from = this.page(ref);
    const offset = this.offsetOf(ref);
    const moved = this.allocate(from.slotBytes);
    invariant(!this.isSparse(moved), 'a block moves to a page that stays');
    this.page(moved).bytes.set(
      from.bytes.subarray(offset, offset + from.slotBytes),
      this.offsetOf(moved),
    );
    this.release(ref);
    return moved;
  }

  private pageWithRoom(sizeClass: number): Page {
    const pages = this.roomy[sizeClass] as Page[];
    const page = pages[pages.length - 1];
    return page ?? this.addRoomyPage(sizeClass);
  }

  private addRoomyPage(sizeClass: number): Page {
    const isShort =
      this.pageBytesTotal < shortArenaBytesMax &&
      (classBytes[sizeClass] as number) <= shortSlotBytesMax;
    const page = this.addPage(sizeClass, isShort ? shortPageBytes : pageBytes);
    this.addRoomy(page);
    return page;
  }

  private addPage(sizeClass: number, length: number): Page {
    const id = this.freeIds.pop() ?? this.pages.length;
    invariant(id < pageCountMax, 'the arena has a bounded number of pages');
    const reused = sizeClass < 0 ? undefined : this.spareOf(length).pop();
    const page = new Page(id, reused ?? new ArrayBuffer(length), sizeClass);
    this.pages[id] = page;
    this.pageBytesTotal += page.bytes.length;
    return page;
  }

  /** The page is empty: none of its slots is in use any more. */
  private dropPage(page: Page): void {
    invariant(page.used === 0, 'a page that is dropped has no slot in use');
    this.dropRoomy(page);
    this.pages[page.id] = undefined;
    this.freeIds.push(page.id);
    this.pageBytesTotal -= page.bytes.length;
    this.gapBytes -= page.touched * page.slotBytes;
    const spare = this.spareOf(page.bytes.length);
    if (page.sizeClass >= 0 && spare.length < sparePageCountMax) spare.push(page.bytes.buffer);
  }

  private spareOf(length: number): ArrayBuffer[] {
    return length === shortPageBytes ? this.spareShort : this.spare;
  }

  private addRoomy(page: Page): void {
    const pages = this.roomy[page.sizeClass] as Page[];
    page.place = pages.length;
    pages.push(page);
  }

  private dropRoomy(page: Page): void {
    if (page.place < 0) return;
    const pages = this.roomy[page.sizeClass] as Page[];
    const last = pages.pop() as Page;
    if (last !== page) {
      pages[page.place] = last;
      last.place = page.place;
    }
    page.place = -1;
  }
}

function refOf(page: Page, offset: number): number {
  return ((page.id << offsetBits) | (offset >>> granuleBits)) >>> 0;
}

/** The emptiest pages of one class that the rest has room for, with a tenth to spare. */
function sparsest(pages: readonly Page[]): Page[] {
  const [first] = pages;
  if (first === undefined) return [];
  const used = pages.reduce((sum, page) => sum + page.used, 0);
  const needed = Math.ceil((used * 1.1) / Math.floor(pageBytes / first.slotBytes));
  if (needed >= pages.length) return [];
  return pages.toSorted((a, b) => a.used - b.used).slice(0, pages.length - needed);
}

/** −1: too large for a class. */
function classFor(length: number): number {
  if (length <= fineBytesMax) return length === 0 ? 0 : (length - 1) >>> granuleBits;
  if (length > slotBytesMax) return -1;
  // Eight classes per doubling: the doubling is given by the highest bit, the class by the three below it.
  const bit = 31 - Math.clz32(length - 1);
  const doubling = bit - 8;
  return fineBytesMax / granule + doubling * 8 + (((length - 1) >>> (bit - 3)) & 7);
}

function sizesOfClasses(): number[] {
  const sizes: number[] = [];
  for (let size = granule; size <= fineBytesMax; size += granule) sizes.push(size);
  for (let base = fineBytesMax; base < slotBytesMax; base *= 2) {
    for (let eighth = 1; eighth <= 8; eighth++) sizes.push(base + (base / 8) * eighth);
  }
  return sizes;
}
