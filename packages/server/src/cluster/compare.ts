/**
 * Two members compare the records that both should hold and exchange the differing ones: first one hash a range, then
 * lists of the ranges that differ, then records, a bounded number of bytes at a time. While they agree it costs one
 * small message.
 *
 * A record that is on its way is in the hash of one member and not yet in that of the other, so with many changes a
 * second nearly all ranges differ, and the lists of all of them name every record. `check` therefore compares twice.
 * Example: of 256 ranges 190 differ, and a second later 187 do. In 2 of these nothing changed here meanwhile: a record
 * really is missing, and they are listed. The other 185 are busy: 8 of them are listed, and the next 8 a minute later.
 */
import { type Cancel, type Clock, compareProgress, hex16, type TimerRecord } from '@carillon/core';
import type { Digests } from '../replication/digests.ts';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import { frameBytesMax, recordBytes, repairBytesMax } from '../replication/sizes.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { RecordStanding, Numbered } from '../replication/wire/parts.ts';

/** One answer carries at most this many records; another round brings the rest. */
const recordsPerAnswerMax = 1000;
/** So many are sent before the first of them has to be answered. */
const giveMax = 1000;
/** Between the two looks of a check: longer than a change is on its way. */
const checkAgainMs = 1000;
/** Ranges in which records changed between the two looks, and that a check lists all the same. */
const busyCountMax = 8;

export interface CompareParts {
  readonly clock: Clock;
  readonly replica: Replica;
  readonly peers: Peers;
  readonly digests: Digests;
  readonly onSent: () => void;
  readonly onReceived: () => void;
}

export class Compare {
  private readonly parts: CompareParts;
  private readonly running = new Map<string, Run>();
  /** By peer: the busy ranges from there on come next. */
  private readonly nextBusy = new Map<string, number>();

  constructor(parts: CompareParts) {
    this.parts = parts;
  }

  /**
   * Lists every range that differs, for a member that may have lost many records. `done`: how many records came that
   * were missing here or newer; null when it broke off or is under way already.
   */
  start(name: string, done: (fetched: number | null) => void = ignore): void {
    const run = this.running.get(name);
    if (run !== undefined && run.wait === null) return done(null);
    // A check between its two looks would list a part only.
    run?.wait?.();
    this.running.set(name, { fetched: 0, done, wait: null });
    this.ask(name, this.hashesOf(name), (ranges) => this.ranges(name, ranges));
  }

  /** Looks twice: lists the ranges in which a difference lasts, and some of the busy ones. */
  check(name: string): void {
    if (this.running.has(name)) return;
    const run: Run = { fetched: 0, done: ignore, wait: null };
    this.running.set(name, run);
    const before = this.hashesOf(name);
    const { clock } = this.parts;
    this.ask(name, before, (ranges) => {
      if (ranges.length === 0) return this.end(name, true);
      run.wait = clock.at(clock.now() + checkAgainMs, () => {
        run.wait = null;
        this.lookAgain(name, before, new Set(ranges));
      });
    });
  }

  private lookAgain(name: string, before: Uint32Array, differed: ReadonlySet<number>): void {
    const now = this.hashesOf(name);
    this.ask(name, now, (ranges) => {
      const still = ranges.filter((range) => differed.has(range));
      const lasting = still.filter((range) => before[range] === now[range]);
      const busy = still.filter((range) => before[range] !== now[range]);
      this.ranges(name, [...lasting, ...this.someOf(name, busy)]);
    });
  }

  /** Begins nothing more. */
  stop(): void {
    for (const { wait } of this.running.values()) wait?.();
  }

  private hashesOf(name: string): Uint32Array {
    return this.parts.digests.of(name).slice();
  }

  private ask(name: string, hashes: Uint32Array, told: (ranges: readonly number[]) => void): void {
    this.parts.peers.send(name, { type: 'digest', hashes }, (answer) => {
      if (answer?.type === 'ranges') told(answer.ranges);
      else this.end(name, false);
    });
  }

  /** Others than last time: all of them have their turn. */
  private someOf(name: string, busy: readonly number[]): readonly number[] {
    const from = this.nextBusy.get(name) ?? 0;
    const next = busy.filter((range) => range >= from);
    const some = [...next, ...busy.filter((range) => range < from)].slice(0, busyCountMax);
    this.nextBusy.set(name, (some.at(-1) ?? -1) + 1);
    return some;
  }

  private end(name: string, ok: boolean): void {
    const run = this.running.get(name);
    this.running.delete(name);
    run?.done(ok ? run.fetched : null);
  }

  /** A peer's hashes: which ranges differ from ours. */
  digest(from: string, hashes: Uint32Array): Answer {
    const own = this.parts.digests.of(from);
    const ranges: number[] = [];
    for (let i = 0; i < own.length; i++) if (own[i] !== hashes[i]) ranges.push(i);
    return { type: 'ranges', ranges };
  }

