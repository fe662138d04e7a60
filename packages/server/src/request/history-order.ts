/**
 * The entries of all members as one list, the newest first by the time that is shown. A member writes its entries down
 * in nearly this order: a change when it is confirmed, an attempt when it has ended, though its time is its start.
 * So an entry is chosen among the next ones of each member, and a cursor says which of these an earlier page had.
 */
import type { Entry } from '../history/entry.ts';
import type { HistoryRead, PlacedEntry, Position } from '../history/read.ts';

/** How far a member is shown: read on from here, but leave out the entries of these bits, the next one is bit 0. */
export interface Spot {
  readonly position: Position;
  readonly shown: bigint;
}

/** Up to a spot, to its end, or not at all because the member did not answer. */
export type Reach = Spot | 'end' | 'missing';

export interface Found extends PlacedEntry {
  readonly name: string;
  /** Wall-clock milliseconds, as shown. */
  readonly atMs: number;
}

/** An entry comes before so many at most that its member wrote down later. */
export const aheadCount = 128;

/** When a change was made or an attempt began, in whole milliseconds. */
export function atOf(entry: Entry): number {
  return Math.round(entry.kind === 'attempt' ? entry.wallMs - entry.tookMs : entry.wallMs);
}

/**
 * The newest entries of these answers that no earlier page had. Ends where a member has more to tell than it answered:
 * its next entry may be newer than the entries of others.
 */
export function takeNewest(
  reads: ReadonlyMap<string, HistoryRead | null>,
  reached: ReadonlyMap<string, Reach>,
  limit: number,
): { readonly found: readonly Found[]; readonly reaches: ReadonlyMap<string, Reach> } {
  const queues = [...reads].map(
    ([name, read]) => new Queue(name, read, shownOf(reached.get(name))),
  );
  const found: Found[] = [];
  while (found.length < limit && !queues.some((queue) => queue.isLow)) {
    let newest: Queue | null = null;
    for (const queue of queues) {
      if (queue.best === null) continue;
      if (newest === null || isNewer(queue.best, newest.best as Found)) newest = queue;
    }
    if (newest === null) break;
    found.push(newest.take());
  }
  const reaches = queues.map((queue) => [queue.name, queue.reach()] as const);
  return { found, reaches: new Map(reaches) };
}

function shownOf(reach: Reach | undefined): bigint {
  return typeof reach === 'object' ? reach.shown : 0n;
}

/** The answer of one member, and how much of it is shown. */
class Queue {
  readonly name: string;
  /** The newest of the next entries; null: all are shown. */
  best: Found | null = null;
  private readonly read: HistoryRead | null;
  private readonly entries: readonly Found[];
  private readonly taken: boolean[];
  private bestAt = 0;
  /** The first that is not shown. */
  private first = 0;
  private left = 0;
  /** With so few left the next answer is needed, where there is one: it may have newer entries. */
  private readonly spare: number;
  /** Of entries that this answer was too short for. */
  private readonly shownBeyond: bigint;

  constructor(name: string, read: HistoryRead | null, shown: bigint) {
    this.name = name;
    this.read = read;
    this.entries = (read?.entries ?? []).map((placed) => ({
      ...placed,
      name,
      atMs: atOf(placed.entry),
    }));
    this.taken = this.entries.map((_, i) => ((shown >> BigInt(i)) & 1n) === 1n);
    this.shownBeyond = shown >> BigInt(this.taken.length);
    this.left = this.taken.filter((isTaken) => !isTaken).length;
    this.spare = read?.more === null ? -1 : Math.min(aheadCount, this.left >> 2);
    this.choose();
  }

  get isLow(): boolean {
    return this.read !== null && this.left <= this.spare;
  }

  take(): Found {
    const { best } = this;
    if (best === null) throw new RangeError(`All entries of member ${this.name} are taken.`);
    this.taken[this.bestAt] = true;
    this.left--;
    this.choose();
    return best;
  }

  reach(): Reach {
    if (this.read === null) return 'missing';
    const next = this.entries[this.first];
    if (next === undefined) {
      const { more } = this.read;
      return more === null ? 'end' : { position: more, shown: this.shownBeyond };
    }
    const { file, offset, index } = next.position;
    let shown = this.shownBeyond;
    for (let i = this.taken.length - 1; i >= this.first; i--) {
      shown = (shown << 1n) | (this.taken[i] === true ? 1n : 0n);
    }
    return { position: { file, offset, index: index + 1 }, shown };
  }

  private choose(): void {
    const { entries, taken } = this;
    while (taken[this.first] === true) this.first++;
    this.best = null;
    const end = Math.min(entries.length, this.first + aheadCount);
    for (let i = this.first; i < end; i++) {
      const one = entries[i] as Found;
      if (taken[i] === true || (this.best !== null && !isNewer(one, this.best))) continue;
      this.best = one;
      this.bestAt = i;
    }
  }
}

/** Equal ones: the member wrote the first one down later. */
function isNewer(a: Found, b: Found): boolean {
  if (a.atMs !== b.atMs) return a.atMs > b.atMs;
  const step = stepOf(a.entry) - stepOf(b.entry);
  if (step !== 0) return step > 0;
  if (a.entry.kind === 'attempt' && b.entry.kind === 'attempt') {
    return a.entry.sequence - b.entry.sequence > 0 || isLaterTry(a.entry, b.entry);
  }
  if (a.entry.kind === 'attempt' || b.entry.kind === 'attempt') return false;
  const { versionMs, versionTie } = a.entry;
  if (versionMs !== b.entry.versionMs) return versionMs > b.entry.versionMs;
  return versionTie > b.entry.versionTie;
}

type Try = Pick<Extract<Entry, { kind: 'attempt' }>, 'sequence' | 'attempt'>;

function isLaterTry(a: Try, b: Try): boolean {
  return a.sequence === b.sequence && a.attempt > b.attempt;
}

/** Of two entries of one millisecond: a timer is set, its pop is tried, given up, and its letter goes. */
function stepOf(entry: Entry): number {
  if (entry.kind === 'attempt') return 1;
  if (entry.action === 'give-up') return 2;
  return entry.action === 'discard' || entry.action === 'drop' ? 3 : 0;
}
