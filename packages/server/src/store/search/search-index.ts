/**
 * Finds live records by their next attempt, their tags, their receiver and their failures, without a look at all
 * others. `store.ts` tells it of every record before it comes, changes and goes; `replication/` asks it for lists.
 *
 * Three kinds of pairs (`pair-index.ts`), eight bytes and their room each:
 *
 *   by due     one tree a namespace: (next attempt in steps of 64 ms, the milliseconds within the step and the handle)
 *   by tag     one tree a namespace: (place of the tag among all tags, 38 bits, and the handle; `tag-place.ts`)
 *   by text    one tree: (hash of namespace, kind and text, handle). A hash may stand for several texts: a list
 *              compares the records themselves.
 *
 * Example. A timer of `shop` with the tag `order:17` for http://a.example/x has four pairs: its next attempt, the place
 * of `order:17`, and the hashes of the tag and of the receiver `http://a.example`; about 40 bytes in all. A timer
 * without tags has two. A retry moves the first and adds one for the failure.
 *
 * While a member starts, records are stored without their pairs, and `build` adds these afterwards, some at a time:
 * lists walk all records until then.
 *
 * A change of a record is only noted, with the keys of its pairs (`changed-rows.ts`). The pairs of all noted records
 * are brought up to date together: when there are a thousand, and before each answer.
 *
 * Invariants:
 *  X1  Every live record whose handle is below `builtTo` has one pair by due, and no other record has any pair, but for
 *      records that are noted as changed: these have the pairs of the keys that were noted.
 *  X2  The pairs of a record follow from its row alone: the ones that were added for it are the ones that are removed.
 */
import { invariant } from '@carillon/core';
import { ChangedRows } from './changed-rows.ts';
import type { IndexedRow } from './indexed-row.ts';
import { LeafPool } from './leaf-pool.ts';
import { PairIndex } from './pair-index.ts';
import { KeyReader, placesFrom, RowKeys } from './row-keys.ts';
import { tagSpans } from './tag-place.ts';
import { type Kind, TextHashes } from './text-hashes.ts';

/** Handles have 26 bits beside the six of the milliseconds. */
const handleBits = 26;
const handleCountMax = 2 ** handleBits;
const stepMs = 64;
/** Times as far back as this have an order, and as far ahead as 8.7 years less this. */
const pastMs = 2 ** 31;
const timeMax = 2 ** 38 - 1;

/** A place in the order by due: the millisecond and the handle. */
export interface DuePlace {
  readonly ms: number;
  readonly handle: number;
}

/** Records with a text: a text of its kind, or a tag that begins like this. */
export interface Lookup {
  readonly namespace: string;
  readonly kind: Kind | 'prefix';
  readonly text: string;
}

/** A place among the pairs of a lookup: the number of the span, and the pair in it. */
export interface TextPlace {
  readonly span: number;
  readonly a: number;
  readonly b: number;
}

/** Pairs of a tree from (a, b) up to and with (toA, toB). */
interface Span {
  readonly tree: PairIndex;
  readonly a: number;
  readonly b: number;
  readonly toA: number;
  readonly toB: number;
}

const encoder = new TextEncoder();

export class SearchIndex {
  private readonly pool = new LeafPool();
  private readonly texts = new PairIndex(this.pool);
  private readonly dues = new Map<string, PairIndex>();
  private readonly tags = new Map<string, PairIndex>();
  private readonly hashes = new TextHashes();
  private readonly reader = new KeyReader(this.hashes);
  private readonly changed = new ChangedRows();
  /** Keys of the record at hand, as the indexes have them and as they are now. */
  private readonly before = new RowKeys();
  private readonly after = new RowKeys();
  private readonly rowOf: (handle: number) => IndexedRow | null;
  /** Handles below have their pairs. */
  private builtTo = 0;
  private isBuilt = false;

  /** `rowOf`: the live record of a handle as it is now, lent until the next call; null where there is none. */
  constructor(rowOf: (handle: number) => IndexedRow | null) {
    this.rowOf = rowOf;
  }

  /** Whether all records are in it, so that lists may rely on it. */
  get whole(): boolean {
    return this.isBuilt && this.builtTo <= handleCountMax;
  }

  get bytes(): number {
    let bytes = this.pool.bytes + this.texts.bytes + this.changed.bytes;
    for (const due of this.dues.values()) bytes += due.bytes;
    for (const tags of this.tags.values()) bytes += tags.bytes;
    return bytes;
  }

  /** Handles from here on are without their pairs, until `built`. */
  get next(): number {
    return this.builtTo;
  }

  /** Adds the record of the handle `next`. */
  build(): void {
    invariant(!this.isBuilt, 'an index is built once');
    const handle = this.builtTo++;
    if (handle < handleCountMax) this.update(handle, null, this.keysOf(handle, this.after));
  }

  /** Every handle has its pairs. */
  built(): void {
    this.isBuilt = true;
  }

  /** A record is about to be stored under a handle that was not in use. */
  coming(handle: number): void {
    if (this.isNoted(handle)) return;
    if (!this.changed.fits(0)) this.catchUp();
    this.changed.add(handle, null);
  }

