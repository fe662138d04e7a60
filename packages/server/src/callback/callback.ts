/**
 * The callbacks port on real connections, kept alive (`origin.ts`, `receiver-connection.ts`). When to call which
 * receiver is decided elsewhere (`retry.ts`, `destinations.ts`); where a call may go, in `guard.ts`.
 *
 * Invariants:
 *  1. `done` is called exactly once, after `call` has returned, at the latest when the time limit is over; the
 *     limit counts everything: resolving, connecting, sending, the whole answer.
 *  2. A request whose limit is over before it was written is never written.
 *  3. At most 16 KiB of an answer are read, and of an answer that is no success at most 256 bytes are told. Redirects
 *     are answers like any other.
 *  4. Origins and connections to one are bounded; over the bounds a request is answered as unmade. Requests wait in
 *     `destinations.ts`, and nowhere else. A connection is free before `done` is called. Unused origins are closed.
 */
import {
  type CallbackDone,
  type CallbackRequest,
  type CallbackResult,
  type Callbacks,
  type Cancel,
  type Clock,
  type Deadlined,
  Deadlines,
} from '@carillon/core';
import type { HeardAnswer } from './answers/answer-parser.ts';
import { noAnswer, resultOfError, unmade } from './callback-failure.ts';
import { refuseRequest } from './callback-request.ts';
import type { Guard } from './guard/guard.ts';
import { Origin, type OriginOptions, type ReceiverCall } from './origin.ts';
import type { ReceiverConnection, Turn } from './receiver-connection.ts';
import { type Resolve, systemResolve } from './guard/resolve.ts';
import { parseRetryAfter } from './answers/retry-after.ts';
import { saidText } from './answers/said.ts';
import { togetherOf } from './answers/together.ts';

export interface HttpCallbacksOptions {
  readonly clock: Clock;
  readonly guard: Guard;
  /** Names to addresses; the default asks DNS and the system. */
  readonly resolve?: Resolve;
  /** Connections to one origin. At least as many as `Destinations` lets be in flight there. */
  readonly connectionCountMax?: number;
  readonly originCountMax?: number;
  /** Certificates to trust instead of the usual ones (PEM). */
  readonly ca?: string;
}

const connectLimitMs = 10_000;
/** When there is no room for a request, about so much later there may be. */
const crowdedMs = 2000;
const originIdleMsMax = 60_000;
/** Time limits that are remembered; most requests have the same. */
const limitCountMax = 64;

export class HttpCallbacks implements Callbacks {
  private readonly clock: Clock;
  private readonly guard: Guard;
  private readonly perOrigin: OriginOptions;
  private readonly originCountMax: number;
  /** Origins by namespace and name: no connection is shared between namespaces. */
  private readonly origins = new Map<string, Origin>();
  /** The origin asked for last: most callbacks of a burst are for the same receiver. */
  private newest: {
    readonly name: string;
    readonly namespace: string;
    readonly origin: Origin;
  } | null = null;
  /** By time limit, in milliseconds. */
  private readonly limits = new Map<number, Deadlines>();
  private sweeping: Cancel | null = null;
  private closed = false;

  constructor(options: HttpCallbacksOptions) {
    const { clock, guard, resolve = systemResolve(), connectionCountMax = 64, ca } = options;
    this.clock = clock;
    this.guard = guard;
    const trust = ca === undefined ? {} : { ca };
    const connect = { clock, guard, resolve, limitMs: connectLimitMs, ...trust };
    this.perOrigin = { clock, connect, connectionCountMax, turn: turnsOf(clock) };
    this.originCountMax = options.originCountMax ?? 1024;
  }

  call(request: CallbackRequest, done: CallbackDone): void {
    const { split, namespace } = request;
    const origin = split === null ? badUri : this.origin(split.origin, namespace);
    const hindrance = origin instanceof Origin ? this.hindrance(origin, request) : origin;
    if (hindrance !== null) this.clock.soon(() => done(hindrance));
    else if (origin instanceof Origin && split !== null) {
      const { clock } = this;
      const limits = this.limitsOf(request.limitMs);
      new Attempt({ clock, limits, request, path: split.path, done }).start(origin);
    }
  }

  /** Cuts requests in flight. None can be made afterwards. */
  async close(): Promise<void> {
    this.closed = true;
    this.sweeping?.();
    for (const limits of this.limits.values()) limits.stop();
    const origins = [...this.origins.values()];
    this.origins.clear();
    this.newest = null;
    for (const origin of origins) origin.destroy();
  }

  /** All attempts with one limit wait together. */
  private limitsOf(limitMs: number): Deadlines {
    const known = this.limits.get(limitMs);
    if (known !== undefined) return known;
    if (this.limits.size >= limitCountMax) this.forgetLimits();
    const limits = new Deadlines(this.clock, limitMs);
    this.limits.set(limitMs, limits);
    return limits;
  }

  /** Limits of attempts under way stay: there are no more than requests may be in flight. */
  private forgetLimits(): void {
    for (const [limitMs, limits] of this.limits) {
      if (!limits.isEmpty) continue;
      limits.stop();
      this.limits.delete(limitMs);
    }
  }

