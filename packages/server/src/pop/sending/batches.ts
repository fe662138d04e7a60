/**
 * Batched callbacks: pops that wait for the same uri at the same time go in one request, a line of JSON each. Stands
 * between the popper and `destinations.ts`, which sees one call a batch; callbacks of other timers pass through.
 *
 * Rules:
 *  1. Pops that fall due in one turn go together; a pop that comes while a batch waits for its place joins it. As many
 *     batches wait for a place as it takes to hold all pops, so that a receiver which is quick enough is never waited
 *     for.
 *  2. A pop is asked for its request when the batch leaves, so that a timer cancelled while it waited is not in it.
 *  3. The answer counts for every pop in the batch, unless it names the pops that failed. A pop that failed goes alone
 *     the next time: one that the receiver cannot handle must not spoil others again and again.
 *  4. Namespaces never share a request: each may have its own secrets to sign with.
 *  5. Pops go together where their timer says so, and where the receiver does (`places/together.ts`). An answer to the
 *     second that does not say so comes from an instance that knows nothing of it: its pops were not tried, and come
 *     one by one.
 *  6. A pop that waits for a place of its own joins the others when its receiver has said so meanwhile; no more than
 *     `movedCountMax` in one turn of the event loop.
 */
import {
  type CallbackDone,
  type CallbackRequest,
  type CallbackResult,
  type Clock,
  type Definition,
  invariant,
  type TimerRecord,
} from '@carillon/core';
import { type BatchRequestLimits, BatchRequest } from './batch-request.ts';
import type { Addressee, Destinations } from './destinations.ts';
import { Fifo } from '../places/fifo.ts';
import { TogetherReceivers } from '../places/together.ts';
import { unmade } from '../../callback/callback-failure.ts';
import { callbackRequest, type PopContext } from '../../callback/request.ts';
import type { Signer } from '../../callback/sign.ts';
import { UriSplitter } from '../../callback/uri.ts';
import type { Instant } from '../../timer/schedule.ts';

export interface BatchesOptions {
  readonly clock: Clock;
  readonly destinations: Pick<Destinations, 'call' | 'delayedUntilMs' | 'waitMs'>;
  readonly instant: () => Instant;
  readonly signer: (namespace: string) => Signer | null;
  readonly limits: BatchRequestLimits;
  /** Pops that may wait for one uri before it counts as crowded. */
  readonly queueLengthMax: number;
}

/** The receiver of a pop, and whether other pops may go along. */
export interface PopAddressee extends Addressee {
  readonly batch: boolean;
  /** Goes as a batch of one. */
  readonly alone: boolean;
  /** The timer does not ask for it, but other pops may go along where the receiver says so. */
  readonly plain?: boolean;
}

/** Gives the pop when its receiver has a place; null when it is no longer wanted. */
export type BeginPop = () => PopContext | null;

/** With too many pops waiting, about so much later there may be room. */
const crowdedMs = 2000;
/** A few milliseconds of work: the rest goes singly until the next turn. */
const movedCountMax = 4096;

interface WaitingPop {
  readonly begin: BeginPop;
  readonly done: CallbackDone;
  readonly learned: boolean;
}

/** Pops that wait for the same uri. Here as long as there are any, or batches that would take them. */
interface Line extends Addressee {
  readonly queue: Fifo<WaitingPop>;
  /** Batches that wait for their place and will take the pops that are here by then. */
  asked: number;
}

export class Batches {
  private readonly options: BatchesOptions;
  private readonly uris = new UriSplitter();
  private readonly together: TogetherReceivers;
  private readonly lines = new Map<string, Line>();
  /** The line used last: most pops of a burst are for the same receiver. */
  private newest: Line | null = null;
  /** Rule 6. */
  private movedCount = 0;

  constructor(options: BatchesOptions) {
    this.options = options;
    this.together = new TogetherReceivers(options.clock);
  }

  addresseeOf({ namespace, attempt }: TimerRecord, definition: Definition): PopAddressee {
    const { uri } = definition;
    const plain = !definition.batch && attempt === 0 && isPlain(definition);
    const batch = definition.batch || (plain && this.together.countMax({ uri, namespace }) > 1);
    return { uri, split: this.uris.split(uri), namespace, batch, alone: attempt > 0, plain };
  }

  /**
   * How long a pop had better wait elsewhere: its receiver is left alone, or others would suffer from one more. 0: it
   * is welcome.
   */
  waitMs(to: PopAddressee): number {
    const { destinations, queueLengthMax } = this.options;
    const line = to.batch ? this.known(to) : undefined;
    if ((line?.queue.length ?? 0) >= queueLengthMax) return crowdedMs;
    return destinations.waitMs(to);
  }

  /** Pops that were due until then may be late because of their receiver. */
  delayedUntilMs(to: PopAddressee): number {
    return this.options.destinations.delayedUntilMs(to);
  }

  /**
   * Calls `begin` when the receiver has a place for this callback; without a pop (null) it is forgotten, otherwise
   * `done` is called once with its result.
   */
  call(to: PopAddressee, begin: BeginPop, done: CallbackDone): void {
    const { destinations } = this.options;
    const heard = (result: CallbackResult): void => {
      this.together.heard(to, result);
      done(result);
    };
    if (!to.batch) return destinations.call(to, () => this.single(to, begin, done), heard);
    if (to.alone) return destinations.call(to, () => this.alone(begin, to), heard);
    this.join(to, begin, done);
  }

