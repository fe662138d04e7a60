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
import type { RequestHead } from './head.ts';
import { Refusal, refusals } from './refusal.ts';
import type { CommonHeaders } from './response.ts';
import type { ApiRequest, ApiResponse } from './message.ts';
import { AnswerRoom } from './room/answer-room.ts';
import { BodyRoom } from './room/body-room.ts';
import { type Certificate, createSecureServer, type SecureServer } from './tls.ts';
import { Turns } from './turns.ts';

/** The questions of the listener about a request; the router of the API answers them. */
export interface RequestHandler {
  /** How large a body may be; asked before the body is read. */
  bodyBytesMax(method: string, path: string): number;
  /** The answer to a request whose body need not be read; null: read it. */
  refuseEarly(request: ApiRequest): ApiResponse | null;
  /** Whether the request may take many turns. */
  isLong(method: string, path: string): boolean;
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
/** Browsers that came here once come back by TLS only. */
const strictTransport = 'strict-transport-security: max-age=31536000\r\n';
/** Browsers never take text of a client in an answer for a page or a script. */
const asDeclared = 'x-content-type-options: nosniff\r\n';
const requestIdForm = /^[\x21-\x7e]{1,128}$/;

export class Listener implements ConnectionOwner {
  private readonly options: ListenerOptions;
  private readonly server: Server;
  private readonly secure: SecureServer | null;
  private readonly idPrefix: string;
  private idCounter = 0;
  private readonly connections = new Set<HttpConnection>();
  private readonly sweepMs: number;
  private cancelSweep: Cancel | null = null;
  private inFlight = 0;
  private readonly turns: Turns;
  private readonly answerRoom: AnswerRoom;
  readonly bodyRoom: BodyRoom;
  readonly limits: Limits;
  nowMs = 0;
  commonHeaders: CommonHeaders = { kept: '', last: '' };
  /** Headers that are the same in every answer. */
  private readonly fixedHeaders: CommonHeaders;
  stopping = false;

  constructor(options: ListenerOptions) {
    this.options = options;
    const { limits, metrics } = options;
    this.limits = limits;
    this.turns = new Turns(options.clock);
    this.answerRoom = new AnswerRoom(limits.answerBytesMax);
    this.bodyRoom = new BodyRoom(limits.bufferedBytesMax);
    this.idPrefix = `${options.random.u32().toString(36)}-`;
    const { headersTimeoutMs, requestTimeoutMs, idleTimeoutMs } = limits;
    const shortestMs = Math.min(headersTimeoutMs, requestTimeoutMs, idleTimeoutMs);
    this.sweepMs = Math.max(sweepMsMin, Math.min(sweepMsMax, shortestMs / 4));
    const { certificate = null } = options;
    this.secure = certificate === null ? null : this.secureServer(certificate);
    this.server = this.secure?.server ?? this.plainServer();
    this.fixedHeaders = fixedHeaders(certificate !== null, idleTimeoutMs);
    this.server.maxConnections = limits.connectionCountMax;
    this.server.on('drop', () => metrics.httpRefused.add('connections'));
    metrics.httpInFlight.read(() => this.inFlight);
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
    this.stopping = true;
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

  bodyBytesMax({ method, path }: RequestHead): number {
    return this.options.router.bodyBytesMax(method, path);
  }

  refuseEarly(request: ApiRequest): Refusal | null {
    const response = this.options.router.refuseEarly(request);
    return response === null ? null : new Refusal('not_allowed', response);
  }

  isLong({ method, path }: RequestHead): boolean {
    return this.options.router.isLong(method, path);
  }

  takeAnswerRoom(connection: HttpConnection): boolean {
    return this.answerRoom.take(connection, this.options.clock.now());
  }

  giveAnswerRoom(connection: HttpConnection): void {
    this.answerRoom.give(connection);
  }

  requestId(head: RequestHead | null): string {
    const given = head?.headers['x-request-id'];
    if (given !== undefined && requestIdForm.test(given)) return given;
    return this.idPrefix + (this.idCounter++).toString(36);
  }

  work(request: ApiRequest): ApiResponse | Promise<ApiResponse> {
    const { router, beforeWork } = this.options;
    // Also before a refusal: refusals come in masses just when pops are most in need of time.
    beforeWork?.();
    const refusal = this.refusal(request);
    if (refusal !== null) {
      this.refused(refusal);
      return refusal.response;
    }
    const answer = router.handle(request);
    if (answer instanceof Promise) this.inFlight++;
    return answer;
  }

  finished(): void {
    this.inFlight--;
  }

  refused({ reason }: Refusal): void {
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
    let bytes = this.answerRoom.bytes;
    for (const connection of this.connections) bytes += connection.unreadBytes;
    if (bytes <= this.limits.answerBytesMax) return;
    const owing = [...this.connections].filter(({ unreadBytes }) => unreadBytes > 0);
    for (const connection of owing.toSorted((a, b) => a.takenMs - b.takenMs)) {
      if (bytes <= this.limits.answerBytesMax) break;
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
      handshakeMsMax: this.limits.headersTimeoutMs,
      accept: (socket) => this.accept(socket),
      refused: () => this.options.metrics.httpRefused.add('malformed'),
    });
  }

  private refusal(request: ApiRequest): Refusal | null {
    if (this.stopping) return refusals.stopping;
    const full = this.inFlight >= this.limits.requestsInFlightMax || this.isCrowded(request);
    return full ? refusals.requests : null;
  }

  private isCrowded({ method }: ApiRequest): boolean {
    return this.turns.refusing && (method === 'POST' || method === 'PUT');
  }

  private accept(socket: Socket): void {
    if (this.cancelSweep === null) this.sweep();
    this.connections.add(new HttpConnection(this, socket));
  }

  /** Looks at all connections every now and then, as long as there are any: a timer for each request would cost more. */
  private sweep(): void {
    const { clock } = this.options;
    this.nowMs = clock.now();
    const date = `date: ${new Date(clock.wall()).toUTCString()}\r\n`;
    const { kept, last } = this.fixedHeaders;
    this.commonHeaders = { kept: date + kept, last: date + last };
    // Waits that began since the last sweep count from that sweep, so subtract one period: no client is cut too early.
    for (const connection of this.connections) connection.sweep(this.nowMs - this.sweepMs);
    this.cutUnread();
    this.cancelSweep = clock.at(this.nowMs + this.sweepMs, () => {
      this.cancelSweep = null;
      if (this.connections.size > 0) this.sweep();
    });
  }
}

/** With how long an idle connection stays, so that clients use it as long, and let go of it first. */
function fixedHeaders(secure: boolean, idleTimeoutMs: number): CommonHeaders {
  const always = secure ? asDeclared + strictTransport : asDeclared;
  const idleSeconds = Math.floor(idleTimeoutMs / 1000);
  const hint = idleSeconds === 0 ? '' : `keep-alive: timeout=${idleSeconds}\r\n`;
  return { kept: always + hint, last: `${always}connection: close\r\n` };
}