  /** The record of the handle is about to be replaced. */
  changing(handle: number): void {
    if (!this.isNoted(handle)) this.note(handle, this.keysOf(handle, this.before));
  }

  /** The record of the handle is about to be removed. One that has ended has no pairs to lose. */
  leaving(handle: number): void {
    if (this.isNoted(handle)) return;
    const keys = this.keysOf(handle, this.before);
    if (keys !== null) this.note(handle, keys);
  }

  private note(handle: number, known: RowKeys | null): void {
    let keys = known;
    if (!this.changed.fits(keys === null ? 0 : keys.marks.count)) {
      this.catchUp();
      keys = this.keysOf(handle, this.before);
    }
    this.changed.add(handle, keys);
  }

  /** The keys of the record of a handle as it is now; null where there is no live one. */
  private keysOf(handle: number, into: RowKeys): RowKeys | null {
    const row = this.rowOf(handle);
    if (row === null) return null;
    this.reader.read(row, into);
    return into;
  }

  /** Whether there is nothing to note about a record that changes. */
  private isNoted(handle: number): boolean {
    if (this.isBuilt && handle >= this.builtTo) this.builtTo = handle + 1;
    return handle >= this.builtTo || handle >= handleCountMax || this.changed.has(handle);
  }

  /** Brings the pairs of all records that were noted up to date. No record is being changed. */
  private catchUp(): void {
    const { changed, before, after } = this;
    for (let place = 0; place < changed.count; place++) {
      const handle = changed.handleAt(place);
      const hadKeys = changed.keysAt(place, before);
      this.update(handle, hadKeys ? before : null, this.keysOf(handle, after));
    }
    changed.clear();
  }

  /** The keys of a handle change from `before` to `after`; null where it has none before, or afterwards. */
  private update(handle: number, before: RowKeys | null, after: RowKeys | null): void {
    if (before !== null && after !== null && before.namespace === after.namespace) {
      this.move(handle, before, after);
      return;
    }
    if (before !== null) this.remove(handle, before);
    if (after !== null) this.add(handle, after);
  }

  /** How many live records of the namespace there are. */
  countOf(namespace: string): number {
    this.catchUp();
    return this.dues.get(namespace)?.count ?? 0;
  }

  /**
   * Appends up to `limit` handles of a namespace to `out`, by next attempt and then by handle, from behind `after`.
   * Returns the place of the last one; null when there was none.
   */
  nextDue(namespace: string, after: DuePlace, limit: number, out: number[]): DuePlace | null {
    this.catchUp();
    const due = this.dues.get(namespace);
    if (due === undefined) return null;
    const time = timeOf(after.ms);
    const inStep = (time & (stepMs - 1)) * handleCountMax + after.handle + 1;
    const isNextStep = inStep > 0xffffffff;
    const step = Math.floor(time / stepMs) + (isNextStep ? 1 : 0);
    const pairs: number[] = [];
    const count = due.from(step, isNextStep ? 0 : inStep, limit, pairs);
    for (let i = 0; i < count; i++) out.push((pairs[i * 2 + 1] as number) & (handleCountMax - 1));
    return count === 0 ? null : placeOf(pairs[count * 2 - 2] as number, pairs.at(-1) as number);
  }

  /** How many records of the namespace are due from the one millisecond up to the other, to 64 ms. */
  countDue(namespace: string, fromMs: number, toMs: number): number {
    this.catchUp();
    const due = this.dues.get(namespace);
    if (due === undefined || toMs <= fromMs) return 0;
    return due.countBetween(
      Math.floor(timeOf(fromMs) / stepMs),
      0,
      Math.floor(timeOf(toMs) / stepMs),
    );
  }

  /** The millisecond of a record in the order by due. */
  static dueMs(retryMs: number): number {
    return timeOf(Math.floor(retryMs)) - pastMs;
  }

  /** Handles are below this. */
  get handleEnd(): number {
    return Math.min(this.builtTo, handleCountMax);
  }

  /** About how many records have the text: others may share its hash or its place, and one counts twice by two tags. */
  countText(lookup: Lookup): number {
    this.catchUp();
    return this.spansOf(lookup).reduce(
      (sum, { tree, a, b, toA, toB }) => sum + tree.countBetween(a, b, toA, toB),
      0,
    );
  }

  /**
   * Appends up to `limit` handles of records that may have the text to `out`, from behind `after`; a record with
   * several tags that begin like the text may come for each. Returns the place of the last one; null when there are no
   * more.
   */
  nextText(
    lookup: Lookup,
    after: TextPlace | null,
    limit: number,
    out: number[],
  ): TextPlace | null {
    this.catchUp();
    const spans = this.spansOf(lookup);
    const pairs: number[] = [];
    const end = out.length + limit;
    for (let span = after?.span ?? 0; span < spans.length; span++) {
      const { tree, a, b, toA, toB } = spans[span] as Span;
      const isBehind = after?.span === span;
      const count = isBehind
        ? tree.from(after.a, after.b + 1, limit, pairs)
        : tree.from(a, b, limit, pairs);
      for (let i = 0; i < count; i++) {
        const [pairA, pairB] = [pairs[i * 2] as number, pairs[i * 2 + 1] as number];
        if (pairA > toA || (pairA === toA && pairB > toB)) break;
        out.push(pairB & (handleCountMax - 1));
        if (out.length === end) return { span, a: pairA, b: pairB };
      }
      pairs.length = 0;
    }
    return null;
  }

