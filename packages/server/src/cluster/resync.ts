/**
 * Moving records to where the present view wants them. Walks everything this member holds, in bounded slices, whenever
 * the view or the set of absent members changes: each record gets the list of replicas that is right now, and is
 * offered to them where that is this member's job.
 *
 * S1  Every holder works out the new list by itself, so positions agree without a message.
 * S2  The first replica of the old list that is there offers the record to the new ones; a member that is no longer
 *     listed does too, and drops its copy once they have it (see hand-off.ts).
 * S3  While members that the view asks for do not answer, the list names them and, behind them, the members that hold
 *     the record.
 * S4  The first walk after a start brings the records that this member took for others to the first replicas of their
 *     lists: before the start it knew which of them had not confirmed a change.
 *
 * Example with factor 2. A record is listed [a, b]; d joins, and the view asks for [d, a]:
 *
 *   at a   writes [d, a] into its record; a was first in the old list and is there, so a offers the record to d
 *   at b   writes [d, a] too; b is not listed, so b offers the record to d and a, and drops its copy once both confirm
 *   at d   gets [d, a] from the first of the two that offers; to the other it says that it has the record
 *
 * While d does not answer, only one wanted member of two is able to hold the record: a and b write [d, a, b] (S3), look
 * again after 5 s, and b keeps its copy. A member with a million records walks them in 5,000 slices of 200 and pauses
 * while more than 1,200 records are on their way.
 */
import { type Cancel, type Clock, hex16, invariant, type TimerRecord } from '@carillon/core';
import { sameNames } from '../timer/merge.ts';
import type { Replica } from '../replication/replica.ts';
import { recordBytes, turnBytesMax } from '../replication/sizes.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import type { HandOff } from './hand-off.ts';

/** Records that one slice of the walk looks at, before other work gets its turn. */
const sliceLength = 200;
/**
 * The walk waits while this many records are on their way: until the new first replica has its copy, the old one pops
 * later than it should.
 */
const handOffMax = 1200;
const waitMs = 5;
/** A list that is not the view's gets this long to be explained by a view that is on its way. */
const irregularMs = 5000;
/** With more such records than this, a walk over everything is cheaper than remembering them. */
const irregularMax = 100_000;

export interface ResyncParts {
  readonly self: string;
  readonly clock: Clock;
  readonly replica: Replica;
  readonly handOff: HandOff;
  /** The replicas that the present view asks for, primary first. */
  readonly desired: (record: TimerRecord) => readonly string[];
  /** In the view and answering; this member itself counts. */
  readonly present: (name: string) => boolean;
  /** In the view to stay. */
  readonly lasting: (name: string) => boolean;
  /** Present, and with room for records it does not hold yet. */
  readonly able: (name: string) => boolean;
  /** These members may not have heard of a record here. */
  readonly onUnconfirmed: (number: Numbered, names: readonly string[]) => void;
  readonly onFinished: () => void;
  readonly onUnchanged: () => void;
}

export class Resync {
  private readonly parts: ResyncParts;
  /** Where the next slice begins, null at the start; no walk is under way when this is null itself. */
  private walk: { after: Numbered | null } | null = null;
  /** No walk has come to its end since the start of the member. */
  private isFirst = true;
  private checked = 0;
  private total = 0;
  private moved = 0;
  /** Numbers of records that are looked at again after 5 s; the walk does not change that. */
  private readonly irregular = new Map<string, Numbered>();
  private cancelIrregular: Cancel | null = null;

  constructor(parts: ResyncParts) {
    this.parts = parts;
  }

  get progress(): { running: boolean; checked: number; total: number; moved: number } {
    const { checked, total, moved } = this;
    return { running: this.walk !== null, checked, total: Math.max(total, checked), moved };
  }

  get irregularCount(): number {
    return this.irregular.size;
  }

  /** Begins at the beginning, also when a walk is under way: the lists that it wrote may be wrong by now. */
  start(): void {
    const fresh = this.walk === null;
    this.walk = { after: null };
    this.checked = 0;
    this.moved = 0;
    this.total = this.parts.replica.store.size;
    if (fresh) this.parts.clock.soon(() => this.slice());
  }

  stop(): void {
    this.walk = null;
    this.cancelIrregular?.();
    this.cancelIrregular = null;
  }

  /** A record came in with a list that is not the one this member's view asks for. */
  noteIrregular({ hi, lo }: Numbered): void {
    if (this.irregular.size >= irregularMax) return this.start();
    this.irregular.set(hex16(hi, lo), { hi, lo });
    if (this.cancelIrregular === null) this.lookAgain();
  }

  private lookAgain(): void {
    const { clock } = this.parts;
    const look = (): void => this.irregularSlice([...this.irregular.values()], 0);
    this.cancelIrregular = clock.at(clock.now() + irregularMs, look);
  }

