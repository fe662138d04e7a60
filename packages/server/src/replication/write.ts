/**
 * Carries one record to every member that should hold it, and says how many do. Sets, cancels and dead
 * letters all go this way; this member's own copy goes through the same door.
 *
 * W1  It is over when as many listed replicas as wanted confirmed and every reachable former holder knows, or
 *     when no member is left to wait for. One that is silent and has vanished from the view is told, not waited for.
 * W2  A replica that does not confirm in time gets a stand-in: the next in rank, listed last. One that has much to do
 *     and confirms one thing after the other gets the time to come to this one: another would not have it sooner.
 * W3  A member that did not confirm is reported, so that repair can bring it the record. Where it may hold the timer as
 *     it was, every holder hears of it: the one that took the change may stand still when the member is back. So is a
 *     silent member that ranks before a stand-in: cut off with the same replicas it stands in for them on its side.
 * W4  A record that was confirmed and then replaced by a newer version, while the write waited for others, is not
 *     confirmed. A later state of the same version is: a short timer can pop before all have it.
 * W5  A newer version of a change that came to this member after this one confirms it: the later change is to win.
 */
import {
  type Cancel,
  type Clock,
  compareVersions,
  type Deadlined,
  type Deadlines,
  invariant,
  type Progress,
  type TimerRecord,
  type Version,
} from '@carillon/core';
import type { Peers } from './peers.ts';
import type { Replica } from './replica.ts';
import type { Answer } from './wire/answer.ts';
import type { StoreMode } from './wire/message.ts';
import type { Numbered } from './wire/parts.ts';

/** After this long without all confirmations, stand-ins are asked. */
export const hedgeMs = 250;
const giveUpMs = 1000;
/** However hopeful it looks. */
const giveUpMsMax = 10_000;

/** The part of a view that a write needs. */
export interface Ranking {
  readonly activeCount: number;
  /** The first `count` members for a number, primary first. */
  place(hi: number, lo: number, count: number): readonly string[];
  /** undefined: the view does not know it. */
  member(name: string): { readonly phase: 'joining' | 'active' | 'leaving' } | undefined;
}

export interface WriteParts {
  readonly self: string;
  readonly clock: Clock;
  /** Of `hedgeMs`, for all writes of this member. */
  readonly hedges: Deadlines;
  readonly replica: Replica;
  /** null: alone. */
  readonly peers: Peers | null;
  readonly view: () => Ranking;
  readonly onUnconfirmed: (news: UnconfirmedNews) => void;
}

/** A record that some members did not confirm. */
export interface UnconfirmedNews {
  readonly number: Numbered;
  /** Members that did not confirm the record. */
  readonly names: readonly string[];
  /** Members that did. */
  readonly holders: readonly string[];
  /** No member holds the timer as it was before. */
  readonly isNew: boolean;
}

export type WriteResult =
  | {
      readonly type: 'confirmed';
      readonly record: TimerRecord;
      readonly have: number;
      readonly wanted: number;
    }
  /** A replica holds something at least as new. */
  | { readonly type: 'have'; readonly progress: Progress }
  | { readonly type: 'refused'; readonly why: 'namespace' | 'full' }
  /** No member confirmed; some may have stored it. */
  | { readonly type: 'none'; readonly version: Version };

export interface WriteRequest {
  readonly record: TimerRecord;
  readonly mode: StoreMode;
  /** Members that may hold the timer from earlier and must learn of the change. */
  readonly former: readonly string[];
  /** Whether a newer version is of a change that came to this member later (W5). */
  readonly isOvertaken?: (by: Version) => boolean;
}

export function write(
  parts: WriteParts,
  request: WriteRequest,
  done: (result: WriteResult) => void,
): void {
  if (parts.peers === null) writeAlone(parts, request, done);
  else new Write(parts, request, done).start();
}

/** A member that is alone waits for nothing but its own disk, and there is no stand-in. */
function writeAlone(
  { replica }: WriteParts,
  { record, mode }: WriteRequest,
  done: (result: WriteResult) => void,
): void {
  replica.receive(record, mode, (answer) => {
    if (answer.type === 'have' && beats(answer.progress, record, mode)) done(answer);
    else if (answer.type === 'stored' || answer.type === 'have')
      done({ type: 'confirmed', record, have: 1, wanted: 1 });
    else if (answer.type === 'refused') done(answer);
    else done({ type: 'none', version: record });
  });
}

/** Whether a replica's record did not come of this very record. */
function beats(progress: Progress, record: TimerRecord, mode: StoreMode): boolean {
  const order = compareVersions(progress, record);
  return mode === 'create' ? order !== 0 : order > 0;
}

