/**
 * Carries one record to every member that should hold it, and says how many do. Sets, cancels and dead
 * letters all go this way; this member's own copy goes through the same door.
 *
 * W1  It is over when as many listed replicas as wanted confirmed and every reachable former holder knows, or
 *     when nobody is left to wait for.
 * W2  A replica that does not confirm in time gets a stand-in: the next in rank, listed last.
 * W3  Whoever did not confirm is reported, so that repair can bring it what it missed.
 */
import {
  type Cancel,
  type Clock,
  compareProgress,
  type Progress,
  type TimerRecord,
} from '@carillon/core';
import type { View } from '../cluster/view.ts';
import type { Peers } from './peers.ts';
import type { Replica } from './replica.ts';
import type { Answer, StoreMode } from './wire.ts';

const hedgeMs = 250;
const giveUpMs = 1000;
const giveUpOwnMs = 10_000;

export interface WriteParts {
  readonly self: string;
  readonly clock: Clock;
  readonly replica: Replica;
  /** null: alone. */
  readonly peers: Peers | null;
  readonly view: () => View;
  /** These members did not confirm; `holders` did. */
  readonly onMissed: (
    record: TimerRecord,
    missed: readonly string[],
    holders: readonly string[],
  ) => void;
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
  | { readonly type: 'none' };

export interface WriteRequest {
  readonly record: TimerRecord;
  readonly mode: StoreMode;
  /** Members that may hold the timer from earlier and must learn of the change. */
  readonly former: readonly string[];
}

export function write(
  parts: WriteParts,
  request: WriteRequest,
  done: (result: WriteResult) => void,
): void {
  new Write(parts, request, done).start();
}

class Write {
  private readonly parts: WriteParts;
  private readonly mode: StoreMode;
  private readonly former: readonly string[];
  private readonly wanted: number;
  private record: TimerRecord;
  private done: ((result: WriteResult) => void) | null;
  private readonly waiting = new Set<string>();
  private readonly confirmed = new Set<string>();
  private refusedFull = false;
  private hedged = false;
  private cancelAlarm: Cancel | null = null;
  private readonly startMs: number;

  constructor(parts: WriteParts, request: WriteRequest, done: (result: WriteResult) => void) {
    this.parts = parts;
    this.mode = request.mode;
    this.record = request.record;
    this.former = request.former.filter((name) => !request.record.replicas.includes(name));
    this.wanted = Math.max(1, Math.min(request.record.factor, parts.view().activeCount));
    this.done = done;
    this.startMs = parts.clock.now();
  }

  start(): void {
    const targets = [...this.record.replicas, ...this.former];
    for (const name of targets) this.waiting.add(name);
    for (const name of targets) this.send(name);
    // Everything may have been answered on the spot: nothing to wait for then.
    if (this.done === null) return;
    const { clock } = this.parts;
    const { startMs } = this;
    this.cancelAlarm = clock.at(startMs + hedgeMs, () => {
      this.hedge();
      if (this.done !== null) this.giveUpAt(startMs + giveUpMs);
    });
    for (const name of this.record.replicas) if (this.parts.peers?.silent(name)) this.standIn();
    this.check();
  }

  /** A slow disk of its own is worth waiting for where nobody else has the record: its answer will come. */
  private giveUpAt(atMs: number): void {
    const { clock, self } = this.parts;
    this.cancelAlarm = clock.at(atMs, () => {
      const ownOnly = this.confirmed.size === 0 && this.waiting.has(self);
      if (!ownOnly || atMs > this.startMs + giveUpOwnMs) this.conclude();
      else this.giveUpAt(clock.now() + giveUpMs);
    });
  }

  private send(name: string): void {
    const { self, replica, peers } = this.parts;
    const { record, mode } = this;
    if (name === self) replica.receive(record, mode, (answer) => this.answered(name, answer));
    else if (peers === null) this.answered(name, null);
    else peers.send(name, { type: 'store', mode, record }, (answer) => this.answered(name, answer));
  }

  private answered(name: string, answer: Answer | null): void {
    if (this.done === null) return;
    this.waiting.delete(name);
    if (answer?.type === 'stored') this.confirmed.add(name);
    else if (answer?.type === 'have' && this.beats(answer.progress)) {
      return this.finish({ type: 'have', progress: answer.progress });
    } else if (answer?.type === 'have') this.confirmed.add(name);
    else if (answer?.type === 'refused' && answer.why === 'namespace') {
      return this.finish({ type: 'refused', why: 'namespace' });
    } else this.failed(name, answer);
    this.check();
  }

  private failed(name: string, answer: Answer | null): void {
    if (answer?.type === 'refused') this.refusedFull = true;
    if (this.record.replicas.includes(name)) this.standIn();
  }

  /** What the replica has is not simply this very record. */
  private beats(progress: Progress): boolean {
    return this.mode === 'create' || compareProgress(progress, this.record) > 0;
  }

  private hedge(): void {
    this.hedged = true;
    for (const name of this.record.replicas) if (this.waiting.has(name)) this.standIn();
    this.check();
  }

  /** Adds the next-ranked member to the list, unless there are stand-ins enough. */
  private standIn(): void {
    const { record } = this;
    const gone = record.replicas.filter(
      (name) => !this.confirmed.has(name) && !this.promising(name),
    );
    if (record.replicas.length - gone.length >= this.wanted) return;
    const name = this.nextInRank();
    if (name === undefined) return;
    this.record = { ...record, replicas: [...record.replicas, name] };
    this.waiting.add(name);
    this.send(name);
    for (const holder of this.confirmed)
      if (this.record.replicas.includes(holder)) this.tell(holder);
  }

  /** Still expected to confirm soon. */
  private promising(name: string): boolean {
    return this.waiting.has(name) && !this.hedged && !(this.parts.peers?.silent(name) ?? false);
  }

  private nextInRank(): string | undefined {
    const view = this.parts.view();
    const { hi, lo, replicas } = this.record;
    return view
      .place(hi, lo, view.activeCount)
      .find((name) => !replicas.includes(name) && !(this.parts.peers?.silent(name) ?? false));
  }

  /** A holder learns of a longer list; it holds the record already, so nobody waits for it. */
  private tell(name: string): void {
    const { self, replica, peers } = this.parts;
    if (name === self) replica.receive(this.record, 'any', () => undefined);
    else peers?.send(name, { type: 'store', mode: 'any', record: this.record }, () => undefined);
  }

  private check(): void {
    if (this.done === null) return;
    const listed = this.record.replicas.filter((name) => this.confirmed.has(name)).length;
    const formerWaiting = !this.hedged && this.former.some((name) => this.waiting.has(name));
    if (listed >= this.wanted && !formerWaiting) this.conclude();
    else if (this.waiting.size === 0) this.conclude();
  }

  private conclude(): void {
    const holders = this.record.replicas.filter((name) => this.confirmed.has(name));
    if (holders.length === 0) {
      return this.finish(this.refusedFull ? { type: 'refused', why: 'full' } : { type: 'none' });
    }
    const missed = [...this.record.replicas, ...this.former].filter(
      (name) => !this.confirmed.has(name),
    );
    if (missed.length > 0) this.parts.onMissed(this.record, missed, holders);
    this.finish({
      type: 'confirmed',
      record: this.record,
      have: holders.length,
      wanted: this.wanted,
    });
  }

  private finish(result: WriteResult): void {
    const { done } = this;
    if (done === null) return;
    this.done = null;
    this.cancelAlarm?.();
    done(result);
  }
}
