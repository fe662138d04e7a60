/**
 * Finds a record's handle by its 64-bit number, and walks all numbers in an order that every member
 * shares: by a mixed 32-bit hash, then by the number itself. List cursors, resync walks and the 256
 * digest ranges rely on that order.
 *
 * A range (the top byte of the hash) is a row of leaves, each up to 64 entries sorted in that order, and for each leaf
 * the hash from which on it is responsible. Looking up is two searches; adding moves at most one leaf's entries. Not a
 * hash table, because members send each other records in this very order, and a table whose slots follow the hash fills
 * from one end then: the last insert of such a run would have to pass all before it.
 *
 * Invariants:
 *  I1  Entries rise along a leaf and from leaf to leaf, by hash and, where hashes are equal, by number.
 *  I2  The hashes in a leaf are not less than its bound, and not more than the next leaf's.
 *  I3  A range has at least one leaf; every other leaf holds at least one entry.
 */
import { invariant } from '@carillon/core';
import { LeafPool, leafSize, startOf } from './search/leaf-pool.ts';

/** Ranges of numbers by their hash: two members compare their records range by range. */
export const rangeCount = 256;

/** A handle beside the lower 24 bits of a hash: both are exact in a number. */
const keyUnit = 2 ** 29;

/** The number of a handle, in halves: the index asks for it where hashes are equal. */
export interface Numbers {
  hiOf(handle: number): number;
  loOf(handle: number): number;
}

/** A place in the order: just behind this number, whether or not it is there. */
export interface Position {
  readonly hi: number;
  readonly lo: number;
}

interface Range {
  /** In order: which leaf, from which hash on. */
  leaves: Int32Array<ArrayBuffer>;
  bounds: Uint32Array<ArrayBuffer>;
  count: number;
}

export class NumberIndex {
  private readonly numbers: Numbers;
  /** An entry is the pair of its hash and its handle. */
  private readonly pool = new LeafPool();
  private readonly ranges: Range[];
  /** Where `seek` stopped: the place of a leaf in its range, the place of an entry in the leaf. */
  private leafAt = 0;
  private entryAt = 0;
  /**
   * The number that was sought last and its handle, while the two above are still its place: a put often follows a get
   * of the same number.
   */
  private soughtHi = 0;
  private soughtLo = 0;
  private sought = -1;
  private inPlace = false;
  /** Whether the newest entry is the last of its range. The next one often is too, as while a snapshot is read. */
  private isAppending = false;

  constructor(numbers: Numbers) {
    this.numbers = numbers;
    this.ranges = Array.from({ length: rangeCount }, () => ({
      leaves: Int32Array.of(this.pool.take(), 0),
      bounds: new Uint32Array(2),
      count: 1,
    }));
  }

  get bytes(): number {
    const rows = this.ranges.reduce((sum, range) => sum + range.bounds.byteLength * 2, 0);
    return this.pool.bytes + rows;
  }

  /** The handle of the number; −1 when it is not here. */
  find(hi: number, lo: number): number {
    if (this.inPlace && hi === this.soughtHi && lo === this.soughtLo) return this.sought;
    const hash = hashOf(hi, lo);
    this.sought = this.seek(this.ranges[hash >>> 24] as Range, hash, hi, lo);
    this.soughtHi = hi;
    this.soughtLo = lo;
    this.inPlace = true;
    return this.sought;
  }

  /** The number must not be here yet; `numbers` must know the handle already. */
  insert(handle: number): void {
    const hi = this.numbers.hiOf(handle);
    const lo = this.numbers.loOf(handle);
    const hash = hashOf(hi, lo);
    const range = this.ranges[hash >>> 24] as Range;
    const found = this.find(hi, lo);
    invariant(found < 0, 'a number is in the index once');
    this.inPlace = false;
    let leaf = range.leaves[this.leafAt] as number;
    const count = this.pool.used[leaf] as number;
    this.isAppending = this.entryAt === count && this.leafAt === range.count - 1;
    if (count === leafSize) leaf = this.split(range, hash);
    this.pool.insert(leaf, this.entryAt, hash, handle);
  }