export class Write implements Deadlined {
  private readonly parts: WriteParts;
  private readonly mode: StoreMode;
  private readonly former: readonly string[];
  private readonly isOvertaken: (by: Version) => boolean;
  private readonly wanted: number;
  private record: TimerRecord;
  private done: ((result: WriteResult) => void) | null;
  // Sets of a few names; for so few, lists are cheaper.
  private readonly waiting: string[];
  private readonly confirmed: string[] = [];
  private refusedFull = false;
  private hedged = false;
  private cancelAlarm: Cancel | null = null;
  private readonly bornMs: number;
  startMs: number;
  before: Deadlined | null = null;
  after: Deadlined | null = null;

  constructor(parts: WriteParts, request: WriteRequest, done: (result: WriteResult) => void) {
    this.parts = parts;
    this.mode = request.mode;
    this.record = request.record;
    this.isOvertaken = request.isOvertaken ?? never;
    const { replicas } = request.record;
    this.former = request.former.filter((name) => !replicas.includes(name));
    this.waiting = [...replicas, ...this.former];
    this.wanted = Math.max(1, Math.min(request.record.factor, parts.view().activeCount));
    this.done = done;
    this.bornMs = parts.clock.now();
    this.startMs = this.bornMs;
  }

  start(): void {
    // A copy: a member that answers on the spot is taken out of the list.
    for (const name of this.waiting.slice()) this.send(name);
    // Everything may have been answered on the spot: nothing to wait for then.
    if (this.done === null) return;
    this.parts.hedges.add(this);
    for (const name of this.record.replicas) if (this.isSilent(name)) this.standIn();
    this.check();
  }

  overdue(): void {
    const { clock, hedges } = this.parts;
    const nowMs = clock.now();
    const lastChance = nowMs + hedgeMs > this.bornMs + giveUpMsMax;
    this.hedged = lastChance || this.waiting.every((name) => this.isLate(name));
    for (const name of this.record.replicas) if (this.isLate(name)) this.standIn();
    this.check();
    if (this.done === null) return;
    if (this.hedged) return this.giveUpAt(this.bornMs + giveUpMs);
    this.startMs = nowMs;
    hedges.add(this);
  }

  /** Nothing came from it for so long that its answer to this is not worth waiting for. */
  private isLate(name: string): boolean {
    const { self, clock, peers } = this.parts;
    if (!this.waiting.includes(name)) return false;
    const waitedMs = clock.now() - this.bornMs;
    const stalledMs = name === self ? waitedMs : (peers?.stalledMs(name) ?? waitedMs);
    return Math.min(waitedMs, stalledMs) >= hedgeMs;
  }

  private giveUpAt(atMs: number): void {
    const { clock } = this.parts;
    const late = (): void => {
      if (this.done === null) return;
      const againMs = clock.now() + hedgeMs;
      if (this.isHopeless() || againMs > this.bornMs + giveUpMsMax) this.conclude();
      else this.giveUpAt(againMs);
    };
    // Answers that arrived while the member had no time are read first.
    this.cancelAlarm = clock.at(atMs, () => clock.soon(late));
  }

  /** A slow disk of its own is worth waiting for where no other member has the record: its answer will come. */
  private isHopeless(): boolean {
    const { waiting, confirmed } = this;
    if (confirmed.length === 0 && waiting.includes(this.parts.self)) return false;
    return waiting.every((name) => this.isLate(name));
  }

  private send(name: string): void {
    const { self, replica, peers } = this.parts;
    const { record, mode } = this;
    const answered = (answer: Answer | null): void => {
      this.answered(name, answer);
      // The list it confirmed lacks the stand-ins found meanwhile: it would not tell them of its pops.
      const outdated = record.replicas.length < this.record.replicas.length;
      if (outdated && (answer?.type === 'stored' || answer?.type === 'have')) this.tell(name);
    };
    if (name === self) replica.receive(record, mode, answered);
    else if (peers === null) answered(null);
    else peers.send(name, { type: 'store', mode, record }, answered);
  }

  private answered(name: string, answer: Answer | null): void {
    if (this.done === null) return;
    const asked = this.record.replicas.includes(name) || this.former.includes(name);
    invariant(asked, 'only a member that was asked confirms');
    take(this.waiting, name);
    if (answer?.type === 'stored') add(this.confirmed, name);
    else if (answer?.type === 'have' && this.isBeaten(answer.progress)) {
      return this.finish({ type: 'have', progress: answer.progress });
    } else if (answer?.type === 'have') add(this.confirmed, name);
    else if (answer?.type === 'refused' && answer.why === 'namespace') {
      return this.finish({ type: 'refused', why: 'namespace' });
    } else this.failed(name, answer);
    this.check();
  }

  private isBeaten(by: Progress): boolean {
    return beats(by, this.record, this.mode) && !this.isOvertaken(by);
  }

  private failed(name: string, answer: Answer | null): void {
    if (answer?.type === 'refused') this.refusedFull = true;
    if (this.record.replicas.includes(name)) this.standIn();
  }

