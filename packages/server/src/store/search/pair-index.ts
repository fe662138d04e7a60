/**
 * Pairs of 32-bit numbers in order, off the JavaScript heap: eight bytes each, and a quarter to a half more for room
 * between them. `search-index.ts` keeps (time, handle) and (hash of a text, handle) here.
 *
 * Three levels: leaves of up to 64 pairs, rows of up to 256 leaves, and one row of all rows. An insertion moves at most
 * the pairs of one leaf, now and then the entries of one row, and never more, also among ten million. Trees of one
 * store share their leaves' memory (`LeafPool`), so that a tree with few pairs costs a kilobyte.
 *
 * Example. With 64 pairs in a leaf, 16,384 leaves are reached through 64 rows: a pair is found by 6 + 8 + 6
 * comparisons.
 *
 * Invariants:
 *  P1  Pairs rise along a leaf, from leaf to leaf and from row to row; none is there twice.
 *  P2  The bound of a leaf, and of a row, is not above its pairs, and above all pairs before it. The first of each has
 *      none.
 *  P3  A row has at least one leaf. Every leaf holds a pair, but the only leaf of an empty tree.
 */
import { invariant } from '@carillon/core';
import { type LeafPool, leafSize, startOf } from './leaf-pool.ts';

/** A neighbour with no more than this takes pairs of a full leaf. */
const passCountMax = leafSize - 8;
const rowSizeMax = 256;

/** Children in order, each with the pair from which on it is responsible. */
class Row {
  ids = new Int32Array(4);
  private a = new Uint32Array(4);
  private b = new Uint32Array(4);
  count = 0;

  get bytes(): number {
    return this.ids.length * 12;
  }