  /**
   * Adds the handles from 0 up to `end` at once, in full leaves: faster than one by one, and in any order. The index
   * must be empty. Returns handles that were left out because another one has the same number.
   */
  build(end: number): number[] {
    const starts = this.countRanges(end);
    const keys = this.sortedKeys(end, starts);
    const doubles: number[] = [];
    for (let number = 0; number < rangeCount; number++) {
      const to = starts[number + 1] as number;
      for (let at = starts[number] as number; at < to; ) {
        const rest = restOf(keys[at] as number);
        let next = at + 1;
        while (next < to && restOf(keys[next] as number) === rest) next++;
        if (next > at + 1) this.appendEqual(keys.subarray(at, next), number, doubles);
        else this.append(number, rest, handleOf(keys[at] as number));
        at = next;
      }
    }
    return doubles;
  }

  /** False when the number was not here. */
  remove(hi: number, lo: number): boolean {
    const hash = hashOf(hi, lo);
    const range = this.ranges[hash >>> 24] as Range;
    if (this.find(hi, lo) < 0) return false;
    this.inPlace = false;
    const leaf = range.leaves[this.leafAt] as number;
    if (this.pool.remove(leaf, this.entryAt)) this.mergeAround(range, this.leafAt);
    return true;
  }

  /** Appends the handles of one range to `out`, in order. */
  range(number: number, out: number[]): void {
    const range = this.ranges[number] as Range;
    this.inPlace = false;
    this.entryAt = 0;
    for (let place = 0; place < range.count; place++) {
      this.copyOut(range.leaves[place] as number, leafSize, out);
    }
  }

  /** Appends up to `limit` handles that come after `after` to `out`, in order; null: from the start. */
  next(after: Position | null, limit: number, out: number[]): void {
    let number = 0;
    this.inPlace = false;
    this.leafAt = 0;
    this.entryAt = 0;
    if (after !== null) {
      const hash = hashOf(after.hi, after.lo);
      number = hash >>> 24;
      if (this.seek(this.ranges[number] as Range, hash, after.hi, after.lo) >= 0) this.entryAt++;
    }
    let left = limit;
    for (; number < rangeCount && left > 0; number++, this.leafAt = 0) {
      const range = this.ranges[number] as Range;
      for (; this.leafAt < range.count && left > 0; this.leafAt++) {
        left -= this.copyOut(range.leaves[this.leafAt] as number, left, out);
      }
    }
  }

  /** Appends up to `limit` handles of a leaf, from `entryAt` on; how many. The next leaf is read from its start. */
  private copyOut(leaf: number, limit: number, out: number[]): number {
    const page = this.pool.pageOf(leaf);
    const start = startOf(leaf);
    const from = this.entryAt;
    const end = Math.min(this.pool.used[leaf] as number, from + limit);
    for (let at = from; at < end; at++) out.push(page[start + at * 2 + 1] as number);
    this.entryAt = 0;
    return Math.max(0, end - from);
  }

  /**
   * The handle of the number, or −1. Either way `leafAt` and `entryAt` say where it is or belongs: at the
   * end of a leaf rather than at the start of the next.
   */
  private seek(range: Range, hash: number, hi: number, lo: number): number {
    if (this.isAppending && this.isBehindAll(range, hash)) return -1;
    let place = leafBefore(range, hash);
    let leaf = range.leaves[place] as number;
    let page = this.pool.pageOf(leaf);
    let at = this.entryFrom(range, place, hash);
    for (;;) {
      for (const count = this.pool.used[leaf] as number; at < count; at++) {
        const entry = startOf(leaf) + at * 2;
        const found = page[entry] as number;
        const handle = page[entry + 1] as number;
        if (found === hash && this.isLess(handle, hi, lo)) continue;
        this.leafAt = place;
        this.entryAt = at;
        return found === hash && this.isNumber(handle, hi, lo) ? handle : -1;
      }
      this.leafAt = place;
      this.entryAt = at;
      // Equal hashes may go on in the next leaf.
      if (++place >= range.count || (range.bounds[place] as number) > hash) return -1;
      leaf = range.leaves[place] as number;
      page = this.pool.pageOf(leaf);
      at = 0;
    }
  }

