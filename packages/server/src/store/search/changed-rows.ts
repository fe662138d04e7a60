/**
 * Records that have changed since the search indexes were last brought up to date, each with its row as the indexes
 * know it. `search-index.ts` compares these rows with the records of then, all in one go.
 *
 * A timer that is set and popped, or put off ten times, between two such moments is here once. The code and the pages
 * of the indexes are also fetched into the caches once for all records, and not for each set and each pop anew.
 *
 * Example. Timer 5 is in the indexes with the tag `a`. It gets the tag `b`, and then pops: the row with `a` is kept at
 * the first change, and nothing at the second. Timer 6 is set and cancelled: it is kept as a handle without a row.
 */
import type { IndexedRow } from './indexed-row.ts';

/** Few enough that all of them are brought up to date in some milliseconds. */
const countMax = 1024;
/** For the bodies of rows. */
const bodyBytes = 64 * 1024;

export class ChangedRows {
  private readonly handles = new Uint32Array(countMax);
  /** By place; null: the indexes have no row of the handle. */
  private readonly namespaces: (string | null)[] = Array.from({ length: countMax }, () => null);
  private readonly retryMs = new Float64Array(countMax);
  private readonly failing = new Uint8Array(countMax);
  /** By place: where the body ends. It begins where the one before ends. */
  private readonly ends = new Uint32Array(countMax);
  private bodies = new Uint8Array(bodyBytes);
  /** One bit for each handle: it is here. */
  private bits = new Uint32Array(2048);
  private length = 0;
  private bodyEnd = 0;

  get count(): number {
    return this.length;
  }

  get bytes(): number {
    return this.bodies.length + this.bits.length * 4 + countMax * 17;
  }

  has(handle: number): boolean {
    return (((this.bits[handle >>> 5] ?? 0) >>> (handle & 31)) & 1) === 1;
  }

  /** Whether there is room for a handle and a body of so many bytes. A longer one than all room is taken alone. */
  fits(length: number): boolean {
    if (this.length === countMax) return false;
    return this.bodyEnd + length <= this.bodies.length || this.length === 0;
  }

  /** The handle is not here yet. The row is copied; null: the indexes have none. */
  add(handle: number, row: IndexedRow | null): void {
    const place = this.length++;
    this.handles[place] = handle;
    this.setBit(handle);
    if (row === null) this.namespaces[place] = null;
    else this.copy(place, row);
    this.ends[place] = this.bodyEnd;
  }

  handleAt(place: number): number {
    return this.handles[place] as number;
  }

  /** Fills `into` with the row at a place. False where there is none. */
  rowAt(place: number, into: IndexedRow): boolean {
    const namespace = this.namespaces[place] as string | null;
    if (namespace === null) return false;
    into.namespace = namespace;
    into.retryMs = this.retryMs[place] as number;
    into.failing = this.failing[place] === 1;
    into.bytes = this.bodies;
    into.from = place === 0 ? 0 : (this.ends[place - 1] as number);
    into.to = this.ends[place] as number;
    return true;
  }

  clear(): void {
    for (let place = 0; place < this.length; place++) {
      const handle = this.handles[place] as number;
      this.bits[handle >>> 5] = (this.bits[handle >>> 5] as number) & ~(1 << (handle & 31));
    }
    this.length = 0;
    this.bodyEnd = 0;
    if (this.bodies.length > bodyBytes) this.bodies = new Uint8Array(bodyBytes);
  }

  private copy(place: number, row: IndexedRow): void {
    const { bytes, from, to } = row;
    this.namespaces[place] = row.namespace;
    this.retryMs[place] = row.retryMs;
    this.failing[place] = row.failing ? 1 : 0;
    if (to - from > this.bodies.length) this.bodies = new Uint8Array(to - from);
    this.bodies.set(bytes.subarray(from, to), this.bodyEnd);
    this.bodyEnd += to - from;
  }

  private setBit(handle: number): void {
    const word = handle >>> 5;
    if (word >= this.bits.length) {
      const longer = new Uint32Array(Math.max(word + 1, this.bits.length * 2));
      longer.set(this.bits);
      this.bits = longer;
    }
    this.bits[word] = (this.bits[word] as number) | (1 << (handle & 31));
  }
}
