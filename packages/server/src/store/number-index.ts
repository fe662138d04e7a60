/**
 * Finds a record's handle by its 64-bit number, and walks all numbers in an order that every member
 * shares: by a mixed 32-bit hash, then by the number itself. List cursors, resync walks and the 256
 * digest ranges rely on that order.
 *
 * 256 tables by the top byte of the hash, each an open-addressing table whose entries are sorted: an entry
 * stands at its home (its hash scaled to the table) or a little behind it, so looking up is a short scan
 * and walking is reading the table from front to back. One table holds 1/256 of everything, so that
 * growing it copies little.
 *
 * Invariants:
 *  I1  In each table the hashes rise from front to back; of equal ones the numbers do.
 *  I2  No entry stands before its home, and no slot between its home and itself is empty.
 */

export const rangeCount = 256;
const homeCountMin = 16;
const growAbove = 0.85;
const growBy = 1.25;
const shrinkBelow = 0.3;
const shrinkBy = 0.6;
/** Slots behind the last home for what does not find room before it; more are added when they are full. */
const overflowCount = 8;

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

interface Table {
  /** Two numbers a slot: the hash, and the handle + 1 (0: empty). The last slot is always empty. */
  slots: Uint32Array<ArrayBuffer>;
  homeCount: number;
  used: number;
}

export class NumberIndex {
  private readonly numbers: Numbers;
  private readonly tables: Table[] = Array.from({ length: rangeCount }, () => ({
    slots: new Uint32Array((homeCountMin + overflowCount) * 2),
    homeCount: homeCountMin,
    used: 0,
  }));

  constructor(numbers: Numbers) {
    this.numbers = numbers;
  }

  get bytes(): number {
    return this.tables.reduce((sum, table) => sum + table.slots.byteLength, 0);
  }

  /** The handle of the number; −1 when it is not here. */
  find(hi: number, lo: number): number {
    const hash = hashOf(hi, lo);
    const table = this.tables[hash >>> 24] as Table;
    const at = this.seek(table, hash, hi, lo);
    const handle = (table.slots[at + 1] as number) - 1;
    return handle >= 0 && this.isNumber(handle, hi, lo) ? handle : -1;
  }

  /** The number must not be here yet; `numbers` must know the handle already. */
  insert(handle: number): void {
    const hi = this.numbers.hiOf(handle);
    const lo = this.numbers.loOf(handle);
    const hash = hashOf(hi, lo);
    const table = this.tables[hash >>> 24] as Table;
    if (table.used + 1 > table.homeCount * growAbove) resize(table, growBy);
    const at = this.seek(table, hash, hi, lo);
    let end = at;
    while (table.slots[end + 1] !== 0) end += 2;
    if (end === table.slots.length - 2) extend(table);
    table.slots.copyWithin(at + 2, at, end);
    table.slots[at] = hash;
    table.slots[at + 1] = handle + 1;
    table.used++;
  }

  /** False when the number was not here. */
  remove(hi: number, lo: number): boolean {
    const hash = hashOf(hi, lo);
    const table = this.tables[hash >>> 24] as Table;
    const { slots } = table;
    const at = this.seek(table, hash, hi, lo);
    const handle = (slots[at + 1] as number) - 1;
    if (handle < 0 || !this.isNumber(handle, hi, lo)) return false;
    // What stands behind, away from its home, moves up by one.
    let end = at + 2;
    while (slots[end + 1] !== 0 && homeOf(slots[end] as number, table.homeCount) < end) end += 2;
    slots.copyWithin(at, at + 2, end);
    slots[end - 2] = 0;
    slots[end - 1] = 0;
    table.used--;
    if (table.homeCount > homeCountMin && table.used < table.homeCount * shrinkBelow) {
      resize(table, shrinkBy);
    }
    return true;
  }

  /** Appends the handles of one range to `out`, in order. */
  range(range: number, out: number[]): void {
    const { slots } = this.tables[range] as Table;
    for (let at = 1; at < slots.length; at += 2) {
      if (slots[at] !== 0) out.push((slots[at] as number) - 1);
    }
  }

