/**
 * The records a member holds, off the JavaScript heap: ten million of them cost the garbage collector nothing. A record
 * has a handle (`handles.ts`), a small number that stays the same while its 64-bit number is here; it leads to the
 * record's packed row in the arena (`row.ts`), and its alarm is in the wheel.
 *
 * Knows nothing of merging, journaling or popping: the member decides, the store keeps. Its neighbours are
 * `number-index.ts` (number → handle, and the order of walks), `arena.ts` (where rows lie), `shared-fields.ts` (fields
 * that many records share) and `wheel.ts` (the order of alarms).
 *
 * Example. A million timers with definitions of 120 bytes, all held by the same two members, cost 186 bytes each:
 *
 *   144  the row in the arena: the definition, and 24 bytes for version, state, times and the ref of the shared fields
 *    13  the handle's columns: both halves of the number and the ref of the row, 4 bytes each, and room to grow
 *    12  the number's place in the index
 *    17  the alarm in the wheel
 *
 * The namespace, the factor and the two names of members are kept once for all of them. Timer 7·17 is put: it gets
 * handle 1,000,000, the next free one. It is replaced: the row is written anew, the handle and the alarm stay. It is
 * removed: the next new timer gets handle 1,000,000.
 *
 * Invariants:
 *  S1  The index holds every handle in use and no other; the index of letters, every handle of a dead letter and no
 *      other.
 *  S2  An alarm belongs to a handle in use: removing a record removes its alarm.
 *  S3  No call does more than a bounded amount of work; compaction goes on a few handles a call.
 */
import { invariant, type Progress, RecordBuffer, State, type TimerRecord } from '@carillon/core';
import { Arena } from './arena.ts';
import { Handles, unused } from './handles.ts';
import { SharedFields } from './shared-fields.ts';
import { NumberIndex, type Position, rangeOf } from './number-index.ts';
import { RowReader, RowWriter } from './row.ts';
import { type EmitBlock, RowBlocks } from './row-block.ts';
import { type Bodiless, RowRestore } from './row-restore.ts';
import { emptyRow, type IndexedRow } from './search/indexed-row.ts';
import { SearchIndex } from './search/search-index.ts';
import { Wheel } from './wheel.ts';

/** Handles that each change of the store looks at while a compaction is under way. */
const compactionSlice = 64;

/** Handles that a walk over all records looks up at once. */
const readAheadCount = 64;

/** Records of each state; their sum is the size of the store. */
export interface Counts {
  readonly live: number;
  readonly dead: number;
  readonly tombstone: number;
}

export class Store {
  private readonly arena = new Arena();
  private readonly sharedFields = new SharedFields();
  private readonly wheel = new Wheel();
  private readonly handles = new Handles();
  private readonly index = new NumberIndex(this.handles);
  /** Dead letters alone: they are few, and found without a look at all other records. null: there was none yet. */
  private letters: NumberIndex | null = null;
  private readonly writer = new RowWriter();
  private readonly reader = new RowReader();
  /** By `State`: live, dead, tombstone. */
  private readonly countByState: [number, number, number] = [0, 0, 0];
  private readonly restoring: RowRestore;
  /** Finds live records by time and text; null: switched off. */
  readonly search: SearchIndex | null;
  private readonly lent = new RecordBuffer();
  /** One for all calls: the search indexes read it and do not keep it. */
  private readonly indexed = emptyRow();
  /** Grows with every put and remove. */
  private changeCount = 0;
  /** The next handle that the compaction under way looks at; −1: none is. */
  private compacting = -1;

  constructor({ searchIndexes }: { readonly searchIndexes: boolean } = { searchIndexes: false }) {
    this.search = searchIndexes ? new SearchIndex((handle) => this.indexedRow(handle)) : null;
    const { arena, handles, sharedFields } = this;
    this.restoring = new RowRestore({ arena, handles, sharedFields });
  }

  /** Records in every state. */
  get size(): number {
    return this.countByState[0] + this.countByState[1] + this.countByState[2];
  }

  get counts(): Counts {
    const [live, dead, tombstone] = this.countByState;
    return { live, dead, tombstone };
  }

  /**
   * Memory of everything here, used or set aside. It comes in whole pages, so it falls later than records go: see
   * `compactSlice`.
   */
  get bytes(): number {
    const { arena, handles, index, wheel, search } = this;
    const searchBytes = search?.bytes ?? 0;
    return arena.bytes + handles.bytes + index.bytes + wheel.bytes + searchBytes;
  }

  /** Bytes that the rows really use. */
  get rowBytes(): number {
    return this.arena.usedBytes;
  }

