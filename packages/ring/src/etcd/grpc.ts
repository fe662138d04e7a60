/**
 * gRPC over one HTTP/2 connection to one etcd endpoint: calls with a deadline, and streams. Knows
 * frames, trailers and status codes; knows nothing of etcd's messages. Used by `etcd-client.ts` only.
 *
 * A connection is used until the first doubt: once anything on it stays unanswered or breaks, the client
 * destroys it and everything still open on it ends with an error.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2';
import { type Clock, sentenceOf } from '@carillon/core';
import { EtcdError } from './etcd.ts';
import { GrpcFrames } from '../grpc-frames.ts';

export interface TlsOptions {
  /** PEM texts, as `node:tls` takes them. Without `ca` the system's authorities are trusted. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export type Metadata = Readonly<Record<string, string>>;

export interface StreamHandlers {
  onMessage(message: Uint8Array): void;
  onEnd(error: EtcdError): void;
}

/** gRPC status numbers that mean something here; every other one counts as "no answer". */
const status = {
  ok: 0,
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unauthenticated: 16,
} as const;

/** Thrown inside the client only: the token is unknown, so nothing was done and a new one may help. */
export class TokenError extends EtcdError {}

export class GrpcConnection {
  readonly endpoint: string;
  private readonly session: ClientHttp2Session;
  private readonly clock: Clock;
  private readonly open = new Set<(error: EtcdError) => void>();
  private connected = false;
  private failure: EtcdError | null = null;

  constructor(endpoint: string, clock: Clock, tls: TlsOptions | undefined) {
    this.endpoint = endpoint;
    this.clock = clock;
    const options: SecureClientSessionOptions = { ...tls, settings: { enablePush: false } };
    this.session = connect(endpoint, options);
    this.session.on('connect', () => {
      this.connected = true;
    });
    this.session.on('error', (error) => this.fail(reasonOf(error), error));
    this.session.on('goaway', () => this.fail('the server is going away'));
    this.session.on('close', () => this.fail('the connection was closed'));
  }

  /** False once the connection is of no use any more. */
  get alive(): boolean {
    return this.failure === null;
  }

  /** One request, one answer. Rejects with an EtcdError; `no-answer` unless the server said otherwise. */
  call(
    path: string,
    message: Uint8Array,
    limitMs: number,
    metadata: Metadata,
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      let answer: Uint8Array | null = null;
      const done = (error: EtcdError | null): void => {
        cancelDeadline();
        if (error !== null) reject(error);
        else if (answer !== null) resolve(answer);
        else reject(new EtcdError('no-answer', `etcd ${this.endpoint} ${path}: an empty answer.`));
      };
      const stream = this.start(path, metadata, {
        onMessage: (one) => (answer = one),
        onEnd: done,
      });
      const cancelDeadline = this.clock.at(this.clock.now() + limitMs, () => {
        stream?.cancel(this.error('no-answer', path, `no answer within ${Math.round(limitMs)} ms`));
      });
      if (stream === null) done(this.error('not-sent', path, this.failure?.message ?? 'closed'));
      else stream.end(message);
    });
  }

  /** A stream both ways. `null` when the connection is already unusable. */
  stream(path: string, metadata: Metadata, handlers: StreamHandlers): GrpcStream | null {
    return this.start(path, metadata, {
      onMessage: (message) => handlers.onMessage(message),
      onEnd: (error) => handlers.onEnd(error ?? this.error('no-answer', path, 'the stream ended')),
    });
  }

  /** Ends every open call and stream with an error and closes the connection. */
  destroy(reason: string): void {
    this.fail(reason);
  }

  private start(path: string, metadata: Metadata, handlers: GrpcHandlers): GrpcStream | null {
    if (this.failure !== null) return null;
    const headers: OutgoingHttpHeaders = {
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...metadata,
    };
    const end = (error: EtcdError | null): void => {
      if (this.open.delete(cut)) handlers.onEnd(error);
    };
    let request: ClientHttp2Stream;
    try {
      request = this.session.request(headers);
    } catch (error) {
      // The session ended and its event is still on the way.
      this.fail(sentenceOf(error));
      return null;
    }
    const makeError: MakeError = (kind, why, cause) => this.error(kind, path, why, cause);
    const stream = new GrpcStream(request, makeError, {
      onMessage: (message) => handlers.onMessage(message),
      onEnd: end,
    });
    const cut = (error: EtcdError): void => stream.cancel(error);
    this.open.add(cut);
    return stream;
  }

  private error(kind: EtcdError['kind'], path: string, why: string, cause?: unknown): EtcdError {
    // Before the connection stood, nothing can have reached the server.
    const sent = this.connected || kind !== 'no-answer';
    const message = `etcd ${this.endpoint} ${path}: ${why}.`;
    return new EtcdError(sent ? kind : 'not-sent', message, { cause });
  }

  private fail(reason: string, cause?: Error): void {
    if (this.failure !== null) return;
    const kind = this.connected ? 'no-answer' : 'not-sent';
    this.failure = new EtcdError(kind, `etcd ${this.endpoint}: ${reason}.`, { cause });
    for (const cut of this.open) cut(this.failure);
    this.session.destroy();
  }
}

