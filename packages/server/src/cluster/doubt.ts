/**
 * A member that comes back after a long time with old records, ran on while it could reach no other member for as long,
 * or has lost entries of its journal. Timers may have been cancelled since and even their tombstones forgotten, so its
 * records are doubtful: it asks the present replicas before it offers them to any member.
 *
 * D1  A newer record or tombstone elsewhere wins, as always.
 * D2  A record that no other member has any more has ended, if one of its own replicas must have had it: the record was
 *     old enough when this member went away, and the replica remembers the whole time since it must have had it.
 * D3  In every other case the record is kept: losing a timer is worse than a late pop. A cluster that was down as a
 *     whole, and a timer with one replica, lose nothing.
 * D4  A member that testifies with an older record is told the newer one at once: no comparison finds a tombstone that
 *     this member holds as a stand-in, because the older record does not list it.
 *
 * Example. Member a was away from 9:00 to 12:00 and asks b, the other replica of four timers; b has none of them:
 *
 *   set at 7:00, b remembers everything since 6:00    drop: b must have had it by 8:55, so it has ended since (D2)
 *   set at 7:00, b lost its disk at 10:00             trust: b may have had it and lost it (D3)
 *   set at 8:58, b remembers everything since 6:00    trust: in the last 5 minutes b may not have been told yet (D3)
 *   set at 7:00, b does not answer                    neither: asked again after 2 s; its pop waits until 12:00:05
 */
import { type Cancel, type Clock, compareProgress, type TimerRecord } from '@carillon/core';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Numbered } from '../replication/wire/parts.ts';

/** The answer of one other member about one record. */
export interface Testimony {
  readonly name: string;
  readonly record: TimerRecord | null;
  /** How far back it remembers, in milliseconds. */
  readonly historyMs: number;
}

/** After this time every replica has got the records that it did not confirm at first. */
const settledMs = 300_000;
/** Records that one slice looks at, before other work gets its turn. */
const sliceLength = 200;
const noBytes = new Uint8Array();
/** So many records are asked about at a time: all of them may be in doubt, after damage on disk. */
const askedMax = 2000;
const waitMs = 5;
/** Records whose replicas did not all answer are asked about again after this time. */
const againMs = 2000;
/** Pops of doubtful records wait this long for an answer. */
const holdMs = 5000;

/**
 * The rules D1 to D3. drop: the record has ended. trust: it is as good as any other. Pure.
 *
 * A testimony with a record means trust, whichever of the two is newer: the merge has decided that already (D1).
 */
export function judgeDoubt(
  record: TimerRecord,
  testimonies: readonly Testimony[],
  time: { readonly nowMs: number; readonly awaySinceMs: number },
): 'trust' | 'drop' {
  if (testimonies.some((testimony) => testimony.record !== null)) return 'trust';
  const settledAtMs = time.awaySinceMs - settledMs;
  if (record.startMs > settledAtMs) return 'trust';
  const remembers = testimonies.some(
    ({ name, historyMs }) => record.replicas.includes(name) && time.nowMs - historyMs < settledAtMs,
  );
  return remembers ? 'drop' : 'trust';
}

export interface DoubtParts {
  readonly clock: Clock;
  readonly replica: Replica;
  readonly peers: Pick<Peers, 'send'>;
  /** The members that hold the record now, or should, without members that have not answered for long. */
  readonly othersOf: (record: TimerRecord) => readonly string[];
  /** How far back a peer remembers; null: not heard yet. */
  readonly historyMs: (name: string) => number | null;
  /** Since when this member was away, on the monotonic clock. */
  readonly awaySinceMs: number;
  /** A walk over the records has left this one alone while it was in doubt. */
  readonly onTrusted: (record: TimerRecord) => void;
}

export class Doubt {
  private readonly parts: DoubtParts;
  private readonly holdUntilMs: number;
  private cancel: Cancel = () => {};
  private after: Numbered | null = null;
  /** Records whose answers have not all come. */
  private askedCount = 0;

  constructor(parts: DoubtParts) {
    this.parts = parts;
    this.holdUntilMs = parts.clock.now() + holdMs;
  }

  /** Asks from `afterMs` on. */
  start(afterMs = 0): void {
    if (afterMs > 0) this.sliceIn(afterMs);
    else this.slice();
  }

  stop(): void {
    this.cancel();
  }

  /** Whether a due pop of a doubtful record should wait for an answer. */
  holds(): boolean {
    return this.parts.clock.now() < this.holdUntilMs;
  }

  /** Asks about some records; goes round until none is in doubt. */
  private slice(): void {
    const { replica } = this.parts;
    if (replica.doubtfulCount === 0) return;
    if (this.askedCount >= askedMax) return this.sliceIn(waitMs);
    const { store } = replica;
    const handles: number[] = [];
    this.after = store.next(this.after, sliceLength, handles);
    for (const handle of handles) {
      // Without its body, which may be long: there may be many to ask about, and the answers take their time.
      if (replica.isDoubtful(handle)) this.ask({ ...store.read(handle), body: noBytes });
    }
    this.sliceIn(this.after === null ? againMs : 0);
  }

  private sliceIn(ms: number): void {
    const { clock } = this.parts;
    this.cancel = clock.at(clock.now() + ms, () => this.slice());
  }

  /**
   * Asks all other holders of the record. It is judged when all have answered and each has said how far back it
   * remembers; if one is missing, the record stays in doubt and the next round asks again.
   */
  private ask(record: TimerRecord): void {
    const { peers, othersOf, historyMs } = this.parts;
    const others = othersOf(record);
    const testimonies: Testimony[] = [];
    let left = others.length;
    if (left === 0) return this.judge(record, testimonies);
    this.askedCount++;
    for (const name of others) {
      peers.send(name, { type: 'read', hi: record.hi, lo: record.lo }, (answer) => {
        const memoryMs = historyMs(name);
        const isAnswer = answer?.type === 'record' || answer?.type === 'unknown';
        if (isAnswer && memoryMs !== null) {
          const known = answer.type === 'record' ? answer.record : null;
          testimonies.push({ name, record: known, historyMs: memoryMs });
        }
        if (--left > 0) return;
        this.askedCount--;
        if (testimonies.length === others.length) this.judge(record, testimonies);
      });
    }
  }

  /**
   * Takes in the records of the others, then drops or trusts the own one. A record that changed meanwhile is judged in
   * the next round.
   */
  private judge(record: TimerRecord, testimonies: readonly Testimony[]): void {
    const { clock, replica, awaySinceMs } = this.parts;
    const current = replica.get(record.hi, record.lo);
    if (current === undefined || compareProgress(current, record) !== 0) return;
    for (const testimony of testimonies) {
      if (testimony.record !== null) replica.receive(testimony.record, 'any', () => undefined);
    }
    const verdict = judgeDoubt(record, testimonies, { nowMs: clock.now(), awaySinceMs });
    if (verdict === 'drop') return replica.drop(current);
    replica.trust(record);
    this.tell(current, testimonies);
    this.parts.onTrusted(current);
  }

  /** D4: sends the record to members that testified with an older one. */
  private tell(current: TimerRecord, testimonies: readonly Testimony[]): void {
    for (const { name, record } of testimonies) {
      if (record === null || compareProgress(current, record) <= 0) continue;
      this.parts.peers.send(name, { type: 'store', mode: 'any', record: current }, () => {});
    }
  }
}
