/**
 * The callbacks port on real connections: undici clients, kept alive (`origin.ts`). How often and whom to call is
 * decided elsewhere (`retry.ts`, `destinations.ts`); where a call may go, in `guard.ts`.
 *
 * Invariants:
 *  1. `done` is called exactly once, after `call` has returned, at the latest when the time limit is over; the
 *     limit counts everything: resolving, connecting, sending, the whole answer.
 *  2. A request whose limit is over before it was written is never written.
 *  3. At most 16 KiB of an answer are read, and none of it is kept. Redirects are answers like any other.
 *  4. Origins, connections to one and requests waiting for a connection are bounded; unused origins are closed.
 */
import type { CallbackRequest, CallbackResult, Callbacks, Cancel, Clock } from '@carillon/core';
import type { Dispatcher } from 'undici';
import { noAnswer, resultOfError } from './callback-failure.ts';
import { refuseRequest } from './callback-request.ts';
import { splitUri } from './callback-uri.ts';
import type { ConnectOptions } from './connect.ts';
import type { Guard } from './guard.ts';
import { type Connection, Origin } from './origin.ts';
import { type Resolve, systemResolve } from './resolve.ts';
import { parseRetryAfter } from './retry-after.ts';

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
const originIdleMsMax = 60_000;

type Done = (result: CallbackResult) => void;

export class HttpCallbacks implements Callbacks {
  private readonly clock: Clock;
  private readonly connect: Omit<ConnectOptions, 'onConnect'>;
  private readonly connectionCountMax: number;
  private readonly originCountMax: number;
  private readonly origins = new Map<string, Origin>();
  private sweeping: Cancel | null = null;
  private closed = false;

  constructor(options: HttpCallbacksOptions) {
    this.clock = options.clock;
    this.connect = {
      guard: options.guard,
      resolve: options.resolve ?? systemResolve(),
      limitMs: connectLimitMs,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    };
    this.connectionCountMax = options.connectionCountMax ?? 64;
    this.originCountMax = options.originCountMax ?? 1024;
  }

  call(request: CallbackRequest, done: Done): void {
    const uri = splitUri(request.uri, this.origins);
    const origin = uri === null ? badUri : this.origin(uri.origin);
    const hindrance = origin instanceof Origin ? this.hindrance(origin, request) : origin;
    if (hindrance !== null) this.clock.soon(() => done(hindrance));
    else if (origin instanceof Origin && uri !== null) {
      new Attempt(this.clock, origin, done).start(request, uri.path);
    }
  }

  /** Cuts what is in flight. Nothing can be called afterwards. */
  async close(): Promise<void> {
    this.closed = true;
    this.sweeping?.();
    const origins = [...this.origins.values()];
    this.origins.clear();
    await Promise.all(origins.map((origin) => origin.destroy()));
  }

  /** Origins with connections, or lately used. */
  get originCount(): number {
    return this.origins.size;
  }

  /** Why the attempt ends here; null when it may go on. */
  private hindrance(origin: Origin, request: CallbackRequest): CallbackResult | null {
    const refusal = refuseRequest(request) ?? origin.judge(this.connect.guard);
    if (refusal !== null) return noAnswer('forbidden', refusal);
    // Requests given up while their connection hangs stay with undici until it does not.
    if (origin.held >= 2 * this.connectionCountMax) {
      return noAnswer('timeout', 'Earlier requests still wait for connections to this receiver.');
    }
    return null;
  }

  private origin(name: string): Origin | CallbackResult {
    if (this.closed) return closing;
    const known = this.origins.get(name);
    if (known !== undefined) return known;
    if (this.origins.size >= this.originCountMax && !this.dropIdle()) return tooMany;
    const origin = new Origin(name, this.connect, this.connectionCountMax);
    this.origins.set(name, origin);
    this.sweepLater();
    return origin;
  }

  private dropIdle(): boolean {
    for (const origin of this.origins.values()) {
      if (origin.held > 0) continue;
      this.drop(origin);
      return true;
    }
    return false;
  }

  private drop(origin: Origin): void {
    this.origins.delete(origin.name);
    void origin.destroy();
  }

  private sweepLater(): void {
    this.sweeping ??= this.clock.at(this.clock.now() + originIdleMsMax, () => {
      this.sweeping = null;
      for (const origin of this.origins.values()) {
        if (origin.held === 0 && !origin.used) this.drop(origin);
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
const closing = noAnswer('cut', 'The member is closing its connections.');
const tooMany = noAnswer('cut', 'Calls to too many receivers are in flight.');

/** One request on its way. */
class Attempt implements Dispatcher.DispatchHandler {
  private readonly clock: Clock;
  private readonly origin: Origin;
  private done: Done | null;
  private alarm: Cancel | null = null;
  private connection: Connection | null = null;
  private controller: Dispatcher.DispatchController | null = null;
  /** 0 until the answer has begun. */
  private status = 0;
  private retryAfterMs: number | null = null;
  private starting = true;

  constructor(clock: Clock, origin: Origin, done: Done) {
    this.clock = clock;
    this.origin = origin;
    this.done = done;
  }

  start({ method, headers, body, limitMs }: CallbackRequest, path: string): void {
    const nowMs = this.clock.now();
    this.connection = this.origin.take(nowMs);
    this.alarm = this.clock.at(nowMs + limitMs, () => this.overdue());
    this.connection.client.dispatch({ path, method, headers, body }, this);
    this.starting = false;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.done === null)
      controller.abort(new Error('The time limit was over before the start.'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    this.status = status;
    if (status >= 300) {
      this.retryAfterMs = parseRetryAfter(headers['retry-after'], this.clock.wall());
    }
  }

  /** The content is nobody's business; undici counts it. */
  onResponseData(): void {}

  onResponseEnd(): void {
    this.release();
    this.finish(this.answer());
  }

  /** A status that has arrived counts, whatever becomes of the rest of the answer. */
  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.release();
    this.finish(this.status === 0 ? resultOfError(error) : this.answer());
  }

  private release(): void {
    if (this.connection !== null) this.origin.release(this.connection);
    this.connection = null;
  }

  private overdue(): void {
    const { status } = this;
    this.finish(status === 0 ? noAnswer('timeout', 'No answer in time.') : this.answer());
    this.controller?.abort(new Error('The time limit is over.'));
  }

  private answer(): CallbackResult {
    return { kind: 'answer', status: this.status, retryAfterMs: this.retryAfterMs };
  }

  private finish(result: CallbackResult): void {
    const { done } = this;
    if (done === null) return;
    this.done = null;
    this.alarm?.();
    if (this.starting) this.clock.soon(() => done(result));
    else handOver(done, result);
  }
}

/** undici swallows what its handlers throw; a bug in whoever gets the result must not go unnoticed. */
function handOver(done: Done, result: CallbackResult): void {
  try {
    done(result);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
