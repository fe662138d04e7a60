/**
 * Records that have changed since the search indexes were last brought up to date, each with its keys as the indexes
 * have them. `search-index.ts` compares these keys with the ones of the records of then, all in one go.
 *
 * A timer that is set and popped, or put off ten times, between two such moments is here once. The code and the pages
 * of the indexes are also fetched into the caches once for all records, and not for each set and each pop anew.
 *
 * Example. Timer 5 is in the indexes with the tag `a`. It gets the tag `b`, and then pops: the keys with `a` are kept
 * at the first change, and nothing at the second. Timer 6 is set and cancelled: it is kept as a handle without keys.
 */
import type { RowKeys } from './row-keys.ts';

/** Few enough that all of them are brought up to date in some milliseconds. */
const countMax = 1024;
/** Marks of all of them. */
const markCountMax = 8192;

export class ChangedRows {
  private readonly handles = new Uint32Array(countMax);
  /** By place; null: the indexes have no pairs of the handle. */
  private readonly namespaces: (string | null)[] = Array.from({ length: countMax }, () => null);
  private readonly retryMs = new Float64Array(countMax);
  /** By place: where its marks end. They begin where the ones before end. */
  private readonly ends = new Uint32Array(countMax);
  private marks = new Float64Array(markCountMax);
  /** One bit for each handle: it is here. */
  private bits = new Uint32Array(2048);
  private length = 0;
  private markEnd = 0;

  get count(): number {
    return this.length;
  }

  get bytes(): number {
    return this.marks.length * 8 + this.bits.length * 4 + countMax * 16;
  }

  has(handle: number): boolean {
    return (((this.bits[handle >>> 5] ?? 0) >>> (handle & 31)) & 1) === 1;
  }

  /** Whether there is room for a handle with so many marks. More than there is room for are taken alone. */
  fits(markCount: number): boolean {
    if (this.length === countMax) return false;
    return this.markEnd + markCount <= this.marks.length || this.length === 0;
  }

  /** The handle is not here yet. The keys are copied; null: the indexes have none. */
  add(handle: number, keys: RowKeys | null): void {
    const place = this.length++;
    this.handles[place] = handle;
    this.setBit(handle);
    if (keys === null) this.namespaces[place] = null;
    else this.copy(place, keys);
    this.ends[place] = this.markEnd;
  }

  handleAt(place: number): number {
    return this.handles[place] as number;
  }

  /** Fills `into` with the keys at a place. False where there are none. */
  keysAt(place: number, into: RowKeys): boolean {
    const namespace = this.namespaces[place] as string | null;
    if (namespace === null) return false;
    into.namespace = namespace;
    into.retryMs = this.retryMs[place] as number;
    into.marks.clear();
    const end = this.ends[place] as number;
    for (let at = place === 0 ? 0 : (this.ends[place - 1] as number); at < end; at++) {
      into.marks.push(this.marks[at] as number);
    }
    return true;
  }

  clear(): void {
    for (let place = 0; place < this.length; place++) {
      const handle = this.handles[place] as number;
      this.bits[handle >>> 5] = (this.bits[handle >>> 5] as number) & ~(1 << (handle & 31));
    }
    this.length = 0;
    this.markEnd = 0;
    if (this.marks.length > markCountMax) this.marks = new Float64Array(markCountMax);
  }

  private copy(place: number, { namespace, retryMs, marks }: RowKeys): void {
    this.namespaces[place] = namespace;
    this.retryMs[place] = retryMs;
    if (marks.count > this.marks.length) this.marks = new Float64Array(marks.count);
    for (let i = 0; i < marks.count; i++) this.marks[this.markEnd++] = marks.at(i);
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