  /** Whether the hash is greater than all of the range; its place is behind them then. */
  private isBehindAll(range: Range, hash: number): boolean {
    const place = range.count - 1;
    const leaf = range.leaves[place] as number;
    const count = this.pool.used[leaf] as number;
    if (count === 0) return false;
    if ((this.pool.pageOf(leaf)[startOf(leaf) + count * 2 - 2] as number) >= hash) return false;
    this.leafAt = place;
    this.entryAt = count;
    return true;
  }

  /** The first entry of a leaf whose hash is not less. Hashes are spread evenly, so a guess is close. */
  private entryFrom(range: Range, place: number, hash: number): number {
    const leaf = range.leaves[place] as number;
    const page = this.pool.pageOf(leaf);
    const start = startOf(leaf);
    const used = this.pool.used[leaf] as number;
    const from = place === 0 ? (hash & 0xff000000) >>> 0 : (range.bounds[place] as number);
    const to =
      place + 1 < range.count ? (range.bounds[place + 1] as number) : (hash | 0xffffff) >>> 0;
    let at = Math.min(used, Math.floor(((hash - from) / (to - from + 1)) * used));
    while (at > 0 && (page[start + at * 2 - 2] as number) >= hash) at--;
    while (at < used && (page[start + at * 2] as number) < hash) at++;
    return at;
  }

  /** Makes room in the full leaf at `leafAt`; returns the leaf for the entry and sets its place. */
  private split(range: Range, hash: number): number {
    const full = range.leaves[this.leafAt] as number;
    // A run in order leaves full leaves behind it, not halves.
    const kept = this.entryAt === leafSize ? leafSize : leafSize / 2;
    const added = this.pool.moveTail(full, kept);
    const first = this.pool.pageOf(added)[startOf(added)] as number;
    insertLeaf(range, this.leafAt + 1, added, kept === leafSize ? hash : first);
    // At the seam it stays on the left: the right leaf's bound may be above it.
    if (kept < leafSize && this.entryAt <= kept) return full;
    this.leafAt++;
    this.entryAt -= kept;
    return added;
  }

  /** By range: how many of the handles come before it. */
  private countRanges(end: number): Uint32Array {
    invariant(end < keyUnit, 'handles leave room for the hash beside them');
    const starts = new Uint32Array(rangeCount + 1);
    for (let handle = 0; handle < end; handle++) {
      const after = (this.hashAt(handle) >>> 24) + 1;
      starts[after] = (starts[after] as number) + 1;
    }
    for (let number = 1; number <= rangeCount; number++) {
      starts[number] = (starts[number] as number) + (starts[number - 1] as number);
    }
    return starts;
  }

  /** Range by range, the rest of each hash with its handle as one number, in order. */
  private sortedKeys(end: number, starts: Uint32Array): Float64Array {
    const keys = new Float64Array(end);
    const places = starts.slice();
    const isUnsorted = new Uint8Array(rangeCount);
    for (let handle = 0; handle < end; handle++) {
      const hash = this.hashAt(handle);
      const number = hash >>> 24;
      const place = places[number] as number;
      const key = (hash & 0xffffff) * keyUnit + handle;
      places[number] = place + 1;
      keys[place] = key;
      // As in a snapshot whose rows all have the same length, there is often nothing to be sorted.
      if (place > (starts[number] as number) && (keys[place - 1] as number) > key) {
        isUnsorted[number] = 1;
      }
    }
    for (let number = 0; number < rangeCount; number++) {
      if (isUnsorted[number] === 1) keys.subarray(starts[number], starts[number + 1]).sort();
    }
    return keys;
  }

  private hashAt(handle: number): number {
    return hashOf(this.numbers.hiOf(handle), this.numbers.loOf(handle));
  }

  /** Where hashes are equal the number decides, and not the handle. */
  private appendEqual(keys: Float64Array, number: number, doubles: number[]): void {
    const { numbers } = this;
    const handles = Array.from(keys, handleOf).toSorted(
      (a, b) => numbers.hiOf(a) - numbers.hiOf(b) || numbers.loOf(a) - numbers.loOf(b) || a - b,
    );
    const rest = restOf(keys[0] as number);
    for (const [place, handle] of handles.entries()) {
      const before = handles[place - 1];
      const isDouble =
        before !== undefined && this.isNumber(before, numbers.hiOf(handle), numbers.loOf(handle));
      if (isDouble) doubles.push(handle);
      else this.append(number, rest, handle);
    }
  }