  /**
   * Stores the record in place of the one with its number, if any. Returns its handle. The alarm stays as it was: the
   * caller decides when the record is due, and calls `arm`.
   *
   * Example. Timer 7·17 has a row of 146 bytes in a slot of 152. A put of 150 bytes overwrites the row where it lies. A
   * put of 158 bytes takes a slot of 160 and gives the old one back; the handle stays, so the alarm and the indexes,
   * which hold handles, need not change.
   */
  put(record: TimerRecord): number {
    invariant(record.sequence >= 0 && record.attempt >= 0, 'pops and attempts count from 0');
    invariant(!Number.isNaN(record.dueMs + record.retryMs), 'a record is due at a number');
    // Packed before a place is chosen: the length decides whether the old place fits.
    const combination = this.sharedFields.take(record);
    this.writer.pack(record, combination);
    this.changeCount++;
    let handle = this.index.find(record.hi, record.lo);
    if (handle < 0) {
      handle = this.handles.take(record.hi, record.lo);
      this.search?.coming(handle);
      this.index.insert(handle);
      this.handles.setRef(handle, this.arena.allocate(this.writer.length));
    } else {
      this.search?.changing(handle);
      this.leaveRow(handle);
    }
    const ref = this.handles.refOf(handle);
    this.writer.copyTo(this.arena.page(ref), this.arena.offsetOf(ref));
    this.countByState[record.state]++;
    if (record.state === State.dead) this.addLetter(handle);
    this.compactSlice();
    return handle;
  }

  /** The handle may belong to another number afterwards. False when the number was not here. */
  remove(hi: number, lo: number): boolean {
    const handle = this.index.find(hi, lo);
    if (handle < 0) return false;
    this.changeCount++;
    // S1 and S2: every other structure lets go before the handle does.
    this.search?.leaving(handle);
    this.index.remove(hi, lo);
    if (this.stateOf(handle) === State.dead) this.letters?.remove(hi, lo);
    this.discard(handle);
    this.compactSlice();
    return true;
  }

  /** Gives up a record that is in no index any more: its alarm, its share in the shared fields, its row, its handle. */
  private discard(handle: number): void {
    this.wheel.remove(handle);
    this.sharedFields.drop(this.row(handle).readProgress().combination);
    this.countByState[this.reader.state]--;
    invariant(this.size >= 0, 'no more records leave the store than came in');
    this.arena.release(this.handles.refOf(handle));
    this.handles.give(handle);
  }

  /** The handle of a number; −1 when it is not here. */
  find(hi: number, lo: number): number {
    return this.index.find(hi, lo);
  }

  /** undefined when the number is not here. */
  get(hi: number, lo: number): TimerRecord | undefined {
    const handle = this.index.find(hi, lo);
    return handle < 0 ? undefined : this.read(handle);
  }

  /**
   * The record owns its bytes: it stays as it is when the store changes. Its fields are written out here and not taken
   * from `readInto`: a plain object made at once is the cheapest form for the many parts that read it.
   */
  read(handle: number): TimerRecord {
    const row = this.row(handle).readProgress().readTimes();
    const { namespace, factor, replicas } = this.sharedFields.get(row.combination);
    return {
      hi: this.hiOf(handle),
      lo: this.loOf(handle),
      namespace,
      factor,
      versionMs: row.versionMs,
      versionTie: row.versionTie,
      state: row.state,
      sequence: row.sequence,
      attempt: row.attempt,
      startMs: row.startMs,
      dueMs: row.dueMs,
      gapMs: row.gapMs,
      retryMs: row.retryMs,
      triedMs: row.triedMs,
      outcome: row.outcome,
      replicas,
      body: row.readBody(),
    };
  }

  /** The record as it lies here, lent: it is of use until the next call or the next change of the store. */
  glance(handle: number): TimerRecord {
    return this.readInto(this.lent, handle);
  }

  /** Fills a buffer with the record, whose body is a view on the row. */
  private readInto(record: RecordBuffer, handle: number): TimerRecord {
    const row = this.row(handle).readProgress().readTimes();
    record.hi = this.hiOf(handle);
    record.lo = this.loOf(handle);
    row.fill(record, this.sharedFields.get(row.combination));
    record.body = row.viewBody();
    return record;
  }

  /** High half of the number. */
  hiOf(handle: number): number {
    return this.handles.hiOf(handle);
  }

  /** Low half of the number. */
  loOf(handle: number): number {
    return this.handles.loOf(handle);
  }

  /** Without a look at any other field of the row. */
  stateOf(handle: number): State {
    return this.row(handle).state;
  }

  /** The fields that a merge or a digest looks at, without the rest. */
  progressOf(handle: number): Progress {
    const row = this.row(handle).readProgress();
    const { versionMs, versionTie, state, sequence, attempt } = row;
    return { versionMs, versionTie, state, sequence, attempt };
  }

  /** When the next attempt is: the due time of the pop, or of its retry. */
  retryOf(handle: number): number {
    return this.row(handle).readProgress().readTimes().retryMs;
  }