  /**
   * A peer's list of one range: the records that are newer here, as many as fit, and the numbers that are newer there.
   */
  range(from: string, range: number, standings: readonly RecordStanding[]): Answer {
    const { store } = this.parts.replica;
    const newer = new Fitting();
    const want: Numbered[] = [];
    const listed = new Set<string>();
    for (const standing of standings) {
      listed.add(hex16(standing.hi, standing.lo));
      const handle = store.find(standing.hi, standing.lo);
      const order = handle === -1 ? -1 : compareProgress(store.progressOf(handle), standing);
      if (order < 0) want.push({ hi: standing.hi, lo: standing.lo });
      else if (order > 0 && newer.hasRoom) newer.add(store.read(handle));
    }
    this.eachShared(from, range, (handle) => {
      const key = hex16(store.hiOf(handle), store.loOf(handle));
      if (newer.hasRoom && !listed.has(key)) newer.add(store.read(handle));
    });
    return { type: 'difference', newer: newer.records, want };
  }

  /** One range after the other. */
  private ranges(name: string, ranges: readonly number[]): void {
    const [range, ...rest] = ranges;
    if (range === undefined) this.end(name, true);
    else this.round(name, range, new Set(), () => this.ranges(name, rest));
  }

  /**
   * An answer may have had room for a part only: the same again, as long as it brings something that was not `seen`. A
   * difference that remains (the disk of one of the two is full) is found by the next comparison.
   */
  private round(name: string, range: number, seen: Set<string>, done: () => void): void {
    const standings = this.standings(name, range);
    this.parts.peers.send(name, { type: 'range', range, standings }, (answer) => {
      if (answer?.type !== 'difference') return this.end(name, false);
      const had = seen.size;
      for (const record of answer.newer) {
        seen.add(hex16(record.hi, record.lo));
        this.take(name, record);
      }
      const more = seen.size > had;
      this.give(name, answer.want, () => (more ? this.round(name, range, seen, done) : done()));
    });
  }

  private take(name: string, record: TimerRecord): void {
    const { replica, onReceived } = this.parts;
    const stored = replica.get(record.hi, record.lo);
    const run = this.running.get(name);
    const isNewer = stored === undefined || compareProgress(record, stored) > 0;
    if (run !== undefined && isNewer) run.fetched++;
    onReceived();
    replica.receive(record, 'any', ignore);
  }

  /** Sends the wanted records, the next ones when the ones before have arrived. */
  private give(name: string, want: readonly Numbered[], done: () => void): void {
    const { replica, peers, onSent } = this.parts;
    if (want.length === 0) return done();
    let count = 0;
    let bytes = 0;
    let left = 1;
    let answered = true;
    const settled = (answer: Answer | null): void => {
      answered &&= answer !== null;
      if (--left > 0) return;
      if (answered) this.give(name, want.slice(count), done);
      else this.end(name, false);
    };
    for (; count < want.length && count < giveMax && bytes < repairBytesMax; count++) {
      const { hi, lo } = want[count] as Numbered;
      const record = replica.get(hi, lo);
      // A record in doubt is known here, but not offered to any member.
      if (record === undefined || replica.isDoubtful(replica.store.find(hi, lo))) continue;
      bytes += recordBytes(record);
      left++;
      onSent();
      peers.send(name, { type: 'store', mode: 'any', record }, settled);
    }
    settled(nothingToSay);
  }

  private standings(name: string, range: number): RecordStanding[] {
    const { store } = this.parts.replica;
    const standings: RecordStanding[] = [];
    this.eachKnown(name, range, (handle) => {
      const number = { hi: store.hiOf(handle), lo: store.loOf(handle) };
      standings.push({ ...number, ...store.progressOf(handle) });
    });
    return standings;
  }

  /** Records of this member that the other should have, without the ones in doubt. */
  private eachShared(name: string, range: number, visit: (handle: number) => void): void {
    const { replica } = this.parts;
    this.eachKnown(name, range, (handle) => {
      if (!replica.isDoubtful(handle)) visit(handle);
    });
  }

  private eachKnown(name: string, range: number, visit: (handle: number) => void): void {
    const { replica, digests } = this.parts;
    const { store } = replica;
    store.walk(range, (handle) => {
      const replicas = store.replicasOf(handle);
      const state = store.stateOf(handle);
      if (digests.shared({ replicas, state }, name)) visit(handle);
    });
  }
}

/** A comparison under way. */
interface Run {
  fetched: number;
  /** Ends the pause of a check; null: it is not between its two looks. */
  wait: Cancel | null;
  readonly done: (fetched: number | null) => void;
}

/** Records up to a number and a size. */
class Fitting {
  readonly records: TimerRecord[] = [];
  private bytes = 0;

  get hasRoom(): boolean {
    return this.records.length < recordsPerAnswerMax && this.bytes < frameBytesMax;
  }

  add(record: TimerRecord): void {
    this.records.push(record);
    this.bytes += recordBytes(record);
  }
}

const nothingToSay: Answer = { type: 'ok' };

function ignore(): void {}