  /**
   * Irregular records from this index on, as many as a slice has, then a turn for other work. Records that are noted
   * meanwhile are looked at 5 s later.
   */
  private irregularSlice(numbers: readonly Numbered[], from: number): void {
    if (this.cancelIrregular === null) return;
    const slice = numbers.slice(from, from + sliceLength);
    for (const { hi, lo } of slice) this.irregular.delete(hex16(hi, lo));
    const next = from + this.regularizeSome(slice);
    if (next < numbers.length) {
      this.parts.clock.soon(() => this.irregularSlice(numbers, next));
      return;
    }
    this.cancelIrregular = null;
    if (this.irregular.size > 0) this.lookAgain();
  }

  /**
   * One slice of the walk, then a turn for other work. It ends early after records of 1 MB, because a turn in which
   * large records are read would take long; the next slice then goes on behind the last record looked at.
   */
  private slice(): void {
    const { walk } = this;
    if (walk === null) return;
    const { clock, replica, handOff } = this.parts;
    if (handOff.moving > handOffMax) {
      clock.at(clock.now() + waitMs, () => this.slice());
      return;
    }
    const handles: number[] = [];
    walk.after = replica.store.next(walk.after, sliceLength, handles);
    const numbers = handles.map((handle) => ({
      hi: replica.store.hiOf(handle),
      lo: replica.store.loOf(handle),
    }));
    const count = this.regularizeSome(numbers);
    this.checked += count;
    if (count < numbers.length) walk.after = numbers[count - 1] ?? null;
    if (walk.after === null) this.finish();
    else clock.soon(() => this.slice());
  }

  private finish(): void {
    this.walk = null;
    this.isFirst = false;
    this.parts.onFinished();
  }

  /** How many were looked at: fewer than all after records of 1 MB. */
  private regularizeSome(numbers: readonly Numbered[]): number {
    let bytes = 0;
    let count = 0;
    for (const number of numbers) {
      if (bytes >= turnBytesMax) break;
      bytes += this.regularize(number);
      count++;
    }
    return count;
  }

  /** Gives the record its right list, unless it is in doubt (`doubt.ts`). Returns how many bytes were read. */
  private regularize({ hi, lo }: Numbered): number {
    const { replica } = this.parts;
    const record = replica.get(hi, lo);
    if (record === undefined) return 0;
    if (!replica.isDoubtful(replica.store.find(hi, lo))) this.relist(record);
    return recordBytes(record);
  }

  /** S1: writes the right list into the record, and offers the record where that is this member's job (S2). */
  private relist(record: TimerRecord): void {
    const { self, replica, handOff, desired, onUnchanged } = this.parts;
    if (this.isFirst) this.bringToReplicas(record);
    const wanted = desired(record);
    const standIns = this.standIns(record, wanted);
    if (standIns.length > 0) this.noteIrregular(record);
    const list = standIns.length > 0 ? [...wanted, ...standIns] : wanted;
    const listed = list.includes(self);
    if (sameNames(record.replicas, list)) {
      onUnchanged();
      // Not listed, and nothing changed: an earlier hand-off may have found no member that answers.
      if (!listed) handOff.add(record);
      return;
    }
    const pusher = this.pushes(record);
    if (list.length === 0) return;
    invariant(new Set(list).size === list.length, 'a replica is listed once');
    replica.relist(record, list);
    this.moved++;
    if (pusher || !listed) handOff.add(record);
  }

  /** S4, for a record that this member took as a stand-in, or was about to hand on. */
  private bringToReplicas(record: TimerRecord): void {
    const { self, onUnconfirmed } = this.parts;
    const first = record.replicas.slice(0, record.factor);
    if (!first.includes(self)) onUnconfirmed(record, first);
  }

  /**
   * Members that are listed besides the wanted ones stay listed, and are asked before every pop and told of it, until
   * the members that the view asks for answer and have room: two holders that no longer knew each other would both
   * pop. That is so for every holder, listed or not. Stand-ins that answer, listed behind the view's own, are not
   * enough: a member that came later has not yet found the same replica absent, and still counts on the former
   * stand-in.
   */
  private standIns(record: TimerRecord, wanted: readonly string[]): readonly string[] {
    const { able, lasting } = this.parts;
    const { replicas, factor } = record;
    if (
      this.irregular.size >= irregularMax ||
      wanted.slice(0, factor).filter(able).length >= factor
    )
      return [];
    return replicas.filter((name) => !wanted.includes(name) && lasting(name));
  }

  /**
   * S2: whether it falls to this member to tell the new replicas. With no replica there it does: one teller too many is
   * harmless.
   */
  private pushes(record: TimerRecord): boolean {
    const { self, present } = this.parts;
    const first = record.replicas.find(present);
    return first === undefined || first === self;
  }
}
