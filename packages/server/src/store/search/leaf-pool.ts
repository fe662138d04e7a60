/**
 * Leaves: sorted runs of up to 64 pairs of 32-bit numbers, off the JavaScript heap, for all indexes of a store. An
 * index decides which pairs belong into which leaf and in which order; the pool has their memory and moves pairs within
 * and between leaves. Shared by `number-index.ts` (hash, handle) and `pair-index.ts`.
 *
 * Example. Leaves 0 to 255 share the first page of 128 KiB, 512 bytes each; leaf 256 is the first of the second page.
 * Leaf 3 has 64 pairs when a pair comes for its middle: `moveTail(3, 32)` takes leaf 256 and moves the last 32 pairs
 * there. Later 40 of the 64 pairs go: the 24 that stay fit into one leaf, so `join(3, 256)` moves them there, and leaf
 * 256 can be taken again.
 */

const leafBits = 6;
export const leafSize = 1 << leafBits;
/** Neighbours that would fill no more than this become one. */
const mergeCountMax = (leafSize * 3) / 4;
const pageBits = 8;
const leavesPerPage = 1 << pageBits;

/** Where in its page a leaf starts; each pair takes two places. */
export function startOf(leaf: number): number {
  return (leaf & (leavesPerPage - 1)) << (leafBits + 1);
}

export class LeafPool {
  /** Leaves by page, two numbers a pair. */
  private readonly pages: Uint32Array<ArrayBuffer>[] = [];
  /** By leaf: how many pairs it holds. */
  used = new Uint8Array(leavesPerPage);
  private readonly free: number[] = [];
  private count = 0;

  get bytes(): number {
    return this.pages.length * leavesPerPage * leafSize * 8 + this.used.length;
  }

  take(): number {
    const free = this.free.pop();
    if (free !== undefined) return free;
    const leaf = this.count++;
    if (leaf === this.pages.length * leavesPerPage) {
      this.pages.push(new Uint32Array(leavesPerPage * leafSize * 2));
    }
    if (leaf === this.used.length) {
      const longer = new Uint8Array(leaf * 2);
      longer.set(this.used);
      this.used = longer;
    }
    return leaf;
  }

  give(leaf: number): void {
    this.used[leaf] = 0;
    this.free.push(leaf);
  }

  pageOf(leaf: number): Uint32Array<ArrayBuffer> {
    return this.pages[leaf >>> pageBits] as Uint32Array<ArrayBuffer>;
  }

  /** Puts a pair at a place of a leaf that has room; the pairs from there on move up. */
  insert(leaf: number, place: number, a: number, b: number): void {
    const page = this.pageOf(leaf);
    const start = startOf(leaf);
    const count = this.used[leaf] as number;
    const at = start + place * 2;
    if (place < count) page.copyWithin(at + 2, at, start + count * 2);
    page[at] = a;
    page[at + 1] = b;
    this.used[leaf] = count + 1;
  }

  /**
   * Takes the pair at a place out of the leaf. Returns whether the leaf is empty enough to be joined with a neighbour.
   */
  remove(leaf: number, place: number): boolean {
    const start = startOf(leaf);
    const left = (this.used[leaf] as number) - 1;
    const at = start + place * 2;
    this.pageOf(leaf).copyWithin(at, at + 2, start + (left + 1) * 2);
    this.used[leaf] = left;
    return left <= mergeCountMax / 2;
  }

  /** Moves the pairs behind the first `kept` of a full leaf into a new one, which may stay empty. */
  moveTail(full: number, kept: number): number {
    const added = this.take();
    const from = startOf(full);
    const moved = this.pageOf(full).subarray(from + kept * 2, from + leafSize * 2);
    this.pageOf(added).set(moved, startOf(added));
    this.used[full] = kept;
    this.used[added] = leafSize - kept;
    return added;
  }

  /**
   * Moves the pairs of a leaf behind the pairs of its left neighbour and gives the leaf back, if both leave room to
   * spare.
   */
  join(left: number, right: number): boolean {
    const count = this.used[left] as number;
    const more = this.used[right] as number;
    if (count + more > mergeCountMax) return false;
    const from = startOf(right);
    const moved = this.pageOf(right).subarray(from, from + more * 2);
    this.pageOf(left).set(moved, startOf(left) + count * 2);
    this.used[left] = count + more;
    this.give(right);
    return true;
  }
}