  /** In order, primary first. The list is shared by all records with the same replicas: read only. */
  replicasOf(handle: number): readonly string[] {
    return this.sharedFields.get(this.row(handle).readProgress().combination).replicas;
  }

  namespaceOf(handle: number): string {
    return this.sharedFields.get(this.row(handle).readProgress().combination).namespace;
  }

  /** Sets the record's one alarm, in place of an earlier one. The wheel holds the handle alone, and no record. */
  arm(handle: number, atMs: number): void {
    invariant(this.handles.refOf(handle) !== unused, 'a handle is in use when it is armed');
    this.wheel.insert(handle, atMs);
  }

  /**
   * Appends up to `max` handles whose alarm is due to `out`, oldest first; their alarms are gone then.
   * Returns how many. More may be due while `nextAlarmMs()` is not after `nowMs`, even after a 0.
   */
  takeDue(nowMs: number, max: number, out: number[]): number {
    return this.wheel.advance(nowMs, max, out);
  }

  /** The time before which no alarm can be due; null when there is none. */
  nextAlarmMs(): number | null {
    return this.wheel.nextDue();
  }

  /** Which of the 256 ranges a number belongs to; two members compare their records range by range. */
  rangeOf(hi: number, lo: number): number {
    return rangeOf(hi, lo);
  }

  /**
   * Shows every handle of a range, in order. `visit` must not put or remove records: a handle further on might belong
   * to another number by the time it is shown.
   */
  walk(range: number, visit: (handle: number) => void): void {
    const handles: number[] = [];
    this.index.range(range, handles);
    for (const handle of handles) visit(handle);
  }

  /**
   * Appends up to `limit` handles that come after `after` (null: from the start) to `out`, in the order of all walks.
   * Returns where to go on; null at the end. Records that come and go in between do not disturb it: each one that stays
   * is seen exactly once.
   *
   * Example with a limit of 2 over p, q, s and t, which is their order. The first call gives p and q and returns the
   * position of q. Then q is removed, and r is put. The second call, from there on, gives r and s, the third one t, and
   * null.
   */
  next(after: Position | null, limit: number, out: number[]): Position | null {
    return this.walked(this.index, { after, limit }, out);
  }

  /** The same over dead letters alone. */
  nextLetters(after: Position | null, limit: number, out: number[]): Position | null {
    return this.letters === null ? null : this.walked(this.letters, { after, limit }, out);
  }

  /**
   * A position is a number, not a place in a structure: the walk goes on behind it although the record there is gone
   * meanwhile. A page that is not full was the last.
   */
  private walked(
    index: NumberIndex,
    { after, limit }: { readonly after: Position | null; readonly limit: number },
    out: number[],
  ): Position | null {
    const had = out.length;
    index.next(after, limit, out);
    if (out.length - had < limit) return null;
    const last = out[out.length - 1] as number;
    return { hi: this.hiOf(last), lo: this.loOf(last) };
  }

  /**
   * Hands out all records one by one in the order of walks, undefined at the end; the store may change meanwhile. A
   * record is lent: it is of use until the next call or the next change of the store.
   */
  records(): () => TimerRecord | undefined {
    const lent = new RecordBuffer();
    let last: TimerRecord | null = null;
    let isLastPage = false;
    let changeCount = -1;
    let at = 0;
    const ahead: number[] = [];
    return () => {
      // After a change, a handle that was read ahead could belong to another record.
      if (at === ahead.length ? !isLastPage : changeCount !== this.changeCount) {
        ahead.length = 0;
        at = 0;
        ({ changeCount } = this);
        isLastPage = this.next(last, readAheadCount, ahead) === null;
      }
      if (at === ahead.length) return undefined;
      last = this.readInto(lent, ahead[at++] as number);
      return last;
    };
  }

  /**
   * All rows in blocks for a snapshot, some at a time; the store may change in between. Each call looks at up to
   * `limit` further records and returns how many there were: fewer than that are the last, and no block is left open
   * then.
   */
  rowBlocks(): (baseMs: number, limit: number, emit: EmitBlock) => number {
    const blocks = new RowBlocks();
    let after: Position | null = null;
    return (baseMs, limit, emit) => {
      const handles: number[] = [];
      after = this.next(after, limit, handles);
      blocks.setBase(baseMs, emit);
      for (const handle of handles) this.addRow(blocks, handle, emit);
      if (after === null) blocks.emitAll(emit);
      return handles.length;
    };
  }

  private addRow(blocks: RowBlocks, handle: number, emit: EmitBlock): void {
    const ref = this.handles.refOf(handle);
    const page = this.arena.page(ref);
    const { combination } = this.row(handle).readProgress();
    const shared = this.sharedFields.get(combination);
    const row = { page, offset: this.arena.offsetOf(ref), combination, shared };
    blocks.add({ ...row, hi: this.hiOf(handle), lo: this.loOf(handle) }, page.slotBytes, emit);
  }

