/**
 * Handles: small numbers that stand for records, each with three words beside it: the halves of the record's 64-bit
 * number, and the ref of its row in the arena. A handle stays the same while its record is here, also when its row
 * moves.
 *
 * Example. Handles 0, 1 and 2 are taken. 1 is given back, then 0: they form a chain, 0 → 1. The next record gets 0, the
 * one after it gets 1, and the third gets 3, which is new. Of a handle in the chain the first word is the next one + 1,
 * so the chain takes no memory of its own.
 */

/**
 * Columns grow by whole pages, so that growing never copies the earlier ones. The first page begins short and doubles:
 * few records take few bytes.
 */
const pageBits = 16;
const pageSize = 1 << pageBits;
const pageMask = pageSize - 1;
const firstSize = 1024;

/** As a ref: the handle is not in use. */
export const unused = 0xffffffff;

export class Handles {
  /** Three words a handle, side by side because they are used together. */
  private readonly pages: Uint32Array[] = [];
  /** Handles given out so far, in use or not: the pages reach this far. */
  private made = 0;
  /** Head of the chain of handles not in use, + 1; 0: there is none. */
  private free = 0;

  /** Every handle is below. */
  get count(): number {
    return this.made;
  }

  get bytes(): number {
    return this.pages.reduce((sum, page) => sum + page.byteLength, 0);
  }

  /** The handle that was given back last, or else a new one. It has no row yet: `setRef` comes next. */
  take(hi: number, lo: number): number {
    let handle = this.free - 1;
    if (handle >= 0) this.free = this.hiOf(handle);
    else handle = this.makeOne();
    this.setWord(handle, 0, hi);
    this.setWord(handle, 1, lo);
    return handle;
  }

  private makeOne(): number {
    const handle = this.made++;
    const page = this.pages[handle >>> pageBits];
    if (page === undefined) {
      this.pages.push(new Uint32Array((handle === 0 ? firstSize : pageSize) * 3));
    } else if (handle * 3 === page.length) {
      const longer = new Uint32Array(page.length * 2);
      longer.set(page);
      this.pages[0] = longer;
    }
    return handle;
  }

  /** Puts the handle at the head of the chain, whose next link takes the place of the number. */
  give(handle: number): void {
    this.setRef(handle, unused);
    this.setWord(handle, 0, this.free);
    this.free = handle + 1;
  }

  /** High half of the number. */
  hiOf(handle: number): number {
    return this.word(handle, 0);
  }

  /** Low half of the number. */
  loOf(handle: number): number {
    return this.word(handle, 1);
  }

  refOf(handle: number): number {
    return this.word(handle, 2);
  }

  setRef(handle: number, ref: number): void {
    this.setWord(handle, 2, ref);
  }

  /** `which`: 0 and 1 are the halves of the number, 2 is the ref. */
  private word(handle: number, which: number): number {
    const page = this.pages[handle >>> pageBits] as Uint32Array;
    return page[(handle & pageMask) * 3 + which] as number;
  }

  private setWord(handle: number, which: number, value: number): void {
    const page = this.pages[handle >>> pageBits] as Uint32Array;
    page[(handle & pageMask) * 3 + which] = value;
  }
}
