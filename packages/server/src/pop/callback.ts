/**
 * The callbacks port on real connections: undici, one pool an origin, kept alive. How often and whom to call is
 * decided elsewhere (`retry.ts`, `destinations.ts`); where a call may go, in `guard.ts`.
 *
 * Invariants:
 *  1. `done` is called exactly once, after `call` has returned, at the latest when the time limit is over; the
 *     limit counts everything: resolving, connecting, sending, the whole answer.
 *  2. A request whose limit is over before it was written is never written.
 *  3. At most 16 KiB of an answer are read, and none of it is kept. Redirects are answers like any other.
 *  4. Pools, connections of a pool and requests waiting for a connection are bounded; unused pools are closed.
 */
import type { CallbackRequest, CallbackResult, Callbacks, Cancel, Clock } from '@carillon/core';
import { type Dispatcher, Pool } from 'undici';
import { noAnswer, resultOfError } from './callback-failure.ts';
import { refuseRequest } from './callback-request.ts';
import { splitUri } from './callback-uri.ts';
import { guardedConnector, judgeReceiver, type Receiver, receiverOf } from './connect.ts';
import type { Guard } from './guard.ts';
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

const answerBytesMax = 16 * 1024;
const connectLimitMs = 10_000;
/** Unused connections are closed before receivers usually do, or when they say they will. */
const keepAliveMs = 4000;
const keepAliveMsMax = 60_000;
/** A connection is not used for longer, so that a changed DNS entry is noticed. */
const connectionAgeMsMax = 300_000;
const poolIdleMsMax = 60_000;

type Done = (result: CallbackResult) => void;

export class HttpCallbacks implements Callbacks {
  private readonly options: HttpCallbacksOptions;
  private readonly clock: Clock;
  private readonly resolve: Resolve;
  private readonly connectionCountMax: number;
  private readonly originCountMax: number;
  private readonly origins = new Map<string, Origin>();
  private sweeping: Cancel | null = null;
  private closed = false;

  constructor(options: HttpCallbacksOptions) {
    this.options = options;
    this.clock = options.clock;
    this.resolve = options.resolve ?? systemResolve();
    this.connectionCountMax = options.connectionCountMax ?? 64;
    this.originCountMax = options.originCountMax ?? 1024;
  }

  call(request: CallbackRequest, done: Done): void {
    const refusal = refuseRequest(request);
    const uri = refusal === null ? splitUri(request.uri, this.origins) : null;
    if (uri === null) {
      const why = refusal ?? 'The uri must be absolute, http or https, and without credentials.';
      this.answer(noAnswer('forbidden', why), done);
      return;
    }
    const origin = this.closed ? closing : this.origin(uri.origin);
    if (!(origin instanceof Origin)) {
      this.answer(origin, done);
      return;
    }
    const hindrance = this.hindrance(origin);
    if (hindrance !== null) this.answer(hindrance, done);
    else new Attempt(this.clock, origin, done).start(request, uri.path);
  }

  /** Cuts what is in flight. Nothing can be called afterwards. */
  async close(): Promise<void> {
    this.closed = true;
    this.sweeping?.();
    const pools = [...this.origins.values()].map((origin) => origin.pool.destroy());
    this.origins.clear();
    await Promise.all(pools);
  }

  /** Pools that are open now. */
  get originCount(): number {
    return this.origins.size;
  }

  private answer(result: CallbackResult, done: Done): void {
    this.clock.soon(() => done(result));
  }

  /** Why the attempt ends here; null when it may go on. */
  private hindrance(origin: Origin): CallbackResult | null {
    const edition = this.options.guard.edition();
    if (edition !== origin.edition) this.judge(origin, edition);
    if (origin.refusal !== null) return noAnswer('forbidden', origin.refusal);
    // Requests given up while their connection hangs stay with undici until it does not.
    if (origin.held >= 2 * this.connectionCountMax) {
      return noAnswer('timeout', 'Earlier requests still wait for connections to this receiver.');
    }
    return null;
  }

  /** Judges an origin anew, with the addresses it is connected to. */
  private judge(origin: Origin, edition: object): void {
    const { guard } = this.options;
    const { receiver } = origin;
    origin.edition = edition;
    origin.refusal = judgeReceiver(guard, receiver);
    const stale = [...origin.addresses].some((one) => guard.judge(one, receiver.port) !== null);
    if (origin.refusal === null && !stale) return;
    void origin.pool.destroy();
    origin.addresses.clear();
    origin.pool = this.pool(origin);
  }

  private origin(name: string): Origin | CallbackResult {
    const known = this.origins.get(name);
    if (known !== undefined) return known;
    if (this.origins.size >= this.originCountMax && !this.dropIdle()) return tooMany;
    const origin = new Origin(name);
    origin.pool = this.pool(origin);
    this.origins.set(name, origin);
    this.sweepLater();
    return origin;
  }

  private pool(origin: Origin): Pool {
    return new Pool(origin.name, {
      connections: this.connectionCountMax,
      connect: guardedConnector(origin.receiver, {
        guard: this.options.guard,
        resolve: this.resolve,
        limitMs: connectLimitMs,
        onConnect: (address) => origin.connected(address),
        ...(this.options.ca === undefined ? {} : { ca: this.options.ca }),
      }),
      allowH2: false,
      clientTtl: connectionAgeMsMax,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMsMax,
      maxResponseSize: answerBytesMax,
      // One alarm an attempt covers everything; undici's own are coarse and cover parts.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
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
    void origin.pool.destroy();
  }

  private sweepLater(): void {
    this.sweeping ??= this.clock.at(this.clock.now() + poolIdleMsMax, () => {
      this.sweeping = null;
      for (const origin of this.origins.values()) {
        if (origin.held === 0 && !origin.used) this.drop(origin);
        origin.used = false;
      }
      if (this.origins.size > 0) this.sweepLater();
    });
  }
}

const closing = noAnswer('cut', 'The member is closing its connections.');
const tooMany = noAnswer('cut', 'Calls to too many receivers are in flight.');
const addressCountMax = 64;

/** One origin and its pool. */
class Origin {
  readonly name: string;
  readonly receiver: Receiver;
  pool!: Pool;
  /** Requests undici has not let go of. */
  held = 0;
  /** Since the last sweep. */
  used = false;
  /** The guard's edition that `refusal` holds for. */
  edition: object | null = null;
  refusal: string | null = null;
  /** Addresses connections were made to. */
  readonly addresses = new Set<string>();

  constructor(name: string) {
    this.name = name;
    this.receiver = receiverOf(name);
  }

  connected(address: string): void {
    if (this.addresses.size >= addressCountMax) this.addresses.clear();
    this.addresses.add(address);
  }
}

/** One request on its way. */
class Attempt implements Dispatcher.DispatchHandler {
  private readonly clock: Clock;
  private readonly origin: Origin;
  private done: Done | null;
  private alarm: Cancel | null = null;
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
    const { clock, origin } = this;
    origin.held++;
    origin.used = true;
    this.alarm = clock.at(clock.now() + limitMs, () => this.overdue());
    origin.pool.dispatch({ path, method, headers, body }, this);
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
    this.origin.held--;
    this.finish(this.answer());
  }

  /** A status that has arrived counts, whatever becomes of the rest of the answer. */
  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.origin.held--;
    this.finish(this.status === 0 ? resultOfError(error) : this.answer());
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