  private spansOf({ namespace, kind, text }: Lookup): readonly Span[] {
    if (kind !== 'prefix') {
      const hash = this.hashes.of(namespace, kind, text);
      return [{ tree: this.texts, a: hash, b: 0, toA: hash, toB: 0xffffffff }];
    }
    const tree = this.tags.get(namespace);
    if (tree === undefined) return [];
    return tagSpans(encoder.encode(text)).map(({ from, to }) => ({
      tree,
      a: tagA(from),
      b: tagB(from, 0),
      toA: tagA(to),
      toB: tagB(to, handleCountMax - 1),
    }));
  }

  private move(handle: number, before: RowKeys, after: RowKeys): void {
    const { namespace } = after;
    const [from, to] = [timeOf(Math.floor(before.retryMs)), timeOf(Math.floor(after.retryMs))];
    if (from !== to) {
      const due = this.dueOf(namespace);
      this.removeDue(due, handle, from);
      insertDue(due, handle, to);
    }
    for (let i = 0; i < after.marks.count; i++) {
      const mark = after.marks.at(i);
      if (!before.marks.has(mark)) this.insertMark(namespace, mark, handle);
    }
    for (let i = 0; i < before.marks.count; i++) {
      const mark = before.marks.at(i);
      if (!after.marks.has(mark)) this.removeMark(namespace, mark, handle);
    }
  }

  private add(handle: number, { namespace, retryMs, marks }: RowKeys): void {
    insertDue(this.dueOf(namespace), handle, timeOf(Math.floor(retryMs)));
    for (let i = 0; i < marks.count; i++) this.insertMark(namespace, marks.at(i), handle);
  }

  private remove(handle: number, { namespace, retryMs, marks }: RowKeys): void {
    const due = this.dueOf(namespace);
    this.removeDue(due, handle, timeOf(Math.floor(retryMs)));
    if (due.count === 0) endTree(this.dues, namespace, due);
    for (let i = 0; i < marks.count; i++) this.removeMark(namespace, marks.at(i), handle);
  }

  private insertMark(namespace: string, mark: number, handle: number): void {
    if (mark < placesFrom) {
      this.texts.insert(mark, handle);
      return;
    }
    const place = mark - placesFrom;
    this.treeOf(this.tags, namespace).insert(tagA(place), tagB(place, handle));
  }

  private removeMark(namespace: string, mark: number, handle: number): void {
    if (mark < placesFrom) {
      const wasThere = this.texts.remove(mark, handle);
      invariant(wasThere, 'a record that changes or goes is in the index by text');
      return;
    }
    const place = mark - placesFrom;
    const tags = this.treeOf(this.tags, namespace);
    const wasThere = tags.remove(tagA(place), tagB(place, handle));
    invariant(wasThere, 'a record that changes or goes is in the index by tag');
    if (tags.count === 0) endTree(this.tags, namespace, tags);
  }

  private removeDue(due: PairIndex, handle: number, time: number): void {
    const wasThere = due.remove(Math.floor(time / stepMs), inStepOf(time, handle));
    invariant(wasThere, 'a record that changes or goes is in the index by due');
  }

  private dueOf(namespace: string): PairIndex {
    return this.treeOf(this.dues, namespace);
  }

  private treeOf(trees: Map<string, PairIndex>, namespace: string): PairIndex {
    let tree = trees.get(namespace);
    if (tree === undefined) {
      tree = new PairIndex(this.pool);
      trees.set(namespace, tree);
    }
    return tree;
  }
}

/** Gives up a tree that has become empty. */
function endTree(trees: Map<string, PairIndex>, namespace: string, tree: PairIndex): void {
  tree.end();
  trees.delete(namespace);
}

/** The first 32 of the 38 bits of a tag's place. */
function tagA(place: number): number {
  return Math.floor(place / 64);
}

/** The last six, and the handle. */
function tagB(place: number, handle: number): number {
  return (place % 64) * handleCountMax + handle;
}

function insertDue(due: PairIndex, handle: number, time: number): void {
  due.insert(Math.floor(time / stepMs), inStepOf(time, handle));
}

function inStepOf(time: number, handle: number): number {
  return (time & (stepMs - 1)) * handleCountMax + handle;
}

/** From 0, in whole milliseconds. */
function timeOf(ms: number): number {
  return Math.min(timeMax, Math.max(0, ms + pastMs));
}

function placeOf(step: number, inStep: number): DuePlace {
  const ms = step * stepMs + Math.floor(inStep / handleCountMax) - pastMs;
  return { ms, handle: inStep & (handleCountMax - 1) };
}
