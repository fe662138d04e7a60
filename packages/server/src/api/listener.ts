/**
 * The public HTTP listener: sockets ↔ `ApiRequest` and `ApiResponse`. Owns everything that protects the member from
 * clients: sizes, counts and time-outs. Knows nothing about timers.
 *
 * L1  No more than the configured connections, requests in flight and bytes of bodies at once; beyond them 503.
 * L2  A body over its limit is refused as soon as that is known, from its length or while it arrives.
 * L3  A client that is slow in sending or in reading is cut.
 * L4  No bytes whatsoever crash the member; what is not HTTP gets a 400 and a closed connection.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { CarillonError, type Clock, type Random } from '@carillon/core';
import type { Limits } from '../config.ts';
import type { Metrics } from '../metrics.ts';
import type { ApiResponse } from './message.ts';
import { ResponseOutflow } from './outflow.ts';
import { problemResponse } from './problem.ts';
import type { Router } from './router.ts';
import { rawRefusal } from './raw-refusal.ts';
import { splitTarget } from './request-target.ts';
import { WholeRequest } from './whole-request.ts';

export interface ListenerOptions {
  readonly router: Router;
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  /** Called before each request is worked on: due pops take their turn here, so that requests cannot crowd them out. */
  readonly beforeWork?: () => void;
}

type Answer = ServerResponse<WholeRequest>;

/** How long a refused client may go on sending, so that it gets to read the refusal, before it is cut. */
const lingerMs = 1_000;
/** What a piece of a body costs beside its bytes: a client that sends single bytes must not get them cheap. */
const chunkBytes = 256;
const noBody = new Uint8Array(0);
const requestIdForm = /^[\x21-\x7e]{1,128}$/;

export class Listener {
  private readonly options: ListenerOptions;
  private readonly server: Server<typeof WholeRequest>;
  private readonly idPrefix: string;
  private idCounter = 0;
  private readonly sockets = new Set<Socket>();
  private readonly outflows = new Set<ResponseOutflow>();
  private inFlight = 0;
  private bufferedBytes = 0;
  private stopping = false;

  constructor(options: ListenerOptions) {
    this.options = options;
    this.idPrefix = `${options.random.u32().toString(36)}-`;
    this.server = this.makeServer();
    options.metrics.httpInFlight.read(() => this.inFlight);
    options.metrics.httpConnections.read(() => this.sockets.size);
  }