  /** Adds the next-ranked member to the list, unless there are stand-ins enough. */
  private standIn(): void {
    const { record } = this;
    const gone = record.replicas.filter(
      (name) => !this.confirmed.includes(name) && !this.promising(name),
    );
    if (record.replicas.length - gone.length >= this.wanted) return;
    const name = this.nextInRank();
    if (name === undefined) return;
    invariant(!record.replicas.includes(name), 'a stand-in is listed once');
    this.record = { ...record, replicas: [...record.replicas, name] };
    add(this.waiting, name);
    this.send(name);
    // Former holders too: they keep their copies until the listed ones have theirs, and would pop beside the stand-in.
    for (const holder of this.confirmed) if (holder !== name) this.tell(holder);
  }

  /** Still expected to confirm soon. */
  private promising(name: string): boolean {
    if (!this.waiting.includes(name) || this.hedged || this.isLate(name)) return false;
    return !this.isSilent(name);
  }

  private nextInRank(): string | undefined {
    const view = this.parts.view();
    const { hi, lo, replicas } = this.record;
    return view
      .place(hi, lo, view.activeCount)
      .find((name) => !replicas.includes(name) && !this.isSilent(name));
  }

  /** Silent members that are not listed, and rank before a stand-in that is. */
  private passedOver(): readonly string[] {
    const { hi, lo, replicas, factor } = this.record;
    if (replicas.length <= factor) return [];
    const view = this.parts.view();
    const ranked = view.place(hi, lo, view.activeCount);
    const last = ranked.findLastIndex((name) => replicas.includes(name));
    return ranked
      .slice(0, Math.max(last, 0))
      .filter((name) => !replicas.includes(name) && this.isSilent(name));
  }

  private isSilent(name: string): boolean {
    return this.parts.peers?.silent(name) ?? false;
  }

  /** A holder learns of a longer list; it holds the record already, so the write does not wait for it. */
  private tell(name: string): void {
    const { self, replica, peers } = this.parts;
    if (name === self) replica.receive(this.record, 'any', () => undefined);
    else peers?.send(name, { type: 'store', mode: 'any', record: this.record }, () => undefined);
  }

  private check(): void {
    if (this.done === null) return;
    const listed = this.record.replicas.filter((name) => this.confirmed.includes(name)).length;
    const formerWaiting = !this.hedged && this.former.some((name) => this.awaits(name));
    if (listed >= this.wanted && !formerWaiting) this.conclude();
    else if (this.waiting.length === 0) this.conclude();
  }

  /** Whether this member's own record replaced this one while it waited (W4). */
  private isReplacedBy(own: Progress): boolean {
    return compareVersions(own, this.record) > 0 && !this.isOvertaken(own);
  }

  private awaits(name: string): boolean {
    if (!this.waiting.includes(name)) return false;
    return this.parts.view().member(name) !== undefined || !this.isSilent(name);
  }

  private conclude(): void {
    const { hi, lo, replicas } = this.record;
    const own = this.parts.replica.progressOf(hi, lo);
    if (own !== null && this.isReplacedBy(own)) return this.finish({ type: 'have', progress: own });
    const holders = replicas.filter((name) => this.confirmed.includes(name));
    if (holders.length === 0) {
      const none = { type: 'none', version: this.record } as const;
      return this.finish(this.refusedFull ? { type: 'refused', why: 'full' } : none);
    }
    this.report(this.unconfirmed(), holders);
    this.finish({
      type: 'confirmed',
      record: this.record,
      // A member that gave its copy away gave it to another replica first: one copy is left at least.
      have: Math.max(1, holders.filter((name) => this.stillHolds(name, own)).length),
      wanted: this.wanted,
    });
  }

  /** Members that the record is meant for and that did not confirm it. */
  private unconfirmed(): readonly string[] {
    const { former, record, confirmed } = this;
    const { replicas, factor } = record;
    // The usual case, for which no set is made: a batch comes here for each of its timers.
    const isUsual = replicas.length <= factor && former.length === 0;
    if (isUsual && replicas.every((name) => confirmed.includes(name))) return [];
    const told = new Set([...replicas, ...former, ...this.passedOver()]);
    return [...told].filter((name) => !confirmed.includes(name));
  }

  /** A member that drains, this one or another, may have given its copy away by now. */
  private stillHolds(name: string, own: Progress | null): boolean {
    const { self, view } = this.parts;
    return name === self ? own !== null : view().member(name)?.phase !== 'leaving';
  }

  private report(names: readonly string[], holders: readonly string[]): void {
    if (names.length === 0) return;
    const isNew = this.mode === 'create';
    this.parts.onUnconfirmed({ number: this.record, names, holders, isNew });
  }

  private finish(result: WriteResult): void {
    const { done } = this;
    if (done === null) return;
    this.done = null;
    this.parts.hedges.remove(this);
    this.cancelAlarm?.();
    done(result);
  }
}

function never(): boolean {
  return false;
}

function add(names: string[], name: string): void {
  if (!names.includes(name)) names.push(name);
}

function take(names: string[], name: string): void {
  const at = names.indexOf(name);
  if (at >= 0) names.splice(at, 1);
}
