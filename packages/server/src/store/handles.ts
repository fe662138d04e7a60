/**
 * Handles: small numbers that stand for records, each with three words beside it: the halves of the record's 64-bit
 * number, and the ref of its row in the arena. A handle stays the same while its record is here, also when its row
 * moves.
 *
 * Example. Handles 0, 1 and 2 are taken. 1 is given back, then 0: they form a chain, 0 → 1. The next record gets 0, the
 * one after it gets 1, and the third gets 3, which is new. Of a handle in the chain the first word is the next one + 1,
 * so the chain takes no memory of its own.
 */

/** Columns grow by whole pages, so that growing never copies the earlier ones. */
const pageBits = 16;
const pageSize = 1 << pageBits;
const pageMask = pageSize - 1;

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
    return this.pages.length * pageSize * 12;
  }

  /** The handle that was given back last, or else a new one. It has no row yet: `setRef` comes next. */
  take(hi: number, lo: number): number {
    let handle = this.free - 1;
    if (handle >= 0) this.free = this.hiOf(handle);
    else handle = this.made++;
    if (handle >>> pageBits === this.pages.length) {
      this.pages.push(new Uint32Array(pageSize * 3));
    }
    this.setWord(handle, 0, hi);
    this.setWord(handle, 1, lo);
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