  /**
   * Takes a block of rows into an empty store; `alarmOf` says when each is due. Returns how many were taken. Nothing is
   * found by number before `endRestore`. Throws MalformedError for bytes that are no block.
   */
  restoreRows(bytes: Uint8Array, baseMs: number, alarmOf: (row: Bodiless) => number): number {
    invariant(this.size === this.handles.count, 'rows are restored into an empty store');
    return this.restoring.restore(bytes, baseMs, (handle, row) => {
      this.countByState[row.state]++;
      this.wheel.insert(handle, alarmOf(row));
    });
  }

  /** All rows are here: builds the indexes of numbers. A record whose number was there already is given up. */
  endRestore(givenUp: (record: TimerRecord) => void): void {
    for (const handle of this.index.build(this.handles.count)) {
      givenUp(this.read(handle));
      this.discard(handle);
    }
    if (this.countByState[State.dead] === 0) return;
    for (let handle = 0; handle < this.handles.count; handle++) {
      const isUsed = this.handles.refOf(handle) !== unused;
      if (isUsed && this.stateOf(handle) === State.dead) this.addLetter(handle);
    }
  }

  /**
   * Adds up to `limit` further records to the search indexes, in the order of handles. Returns whether all are in them
   * now. After a start the indexes are built in slices like this, while `put` and `remove` go on behind and ahead of
   * the slice.
   */
  buildSearch(limit: number): boolean {
    const { search } = this;
    if (search === null || search.whole) return true;
    for (let left = limit; left > 0 && search.next < this.handles.count; left--) search.build();
    if (search.next < this.handles.count) return false;
    search.built();
    return true;
  }

  /** The stored record as the search indexes see it; null: there is none, or it is not live. */
  private indexedRow(handle: number): IndexedRow | null {
    if (this.handles.refOf(handle) === unused) return null;
    const row = this.row(handle);
    if (row.state !== State.live) return null;
    const { indexed } = this;
    row.readProgress().readTimes().readBodyPlace(indexed);
    indexed.namespace = this.sharedFields.get(row.combination).namespace;
    indexed.retryMs = row.retryMs;
    indexed.failing = isFailing(row);
    return indexed;
  }

  /** Most members never have a letter, and pay nothing for the index. */
  private addLetter(handle: number): void {
    this.letters ??= new NumberIndex(this.handles);
    this.letters.insert(handle);
  }

  /**
   * The one reader of the store, at the row of this handle: valid until the next call. One for all calls, because a
   * reader for each would be garbage, at tens of thousands of reads a second.
   */
  private row(handle: number): RowReader {
    const ref = this.handles.refOf(handle);
    invariant(ref !== unused, 'a handle that is read is in use');
    return this.reader.open(this.arena.page(ref), this.arena.offsetOf(ref));
  }

  /** The record of the handle is being replaced: gives up its row and makes room for the packed one. */
  private leaveRow(handle: number): void {
    this.sharedFields.drop(this.row(handle).readProgress().combination);
    this.countByState[this.reader.state]--;
    if (this.reader.state === State.dead)
      this.letters?.remove(this.hiOf(handle), this.loOf(handle));
    const ref = this.handles.refOf(handle);
    // A row of about the same length stays where it is: a timer that is put off again and again moves no bytes.
    if (this.arena.fits(ref, this.writer.length)) return;
    this.arena.release(ref);
    this.handles.setRef(handle, this.arena.allocate(this.writer.length));
  }

  /**
   * Moves rows out of sparse pages, a few handles at a time (S3). Example: of a million records 900,000 are cancelled.
   * The arena calls its pages sparse; the next 15,625 changes of the store look at 64 handles each, and then the
   * emptied pages are free.
   */
  private compactSlice(): void {
    if (this.compacting < 0) {
      if (this.arena.wantsCompaction && this.arena.beginCompaction()) this.compacting = 0;
      return;
    }
    const end = Math.min(this.compacting + compactionSlice, this.handles.count);
    for (; this.compacting < end; this.compacting++) {
      const ref = this.handles.refOf(this.compacting);
      if (ref !== unused && this.arena.isSparse(ref)) {
        this.handles.setRef(this.compacting, this.arena.move(ref));
      }
    }
    if (end < this.handles.count) return;
    this.arena.endCompaction();
    this.compacting = -1;
  }
}

/** Whether the newest attempt of a live record failed: an outcome that is no success. */
function isFailing({ attempt, outcome }: Pick<TimerRecord, 'attempt' | 'outcome'>): boolean {
  return attempt > 0 || (outcome !== 0 && (outcome < 200 || outcome >= 300));
}
