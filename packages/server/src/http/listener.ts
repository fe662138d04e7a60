/**
 * The public HTTP listener: accepts connections (`connection.ts` reads and writes them), hands their requests to the
 * router, and owns everything that protects the member from clients together: counts, sums and time. Knows nothing
 * about timers.
 *
 * L1  No more than the configured connections, requests in flight and bytes of bodies at once; beyond them 503. Sets
 *     that would have to wait long too (`turns.ts`). Of the bytes of bodies each address has a share, and a part is
 *     for authenticated senders (`room/body-room.ts`).
 * L2  A body over its limit is refused as soon as that is known, from its length or while it arrives. Of answers that
 *     wait to be read no more than the configured bytes: beyond them clients that read nothing are cut.
 * L3  A client that is slow in sending or in reading is cut.
 * L4  No bytes from a client crash the member; bytes that are not HTTP get a 400 and a closed connection.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  type Cancel,
  type Clock,
  formatHostPort,
  type Random,
  splitHostPort,
} from '@carillon/core';
import type { Limits } from '../config/config.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type ConnectionOwner, HttpConnection } from './connection.ts';
import { ListenerState, type RequestRules } from './listener-state.ts';
import { type HttpRefusal, refusals } from './refusal.ts';
import type { ApiRequest, ApiResponse } from './message.ts';
import { type Certificate, createSecureServer, type SecureServer } from './tls.ts';
import { UnderWay } from './room/under-way.ts';
import { Turns } from './turns.ts';

/** The router of the API. */
export interface RequestHandler extends RequestRules {
  handle(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
}

export interface ListenerOptions {
  readonly router: RequestHandler;
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  /** Without one: plain HTTP. */
  readonly certificate?: Certificate | null;
  /** Called before each request is worked on: due pops take their turn here, so that requests cannot crowd them out. */
  readonly beforeWork?: () => void;
}

const sweepMsMax = 1_000;
const sweepMsMin = 20;

export class Listener implements ConnectionOwner {
  private readonly options: ListenerOptions;
  private readonly server: Server;
  private readonly secure: SecureServer | null;
  private readonly connections = new Set<HttpConnection>();
  private readonly sweepMs: number;
  private cancelSweep: Cancel | null = null;
  private readonly underWay: UnderWay;
  private readonly turns: Turns;
  private readonly state: ListenerState;

  constructor(options: ListenerOptions) {
    this.options = options;
    const { limits, metrics } = options;
    this.turns = new Turns(options.clock);
    const { headersTimeoutMs, requestTimeoutMs, idleTimeoutMs } = limits;
    const shortestMs = Math.min(headersTimeoutMs, requestTimeoutMs, idleTimeoutMs);
    this.sweepMs = Math.max(sweepMsMin, Math.min(sweepMsMax, shortestMs / 4));
    const { certificate = null } = options;
    this.secure = certificate === null ? null : this.secureServer(certificate);
    this.server = this.secure?.server ?? this.plainServer();
    const secure = certificate !== null;
    this.state = new ListenerState({ ...options, rules: options.router, secure });
    this.server.maxConnections = limits.connectionCountMax;
    this.server.on('drop', () => metrics.httpRefused.add('connections'));
    this.underWay = new UnderWay(limits.requestsInFlightMax);
    metrics.httpInFlight.read(() => this.underWay.count);
    metrics.httpConnections.read(() => this.connections.size);
  }

  /** Starts accepting; resolves with the address, its port filled in. Rejects when the address is taken. */
  listen(address: string): Promise<string> {
    const { host, port } = splitHostPort(address);
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host, port, backlog: 1024 }, () => {
        this.server.off('error', reject);
        const bound = this.server.address() as AddressInfo;
        resolve(formatHostPort({ host, port: bound.port }));
      });
    });
  }

  /** Stops accepting, lets requests under way finish for at most `limitMs`, then cuts the remaining connections. */
  async close(limitMs: number): Promise<void> {
    this.state.stopping = true;
    const { clock } = this.options;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.secure?.dropUnready();
    for (const connection of this.connections) connection.stop();
    const cancel = clock.at(clock.now() + limitMs, () => {
      for (const connection of this.connections) connection.destroy();
    });
    await closed;
    cancel();
    this.cancelSweep?.();
  }

  /** For connections from now on. */
  replaceCertificate(certificate: Certificate): void {
    this.secure?.replace(certificate);
  }

  work(request: ApiRequest, party: string, done: (response: ApiResponse | null) => void): void {
    const { router, beforeWork } = this.options;
    // Also before a refusal: refusals come in masses just when pops are most in need of time.
    beforeWork?.();
    const refusal = this.refusal(request, party);
    if (refusal !== null) {
      this.refused(refusal);
      return done(refusal.response);
    }
    const answer = router.handle(request);
    if (!(answer instanceof Promise)) return done(answer);
    this.underWay.begin(party);
    const finish = (response: ApiResponse | null): void => {
      this.underWay.end(party);
      done(response);
    };
    answer.then(finish, () => finish(null));
  }

  refused({ reason }: HttpRefusal): void {
    this.options.metrics.httpRefused.add(reason);
  }

  admits(connection: HttpConnection): boolean {
    return this.turns.admits(connection);
  }

  closed(connection: HttpConnection): void {
    this.connections.delete(connection);
    this.turns.leave(connection);
  }

  /** Where more waits than is allowed, clients are cut that have read nothing for longest. */
  private cutUnread(): void {
    const { answerBytesMax } = this.options.limits;
    let bytes = this.state.answerRoom.bytes;
    for (const connection of this.connections) bytes += connection.unreadBytes;
    if (bytes <= answerBytesMax) return;
    const owing = [...this.connections].filter(({ unreadBytes }) => unreadBytes > 0);
    for (const connection of owing.toSorted((a, b) => a.takenMs - b.takenMs)) {
      if (bytes <= answerBytesMax) break;
      bytes -= connection.unreadBytes;
      connection.cut();
    }
  }

  private plainServer(): Server {
    return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.accept(socket));
  }

  private secureServer(certificate: Certificate): SecureServer {
    return createSecureServer({
      certificate,
      handshakeMsMax: this.options.limits.headersTimeoutMs,
      accept: (socket) => this.accept(socket),
      refused: () => this.options.metrics.httpRefused.add('malformed'),
    });
  }

  private refusal(request: ApiRequest, party: string): HttpRefusal | null {
    if (this.state.stopping) return refusals.stopping;
    const full = this.underWay.isFull(party) || this.isCrowded(request);
    return full ? refusals.requests : null;
  }

  private isCrowded({ method }: ApiRequest): boolean {
    return this.turns.refusing && (method === 'POST' || method === 'PUT');
  }

  private accept(socket: Socket): void {
    if (this.cancelSweep === null) this.sweep();
    this.connections.add(new HttpConnection(this, this.state, socket));
  }

  /**
   * Looks at all connections every now and then, as long as there are any: a timer for each request would cost more.
   */
  private sweep(): void {
    const { state } = this;
    state.renew();
    // Waits that began since the last sweep count from that sweep, so subtract one period: no client is cut too early.
    for (const connection of this.connections) connection.sweep(state.nowMs - this.sweepMs);
    this.cutUnread();
    this.cancelSweep = this.options.clock.at(state.nowMs + this.sweepMs, () => {
      this.cancelSweep = null;
      if (this.connections.size > 0) this.sweep();
    });
  }
}