  /** The last child whose bound is not above the pair; the first has no bound. */
  find(a: number, b: number): number {
    let low = 1;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const bound = this.a[middle] as number;
      if (bound < a || (bound === a && (this.b[middle] as number) <= b)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  insert(place: number, id: number, a: number, b: number): void {
    if (this.count === this.ids.length) this.grow(this.count * 2);
    for (const column of [this.ids, this.a, this.b]) {
      column.copyWithin(place + 1, place, this.count);
    }
    this.ids[place] = id;
    this.a[place] = a;
    this.b[place] = b;
    this.count++;
  }

  setBound(place: number, a: number, b: number): void {
    this.a[place] = a;
    this.b[place] = b;
  }

  remove(place: number): void {
    for (const column of [this.ids, this.a, this.b]) {
      column.copyWithin(place, place + 1, this.count);
    }
    this.count--;
  }

  /** Moves the children from `kept` on into a new row. */
  split(kept: number): { readonly row: Row; readonly a: number; readonly b: number } {
    const row = new Row();
    row.grow(Math.max(4, this.count - kept));
    row.ids.set(this.ids.subarray(kept, this.count));
    row.a.set(this.a.subarray(kept, this.count));
    row.b.set(this.b.subarray(kept, this.count));
    row.count = this.count - kept;
    this.count = kept;
    return { row, a: row.a[0] as number, b: row.b[0] as number };
  }

  private grow(length: number): void {
    const ids = new Int32Array(length);
    const a = new Uint32Array(length);
    const b = new Uint32Array(length);
    ids.set(this.ids.subarray(0, this.count));
    a.set(this.a.subarray(0, this.count));
    b.set(this.b.subarray(0, this.count));
    this.ids = ids;
    this.a = a;
    this.b = b;
  }
}

export class PairIndex {
  private readonly pool: LeafPool;
  private readonly top = new Row();
  private readonly rows: (Row | undefined)[] = [];
  private readonly freeRows: number[] = [];
  private pairCount = 0;
  /** Where `seek` stopped: the place of the row in the top, of the leaf in its row, of the pair in the leaf. */
  private rowAt = 0;
  private leafAt = 0;
  private pairAt = 0;
  private row: Row;
  private leaf: number;

  constructor(pool: LeafPool) {
    this.pool = pool;
    this.row = new Row();
    this.leaf = pool.take();
    this.row.insert(0, this.leaf, 0, 0);
    this.top.insert(0, this.keepRow(this.row), 0, 0);
  }

  get count(): number {
    return this.pairCount;
  }

  /** Of the rows; leaves are counted by their pool. */
  get bytes(): number {
    return this.rows.reduce((sum, row) => sum + (row?.bytes ?? 0), this.top.bytes);
  }

  /** Gives the leaves of an empty tree back; it must not be used afterwards. */
  end(): void {
    invariant(this.pairCount === 0, 'a tree ends empty');
    this.seek(0, 0);
    this.pool.give(this.leaf);
  }

  /** The pair must not be here yet. */
  insert(a: number, b: number): void {
    const { pool } = this;
    const isThere = this.seek(a, b);
    invariant(!isThere, 'a pair is in the index once');
    if (pool.used[this.leaf] === leafSize) this.makeRoom(a, b);
    pool.insert(this.leaf, this.pairAt, a, b);
    this.pairCount++;
  }

  /** False when the pair was not here. */
  remove(a: number, b: number): boolean {
    if (!this.seek(a, b)) return false;
    this.pairCount--;
    if (this.pool.remove(this.leaf, this.pairAt)) this.mergeAround();
    return true;
  }

  /** Appends up to `limit` pairs that are not less than (a, b) to `out`, two numbers each. Returns how many. */
  from(a: number, b: number, limit: number, out: number[]): number {
    const had = out.length;
    this.eachLeaf(a, b, (page, from, end) => {
      const stop = Math.min(end, from + limit * 2 - (out.length - had));
      for (let at = from; at < stop; at++) out.push(page[at] as number);
      return out.length - had < limit * 2;
    });
    return (out.length - had) / 2;
  }

  /** How many pairs there are from (a, b) up to and with (toA, toB). */
  countBetween(a: number, b: number, toA: number, toB = 0xffffffff): number {
    let count = 0;
    const isOver = (page: Uint32Array, at: number): boolean =>
      (page[at] as number) > toA || (page[at] === toA && (page[at + 1] as number) > toB);
    this.eachLeaf(a, b, (page, from, end) => {
      if (from === end || !isOver(page, end - 2)) {
        count += (end - from) / 2;
        return true;
      }
      for (let at = from; at < end && !isOver(page, at); at += 2) count++;
      return false;
    });
    return count;
  }

  /** Shows the leaves in order, each from the first pair that is not less than (a, b), until `visit` returns false. */
  private eachLeaf(
    a: number,
    b: number,
    visit: (page: Uint32Array, from: number, end: number) => boolean,
  ): void {
    const { pool, top } = this;
    this.seek(a, b);
    let { rowAt, leafAt, pairAt } = this;
    for (; rowAt < top.count; rowAt++, leafAt = 0) {
      const row = this.rowOf(rowAt);
      for (; leafAt < row.count; leafAt++, pairAt = 0) {
        const leaf = row.ids[leafAt] as number;
        const start = startOf(leaf);
        const end = start + (pool.used[leaf] as number) * 2;
        if (!visit(pool.pageOf(leaf), start + pairAt * 2, end)) return;
      }
    }
  }

  /** Whether the pair is here. Sets the place where it is or belongs. */
  private seek(a: number, b: number): boolean {
    this.rowAt = this.top.find(a, b);
    this.row = this.rowOf(this.rowAt);
    this.leafAt = this.row.find(a, b);
    this.leaf = this.row.ids[this.leafAt] as number;
    const page = this.pool.pageOf(this.leaf);
    const start = startOf(this.leaf);
    let low = 0;
    let high = this.pool.used[this.leaf] as number;
    const count = high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = page[start + middle * 2] as number;
      if (found < a || (found === a && (page[start + middle * 2 + 1] as number) < b))
        low = middle + 1;
      else high = middle;
    }
    this.pairAt = low;
    const at = start + low * 2;
    return low < count && page[at] === a && page[at + 1] === b;
  }

  private rowOf(place: number): Row {
    return this.rows[this.top.ids[place] as number] as Row;
  }

  /** The leaf that was sought is full: passes pairs on to a neighbour, or splits it. Sets the place for the pair. */
  private makeRoom(a: number, b: number): void {
    const kept = this.keptOnSplit(a);
    if (kept === leafSize / 2 && (this.passRight() || this.passLeft())) {
      this.seek(a, b);
      return;
    }
    if (this.row.count === rowSizeMax) {
      // A run in order leaves full rows behind it, not halves.
      const isLast = this.leafAt === rowSizeMax - 1;
      const half = this.row.split(isLast ? rowSizeMax - 1 : rowSizeMax / 2);
      this.top.insert(this.rowAt + 1, this.keepRow(half.row), half.a, half.b);
      this.seek(a, b);
    }
    this.split(kept, a, b);
  }

  /**
   * How many pairs of the full leaf stay in it. A run that grows at its end leaves full leaves behind it, not halves.
   */
  private keptOnSplit(a: number): number {
    const { leaf, pairAt } = this;
    if (pairAt < leafSize / 2) return leafSize / 2;
    const page = this.pool.pageOf(leaf);
    const at = startOf(leaf) + pairAt * 2;
    const isRun = page[at - 2] === a && (pairAt === leafSize || page[at] !== a);
    return isRun || pairAt === leafSize ? pairAt : leafSize / 2;
  }

  private split(kept: number, a: number, b: number): void {
    const { pool } = this;
    const added = pool.moveTail(this.leaf, kept);
    const page = pool.pageOf(added);
    const first = startOf(added);
    const isEmpty = kept === leafSize;
    const boundA = isEmpty ? a : (page[first] as number);
    const boundB = isEmpty ? b : (page[first + 1] as number);
    this.row.insert(this.leafAt + 1, added, boundA, boundB);
    // At the seam it stays on the left: the bound of the right leaf is its first pair.
    if (kept < leafSize && this.pairAt <= kept) return;
    this.leafAt++;
    this.leaf = added;
    this.pairAt -= kept;
  }

  /**
   * Gives the next leaf some of the last pairs of the full one, if there is room: leaves stay fuller than by splitting
   * alone.
   */
  private passRight(): boolean {
    const { pool, row, leafAt, leaf } = this;
    if (leafAt + 1 >= row.count) return false;
    const right = row.ids[leafAt + 1] as number;
    const count = pool.used[right] as number;
    if (count > passCountMax) return false;
    const moving = (leafSize - count) >>> 1;
    const page = pool.pageOf(right);
    const start = startOf(right);
    page.copyWithin(start + moving * 2, start, start + count * 2);
    const end = startOf(leaf) + leafSize * 2;
    page.set(pool.pageOf(leaf).subarray(end - moving * 2, end), start);
    pool.used[leaf] = leafSize - moving;
    pool.used[right] = count + moving;
    row.setBound(leafAt + 1, page[start] as number, page[start + 1] as number);
    return true;
  }

  /** The same with the leaf before, and the first pairs. */
  private passLeft(): boolean {
    const { pool, row, leafAt, leaf } = this;
    if (leafAt === 0) return false;
    const left = row.ids[leafAt - 1] as number;
    const count = pool.used[left] as number;
    if (count > passCountMax) return false;
    const moving = (leafSize - count) >>> 1;
    const page = pool.pageOf(leaf);
    const start = startOf(leaf);
    pool.pageOf(left).set(page.subarray(start, start + moving * 2), startOf(left) + count * 2);
    page.copyWithin(start, start + moving * 2, start + leafSize * 2);
    pool.used[left] = count + moving;
    pool.used[leaf] = leafSize - moving;
    row.setBound(leafAt, page[start] as number, page[start + 1] as number);
    return true;
  }

  private mergeAround(): void {
    const { row, leafAt } = this;
    if (leafAt + 1 < row.count && this.mergeNext(row, leafAt)) return;
    if (leafAt > 0 && this.mergeNext(row, leafAt - 1)) return;
    if ((this.pool.used[this.leaf] as number) === 0) this.dropLeaf();
  }

  /** Moves the next leaf's pairs into this one, if both together leave room to spare. */
  private mergeNext(row: Row, place: number): boolean {
    const left = row.ids[place] as number;
    if (!this.pool.join(left, row.ids[place + 1] as number)) return false;
    row.remove(place + 1);
    return true;
  }

  /** The leaf that was sought is empty, and its neighbours are too full to take its place. */
  private dropLeaf(): void {
    const { row, top } = this;
    if (row.count === 1 && top.count === 1) return;
    this.pool.give(this.leaf);
    row.remove(this.leafAt);
    if (row.count > 0) return;
    const id = top.ids[this.rowAt] as number;
    this.rows[id] = undefined;
    this.freeRows.push(id);
    top.remove(this.rowAt);
  }

  private keepRow(row: Row): number {
    const id = this.freeRows.pop() ?? this.rows.length;
    this.rows[id] = row;
    return id;
  }
}