  /** Appends up to `limit` handles that come after `after` to `out`, in order; null: from the start. */
  next(after: Position | null, limit: number, out: number[]): void {
    const hash = after === null ? 0 : hashOf(after.hi, after.lo);
    let range = hash >>> 24;
    let at = after === null ? 0 : this.behind(hash, after);
    for (let left = limit; left > 0 && range < rangeCount; range++, at = 0) {
      const { slots } = this.tables[range] as Table;
      for (; left > 0 && at < slots.length; at += 2) {
        if (slots[at + 1] === 0) continue;
        out.push((slots[at + 1] as number) - 1);
        left--;
      }
    }
  }

  private behind(hash: number, { hi, lo }: Position): number {
    const table = this.tables[hash >>> 24] as Table;
    const at = this.seek(table, hash, hi, lo);
    const handle = (table.slots[at + 1] as number) - 1;
    return handle >= 0 && this.isNumber(handle, hi, lo) ? at + 2 : at;
  }

  /** Where the number is, or where it belongs: the first slot from its home on that is empty or not less. */
  private seek(table: Table, hash: number, hi: number, lo: number): number {
    const { slots } = table;
    let at = homeOf(hash, table.homeCount);
    for (; slots[at + 1] !== 0; at += 2) {
      const found = slots[at] as number;
      if (found < hash) continue;
      if (found > hash || !this.isLess((slots[at + 1] as number) - 1, hi, lo)) break;
    }
    return at;
  }

  private isNumber(handle: number, hi: number, lo: number): boolean {
    return this.numbers.loOf(handle) === lo && this.numbers.hiOf(handle) === hi;
  }

  private isLess(handle: number, hi: number, lo: number): boolean {
    const found = this.numbers.hiOf(handle);
    return found < hi || (found === hi && this.numbers.loOf(handle) < lo);
  }
}

/** Which of the 256 ranges a number belongs to. */
export function rangeOf(hi: number, lo: number): number {
  return hashOf(hi, lo) >>> 24;
}

/** The order of all walks. */
export function compareNumbers(a: Position, b: Position): number {
  return hashOf(a.hi, a.lo) - hashOf(b.hi, b.lo) || a.hi - b.hi || a.lo - b.lo;
}

/** All bits of the number stir all bits of the hash. Part of what members agree on: never change it. */
function hashOf(hi: number, lo: number): number {
  let hash = Math.imul(hi ^ 0x9e3779b9, 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash ^ lo, 0xc2b2ae35);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0x27d4eb2f);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Where in `slots` the entry would stand if it were alone: grows with the hash. */
function homeOf(hash: number, homeCount: number): number {
  return Math.floor(((hash & 0xffffff) / 0x1000000) * homeCount) * 2;
}

/** Spreads the entries over more or fewer homes; their order stays. */
function resize(table: Table, factor: number): void {
  const { slots } = table;
  const homeCount = Math.max(homeCountMin, Math.ceil(table.homeCount * factor));
  // At worst every entry has the same home, the last one.
  const spread = new Uint32Array((homeCount + table.used + overflowCount) * 2);
  let end = 0;
  for (let at = 0; at < slots.length; at += 2) {
    if (slots[at + 1] === 0) continue;
    end = Math.max(end, homeOf(slots[at] as number, homeCount));
    spread[end] = slots[at] as number;
    spread[end + 1] = slots[at + 1] as number;
    end += 2;
  }
  const needed = Math.max(end, homeCount * 2) + overflowCount * 2;
  table.slots = spread.slice(0, needed);
  table.homeCount = homeCount;
}

/** More room behind the last home. */
function extend(table: Table): void {
  const longer = new Uint32Array(table.slots.length + Math.ceil(table.slots.length / 8) * 2);
  longer.set(table.slots);
  table.slots = longer;
}