  /** Starts accepting; resolves with the address, its port filled in. Rejects when the address is taken. */
  listen(address: string): Promise<string> {
    const split = address.lastIndexOf(':');
    const host = address.slice(0, split).replace(/^\[(.*)\]$/, '$1');
    const port = Number(address.slice(split + 1));
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host, port, backlog: 1024 }, () => {
        this.server.off('error', reject);
        const bound = this.server.address() as AddressInfo;
        resolve(`${address.slice(0, split)}:${bound.port}`);
      });
    });
  }

  /** Stops accepting, lets requests under way finish for at most `limitMs`, then cuts what is left. */
  async close(limitMs: number): Promise<void> {
    this.stopping = true;
    const { clock } = this.options;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    // An answer that goes on would not end by itself.
    for (const outflow of this.outflows) outflow.finish();
    // The server itself only closes connections that had a request before.
    for (const socket of this.sockets) if (!awaitsAnswer(socket)) socket.destroy();
    const cancel = clock.at(clock.now() + limitMs, () => this.server.closeAllConnections());
    await closed;
    cancel();
  }

  private makeServer(): Server<typeof WholeRequest> {
    const { limits, metrics } = this.options;
    const shortest = Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs);
    const server = createServer(
      {
        IncomingMessage: WholeRequest,
        maxHeaderSize: limits.requestHeaderBytesMax,
        headersTimeout: limits.headersTimeoutMs,
        requestTimeout: limits.requestTimeoutMs,
        keepAliveTimeout: limits.idleTimeoutMs,
        // How often the two time-outs above are looked at; the default is too seldom to mean them.
        connectionsCheckingInterval: Math.max(20, Math.min(1_000, shortest / 4)),
        noDelay: true,
        requireHostHeader: false,
      },
      (req, res) => this.onRequest(req, res),
    );
    server.maxConnections = limits.connectionCountMax;
    server.maxHeadersCount = limits.requestHeaderCountMax;
    // Without any traffic for this long, a client that does not read its answer is cut too.
    server.timeout = limits.idleTimeoutMs;
    server.on('checkContinue', (req, res) => this.onRequest(req, res, true));
    server.on('clientError', (error, socket) => this.onClientError(error, socket as Socket));
    server.on('connect', (_, socket) => rawRefusal(socket as Socket, connectRefused));
    server.on('drop', () => metrics.httpRefused.add('connections'));
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    return server;
  }

  private onRequest(req: WholeRequest, res: Answer, expectsContinue = false): void {
    const { headers } = req;
    const lengthText = headers['content-length'];
    if (lengthText === undefined && headers['transfer-encoding'] === undefined) {
      this.work(req, res, noBody);
      return;
    }
    const target = splitTarget(req.url ?? '');
    const bytesMax = this.options.router.bodyBytesMax(req.method ?? '', target.path);
    const length = lengthText === undefined ? 0 : Number(lengthText);
    const refusal = this.refuseBody(length, bytesMax);
    if (refusal !== null) {
      this.refuse(req, res, refusal);
      return;
    }
    if (expectsContinue) res.writeContinue();
    this.collect(req, res, bytesMax);
  }

  /** Reads the body, then works on the request; gives up as soon as the body is over its limit. */
  private collect(req: WholeRequest, res: Answer, bytesMax: number): void {
    const length = Number(req.headers['content-length']);
    let chunks: Buffer[] = [];
    let bytes = 0;
    const release = (): void => {
      this.bufferedBytes -= bytes + chunks.length * chunkBytes;
      chunks = [];
      bytes = 0;
    };
    req.readInto({
      chunk: (chunk) => {
        const refusal = this.refuseBody(chunk.length, bytesMax - bytes);
        if (refusal !== null) {
          release();
          this.refuse(req, res, refusal);
          return;
        }
        // A body that comes in one piece cannot break off; most do, so they are spared the listener.
        if (chunks.push(chunk) === 1 && chunk.length !== length) req.once('close', release);
        bytes += chunk.length;
        this.bufferedBytes += chunk.length + chunkBytes;
      },
      end: () => {
        const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
        release();
        this.work(req, res, body);
      },
    });
  }

  /** Why `bytes` more of a body are too many; null when they are not. */
  private refuseBody(bytes: number, bytesMax: number): CarillonError | null {
    const { limits, metrics } = this.options;
    if (bytes > bytesMax) {
      metrics.httpRefused.add('too_large');
      return new CarillonError('too_large', 'The body is larger than is allowed here.');
    }
    if (this.bufferedBytes + bytes + chunkBytes <= limits.bufferedBytesMax) return null;
    metrics.httpRefused.add('in_flight');
    return new CarillonError('overloaded', 'The member is reading too many large bodies.');
  }

  private work(req: WholeRequest, res: Answer, body: Uint8Array): void {
    const { limits, metrics, router, beforeWork } = this.options;
    if (this.stopping || this.inFlight >= limits.requestsInFlightMax) {
      metrics.httpRefused.add(this.stopping ? 'stopping' : 'in_flight');
      const error = this.stopping
        ? new CarillonError('stopping', 'The member is stopping; ask another one.')
        : new CarillonError('overloaded', 'The member is working on as many requests as it can.');
      this.send(req, res, problemResponse(error));
      return;
    }
    beforeWork?.();
    const { path, query } = splitTarget(req.url ?? '');
    this.inFlight++;
    const answer = router.handle({
      method: req.method ?? '',
      path,
      query,
      headers: req.headers,
      body,
    });
    if (answer instanceof Promise) void answer.then((response) => this.finish(req, res, response));
    else this.finish(req, res, answer);
  }

  private finish(req: WholeRequest, res: Answer, response: ApiResponse): void {
    this.inFlight--;
    this.send(req, res, response);
  }

  private send(req: WholeRequest, res: Answer, response: ApiResponse): void {
    const { body, stream } = response;
    const headers = response.headers.concat('x-request-id', this.requestId(req));
    if (response.status !== 204 && stream === undefined)
      headers.push('content-length', String(Buffer.byteLength(body)));
    if (this.stopping) headers.push('connection', 'close');
    res.writeHead(response.status, headers);
    if (stream === undefined || req.method === 'HEAD') res.end(body);
    else this.flow(res, stream);
  }

  private flow(res: Answer, stream: NonNullable<ApiResponse['stream']>): void {
    const outflow = new ResponseOutflow(res);
    this.outflows.add(outflow);
    outflow.onClose(() => this.outflows.delete(outflow));
    stream(outflow);
  }

  /** Answers before the request is complete, waits a little for the client to read that, then closes. */
  private refuse(req: WholeRequest, res: Answer, error: CarillonError): void {
    const { clock } = this.options;
    const response = problemResponse(error, ['connection', 'close']);
    const length = String(Buffer.byteLength(response.body));
    const requestId = this.requestId(req);
    const headers = response.headers.concat('x-request-id', requestId, 'content-length', length);
    res.writeHead(response.status, headers);
    res.write(response.body);
    // Ending now would reset the connection under a client that still sends, and it would never see the answer.
    const cancel = clock.at(clock.now() + lingerMs, () => req.socket.destroy());
    req.readInto({ chunk: () => {}, end: () => res.end() });
    req.once('close', () => res.end());
    res.once('close', cancel);
  }

  private requestId(req: WholeRequest): string {
    const given = req.headers['x-request-id'];
    if (typeof given === 'string' && requestIdForm.test(given)) return given;
    return this.idPrefix + (this.idCounter++).toString(36);
  }

  private onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    const { metrics } = this.options;
    const slow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    metrics.httpRefused.add(slow ? 'too_slow' : 'malformed');
    // While another request of this connection waits for its answer, a refusal would be taken for that.
    if (!socket.writable || error.code === 'ECONNRESET' || awaitsAnswer(socket)) socket.destroy();
    else rawRefusal(socket, slow ? tooSlow : refusalOf(error));
  }
}

/** Whether a request of this connection is under way. Node keeps its answer here and looks at it the same way. */
function awaitsAnswer(socket: Socket): boolean {
  const { _httpMessage: answer } = socket as { _httpMessage?: object | null };
  return answer !== null && answer !== undefined;
}

const connectRefused = problemResponse(
  new CarillonError('method_not_allowed', 'This is not a proxy.'),
  ['allow', 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
);
const tooSlow: ApiResponse = { status: 408, headers: [], body: '' };
const malformed = problemResponse(new CarillonError('bad_request', 'The request is not HTTP/1.1.'));
const headersTooLarge = problemResponse(
  new CarillonError('headers_too_large', 'Request line and headers are larger than is allowed.'),
);

function refusalOf(error: NodeJS.ErrnoException): ApiResponse {
  return error.code === 'HPE_HEADER_OVERFLOW' ? headersTooLarge : malformed;
}