  private join(to: PopAddressee, begin: BeginPop, done: CallbackDone): void {
    const line = this.known(to) ?? this.open(to);
    line.queue.push({ begin, done, learned: to.plain === true });
    this.ask(line);
  }

  private known({ uri, namespace }: Addressee): Line | undefined {
    const { newest } = this;
    if (newest?.uri === uri && newest.namespace === namespace) return newest;
    const line = this.lines.get(keyOf(uri, namespace));
    if (line !== undefined) this.newest = line;
    return line;
  }

  private open({ uri, split, namespace }: Addressee): Line {
    const line: Line = { uri, split, namespace, queue: new Fifo(), asked: 0 };
    this.lines.set(keyOf(uri, namespace), line);
    this.newest = line;
    return line;
  }

  private closeUnused({ uri, namespace, queue, asked }: Line): void {
    if (queue.length > 0 || asked > 0) return;
    this.lines.delete(keyOf(uri, namespace));
    this.newest = null;
  }

  /** Its place is not needed if it joins the others. */
  private single(to: PopAddressee, begin: BeginPop, done: CallbackDone): CallbackRequest | null {
    if (to.plain === true && this.together.countMax(to) > 1 && this.mayMove()) {
      this.join(to, begin, done);
      return null;
    }
    const pop = begin();
    return pop === null ? null : callbackRequest(pop, this.options.signer(to.namespace));
  }

  private mayMove(): boolean {
    if (this.movedCount === 0) {
      this.options.clock.soon(() => {
        this.movedCount = 0;
      });
    }
    return this.movedCount++ < movedCountMax;
  }

  private alone(begin: BeginPop, to: Addressee): CallbackRequest | null {
    const pop = begin();
    if (pop === null) return null;
    const batch = new BatchRequest(this.options.limits);
    batch.add(pop);
    return this.finish(batch, to);
  }

  private ask(line: Line): void {
    if (line.queue.length <= line.asked * this.limitsOf(line).countMax) return;
    line.asked++;
    this.options.clock.soon(() => {
      const inBatch: WaitingPop[] = [];
      let left = false;
      const leave = (): CallbackRequest | null => {
        left = true;
        line.asked--;
        invariant(line.asked >= 0, 'a batch leaves once');
        return this.leave(line, inBatch);
      };
      const ended = (result: CallbackResult): void => {
        if (left) return this.answered(line, inBatch, result);
        line.asked--;
        for (const { done } of this.giveUp(line)) done(result);
      };
      this.options.destinations.call(line, leave, ended);
    });
  }

  /** The receiver has a place for the batch. */
  private leave(line: Line, inBatch: WaitingPop[]): CallbackRequest | null {
    const batch = new BatchRequest(this.limitsOf(line));
    while (!batch.full) {
      const next = line.queue.shift();
      if (next === undefined) break;
      const pop = next.begin();
      if (pop === null) continue;
      batch.add(pop);
      inBatch.push(next);
    }
    this.ask(line);
    this.closeUnused(line);
    return batch.count === 0 ? null : this.finish(batch, line);
  }

  /** The batch was refused before it had a place: so are all pops that wait. */
  private giveUp(line: Line): WaitingPop[] {
    const all: WaitingPop[] = [];
    for (let next = line.queue.shift(); next !== undefined; next = line.queue.shift()) {
      all.push(next);
    }
    this.closeUnused(line);
    return all;
  }

  /** The pops of a batch, in the order of its lines, and how it ended. */
  private answered(line: Line, inBatch: readonly WaitingPop[], result: CallbackResult): void {
    const isUnderstood = result.kind !== 'answer' || result.together !== undefined;
    this.together.heard(line, result);
    if (!isUnderstood && inBatch.some(({ learned }) => learned)) this.together.notUnderstood(line);
    const resultOf = resultsOf(result);
    for (const [i, { done, learned }] of inBatch.entries())
      done(learned && !isUnderstood ? notUnderstood : resultOf(i));
  }

  /** A receiver that says nothing of a limit has asked for pops together in its timers. */
  private limitsOf(line: Line): BatchRequestLimits {
    const { limits } = this.options;
    const countMax = this.together.countMax(line);
    return countMax > 1 && countMax < limits.countMax ? { ...limits, countMax } : limits;
  }

  private finish(batch: BatchRequest, to: Addressee): CallbackRequest {
    const { signer, instant } = this.options;
    return batch.finish(to, signer(to.namespace), instant().wallMs);
  }
}

const notUnderstood = unmade('The receiver does not take several pops in a request.', 0);
const handled: CallbackResult = { kind: 'answer', status: 200, retryAfterMs: null };

/** The result of each line. Lines that are named as failed have failed, even if the status of the whole is 2xx. */
function resultsOf(result: CallbackResult): (line: number) => CallbackResult {
  const failed = result.kind === 'answer' ? (result.together?.failed ?? null) : null;
  if (failed === null || result.kind !== 'answer') return () => result;
  const lines = new Set(failed);
  const failure = result.status < 300 ? { ...result, status: 500 } : result;
  return (line) => (lines.has(line) ? failure : handled);
}

/** A line of a batch has neither a method nor headers of its own. */
function isPlain({ method, headers, form }: Definition): boolean {
  for (const _ in headers) return false;
  return method === 'POST' && form === 'plain';
}

/** No namespace has a space in its name. */
function keyOf(uri: string, namespace: string): string {
  return `${namespace} ${uri}`;
}