  /** Why the attempt ends here; null when it may go on. */
  private hindrance(origin: Origin, request: CallbackRequest): CallbackResult | null {
    const refusal = refuseRequest(request) ?? origin.judge(this.guard);
    if (refusal !== null) return noAnswer('forbidden', refusal);
    return origin.isFull ? allInUse : null;
  }

  private origin(name: string, namespace: string): Origin | CallbackResult {
    if (this.closed) return closing;
    const { newest } = this;
    if (newest?.name === name && newest.namespace === namespace) return newest.origin;
    const key = `${namespace} ${name}`;
    const known = this.origins.get(key) ?? this.open(key, name);
    if (known === null) return tooMany;
    this.newest = { name, namespace, origin: known };
    return known;
  }

  /** null: there are too many, all of them busy. */
  private open(key: string, name: string): Origin | null {
    if (this.origins.size >= this.originCountMax && !this.dropIdle()) return null;
    const origin = new Origin(name, this.perOrigin);
    this.origins.set(key, origin);
    this.sweepLater();
    return origin;
  }

  private dropIdle(): boolean {
    for (const [key, origin] of this.origins) {
      if (origin.isBusy) continue;
      this.drop(key, origin);
      return true;
    }
    return false;
  }

  private drop(key: string, origin: Origin): void {
    this.origins.delete(key);
    this.newest = null;
    origin.destroy();
  }

  private sweepLater(): void {
    this.sweeping ??= this.clock.at(this.clock.now() + originIdleMsMax, () => {
      this.sweeping = null;
      for (const [key, origin] of this.origins) {
        if (!origin.isBusy && !origin.used) this.drop(key, origin);
        origin.used = false;
      }
      if (this.origins.size > 0) this.sweepLater();
    });
  }
}

const badUri = noAnswer(
  'forbidden',
  'The uri must be absolute, http or https, and without credentials.',
);
const cut = noAnswer('cut', 'The connection ended before the answer.');
const allInUse = unmade('All connections to this receiver are in use.', crowdedMs);
const closing = unmade('The member is closing its connections.', crowdedMs);
const tooMany = unmade('Calls to too many receivers are in flight.', crowdedMs);

/**
 * Calls back when every byte that has arrived by now is read. The event loop may have read its sockets already in the
 * present turn, so that is certain only after the next one. All callers of one turn share one wait.
 */
function turnsOf(clock: Clock): Turn {
  let waiting: (() => void)[] = [];
  const begin = (): void => {
    const now = waiting;
    waiting = [];
    clock.soon(() => {
      for (const fn of now) fn();
    });
  };
  return (fn) => {
    waiting.push(fn);
    if (waiting.length === 1) clock.soon(begin);
  };
}

interface AttemptParts {
  readonly clock: Clock;
  readonly limits: Deadlines;
  readonly request: CallbackRequest;
  readonly path: string;
  readonly done: CallbackDone;
}

/** One request on its way. */
class Attempt implements ReceiverCall, Deadlined {
  readonly path: string;
  request: CallbackRequest | null;
  connection: ReceiverConnection | null = null;
  private readonly clock: Clock;
  private done: CallbackDone | null;
  private readonly limits: Deadlines;
  readonly startMs: number;
  before: Deadlined | null = null;
  after: Deadlined | null = null;
  private starting = true;
  private origin: Origin | null = null;

  constructor({ clock, limits, request, path, done }: AttemptParts) {
    this.clock = clock;
    this.limits = limits;
    this.request = request;
    this.path = path;
    this.done = done;
    this.startMs = clock.now();
  }

  start(origin: Origin): void {
    this.limits.add(this);
    this.origin = origin;
    origin.send(this);
    this.starting = false;
  }

  unheard(): void {
    this.connection = null;
    if (this.request !== null) this.origin?.sendFresh(this);
  }

  answered({ status, retryAfter, batch, failed, said }: HeardAnswer): void {
    const isLater = status >= 300 && retryAfter !== undefined;
    const retryAfterMs = isLater ? parseRetryAfter(retryAfter, this.clock.wall()) : null;
    const together = batch === undefined ? undefined : togetherOf(batch, failed);
    const answer: CallbackResult = { kind: 'answer', status, retryAfterMs };
    // Most answers have nothing more.
    if (together === undefined && said.length === 0) return this.finish(answer);
    this.finish({
      ...answer,
      ...(together !== undefined && { together }),
      ...(said.length > 0 && { said: saidText(said) }),
    });
  }

  failed(error: Error | null): void {
    this.finish(error === null ? cut : resultOfError(error));
  }

  /** The time limit is over. An answer that came while the member stood still was read before. */
  overdue(): void {
    if (this.done === null) return;
    const { connection } = this;
    const answer = connection?.answer ?? null;
    connection?.giveUp();
    if (answer === null || answer.status === 0)
      this.finish(noAnswer('timeout', 'No answer in time.'));
    else this.answered(answer);
  }

  private finish(result: CallbackResult): void {
    const { done } = this;
    if (done === null) return;
    this.done = null;
    this.request = null;
    this.limits.remove(this);
    if (this.starting) this.clock.soon(() => done(result));
    else done(result);
  }
}