interface GrpcHandlers {
  onMessage(message: Uint8Array): void;
  /** null: the server said OK. */
  onEnd(error: EtcdError | null): void;
}

type MakeError = (kind: EtcdError['kind'], why: string, cause?: unknown) => EtcdError;

/** One HTTP/2 stream carrying gRPC frames: five bytes of head (flag and length), then the message. */
class GrpcStream {
  private readonly stream: ClientHttp2Stream;
  private readonly makeError: MakeError;
  private readonly handlers: GrpcHandlers;
  private readonly frames = new GrpcFrames();
  private ended = false;

  constructor(stream: ClientHttp2Stream, makeError: MakeError, handlers: GrpcHandlers) {
    this.stream = stream;
    this.makeError = makeError;
    this.handlers = handlers;
    // An answer that is only an error carries its status in the headers; otherwise it is in the trailers.
    stream.on('response', (headers) => this.readHead(headers));
    stream.on('trailers', (trailers) => this.readStatus(trailers));
    stream.on('data', (chunk: Uint8Array) => this.take(chunk));
    // The cause of a stream that ends with its connection is the failure of the connection.
    stream.on('error', (error) => this.breakOff(reasonOf(error), error.cause ?? error));
    stream.on('close', () => this.breakOff('the connection was closed before the answer'));
  }

  send(message: Uint8Array): void {
    if (!this.ended) this.stream.write(frame(message));
  }

  /** Sends the last message. */
  end(message: Uint8Array): void {
    if (!this.ended) this.stream.end(frame(message));
  }

  cancel(error: EtcdError): void {
    this.finish(error);
    this.stream.close(constants.NGHTTP2_CANCEL);
  }

  private readHead(headers: IncomingHttpHeaders): void {
    this.readStatus(headers);
    const kind = headers['content-type'] ?? '';
    if (this.ended || kind.startsWith('application/grpc')) return;
    this.cancel(this.makeError('no-answer', 'the server there answers, but not as etcd does'));
  }

  private readStatus(headers: IncomingHttpHeaders): void {
    const code = headers['grpc-status'];
    const http = Number(headers[':status'] ?? 200);
    if (code !== undefined) this.finish(this.statusError(Number(code), headers['grpc-message']));
    else if (http !== 200) {
      this.finish(this.makeError('no-answer', `HTTP status ${http} in the place of etcd's answer`));
    }
  }

  private statusError(code: number, message: string | string[] | undefined): EtcdError | null {
    if (code === status.ok) return null;
    const why = decodeMessage(String(message ?? `gRPC status ${code}`));
    if (code === status.unauthenticated) return new TokenError('refused', `etcd: ${why}.`);
    return this.makeError(kindOf(code, why), why);
  }

  private take(chunk: Uint8Array): void {
    if (this.ended) return;
    this.frames.push(chunk);
    while (!this.ended) {
      const message = this.frames.next();
      if (message === null) return;
      if (message === 'unfit')
        this.cancel(this.makeError('no-answer', 'a frame that is compressed or too long'));
      else this.deliver(message);
    }
  }

  private deliver(message: Uint8Array): void {
    try {
      this.handlers.onMessage(message);
    } catch (error) {
      // A message that cannot be decoded ends this call, not the process.
      this.cancel(this.makeError('no-answer', `an unreadable message (${sentenceOf(error)})`));
    }
  }

  /** Every stream closes in the end: an error is made only for one that has not been answered. */
  private breakOff(why: string, cause?: unknown): void {
    if (!this.ended) this.finish(this.makeError('no-answer', why, cause));
  }

  private finish(error: EtcdError | null): void {
    if (this.ended) return;
    this.ended = true;
    this.handlers.onEnd(error);
  }
}

/** The reason in words; a server that speaks another protocol is told by nghttp2 as "Protocol error" alone. */
function reasonOf(error: Error): string {
  const isOther = (error as NodeJS.ErrnoException).code === 'ERR_HTTP2_ERROR';
  return isOther
    ? `the server there does not speak HTTP/2 as etcd does (${error.message})`
    : error.message;
}

function kindOf(code: number, why: string): EtcdError['kind'] {
  if (code === status.outOfRange && why.includes('compacted')) return 'compacted';
  if (code === status.notFound && why.includes('lease')) return 'lease-gone';
  const said: number[] = [
    status.invalidArgument,
    status.notFound,
    status.permissionDenied,
    status.resourceExhausted,
    status.failedPrecondition,
    status.outOfRange,
  ];
  return said.includes(code) ? 'refused' : 'no-answer';
}

function frame(message: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(5 + message.length);
  new DataView(bytes.buffer).setUint32(1, message.length);
  bytes.set(message, 5);
  return bytes;
}

/** Status messages are percent-encoded; a broken one is shown as it came. */
function decodeMessage(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