  /** Adds an entry behind all others of its range. */
  private append(number: number, restOfHash: number, handle: number): void {
    const range = this.ranges[number] as Range;
    const hash = ((number << 24) | restOfHash) >>> 0;
    let leaf = range.leaves[range.count - 1] as number;
    let count = this.pool.used[leaf] as number;
    if (count === leafSize) {
      leaf = this.pool.take();
      insertLeaf(range, range.count, leaf, hash);
      count = 0;
    }
    this.pool.insert(leaf, count, hash, handle);
  }

  private mergeAround(range: Range, place: number): void {
    if (place + 1 < range.count && this.mergeNext(range, place)) return;
    if (place > 0) this.mergeNext(range, place - 1);
  }

  /** Moves the next leaf's entries into this one, if both together leave room to spare. */
  private mergeNext(range: Range, place: number): boolean {
    const left = range.leaves[place] as number;
    if (!this.pool.join(left, range.leaves[place + 1] as number)) return false;
    removeLeaf(range, place + 1);
    return true;
  }

  private isNumber(handle: number, hi: number, lo: number): boolean {
    return this.numbers.loOf(handle) === lo && this.numbers.hiOf(handle) === hi;
  }

  private isLess(handle: number, hi: number, lo: number): boolean {
    const found = this.numbers.hiOf(handle);
    return found < hi || (found === hi && this.numbers.loOf(handle) < lo);
  }
}

/** The hash in a key, but for its range. */
function restOf(key: number): number {
  return Math.floor(key / keyUnit);
}

function handleOf(key: number): number {
  return key - restOf(key) * keyUnit;
}

/** Which of the 256 ranges a number belongs to. */
export function rangeOf(hi: number, lo: number): number {
  return hashOf(hi, lo) >>> 24;
}

/** The order of all walks: negative when `a` comes first. */
export function compareNumbers(a: Position, b: Position): number {
  return hashOf(a.hi, a.lo) - hashOf(b.hi, b.lo) || a.hi - b.hi || a.lo - b.lo;
}

/**
 * The first part of that order, as a number. All bits of the number stir all bits of the hash. Members agree on it:
 * never change it.
 */
export function hashOf(hi: number, lo: number): number {
  let hash = Math.imul(hi ^ 0x9e3779b9, 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash ^ lo, 0xc2b2ae35);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0x27d4eb2f);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * The last leaf whose bound is less than the hash: equal hashes may start there. The first if there is none.
 * Looks near where it would be if leaves were spread evenly, which touches less memory than halving.
 */
function leafBefore(range: Range, hash: number): number {
  const { bounds, count } = range;
  // The answer + 1 is in [low, high]; a window around the guess grows until it is.
  let low = 1;
  let high = count;
  const guess = Math.floor(((hash & 0xffffff) / 0x1000000) * count);
  for (let reach = 8; reach < count; reach *= 4) {
    const left = Math.max(1, guess - reach);
    const right = Math.min(count, guess + reach);
    const fitsLeft = left === 1 || (bounds[left - 1] as number) < hash;
    const fitsRight = right === count || (bounds[right] as number) >= hash;
    if (fitsLeft) low = left;
    if (fitsRight) high = right;
    if (fitsLeft && fitsRight) break;
  }
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((bounds[middle] as number) < hash) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function insertLeaf(range: Range, place: number, leaf: number, bound: number): void {
  if (range.count === range.leaves.length) {
    const leaves = new Int32Array(range.count * 2);
    const bounds = new Uint32Array(range.count * 2);
    leaves.set(range.leaves);
    bounds.set(range.bounds);
    range.leaves = leaves;
    range.bounds = bounds;
  }
  invariant(place > 0 && place <= range.count, 'a leaf comes behind another one of its range');
  range.leaves.copyWithin(place + 1, place, range.count);
  range.bounds.copyWithin(place + 1, place, range.count);
  range.leaves[place] = leaf;
  range.bounds[place] = bound;
  range.count++;
}

function removeLeaf(range: Range, place: number): void {
  invariant(range.count > 1, 'a range keeps at least one leaf');
  range.leaves.copyWithin(place, place + 1, range.count);
  range.bounds.copyWithin(place, place + 1, range.count);
  range.count--;
}
