/**
 * The same bytes as node:http reads them, with a real server and real requests, over connections that are kept in
 * memory: thousands are read side by side, without a socket for each.
 */
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Duplex } from 'node:stream';

/** A connection whose other side is the test. */
class Memory extends Duplex {
  written = '';

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.written += chunk.toString('latin1');
    done();
  }

  /** Of sockets; there is nothing to wait for. */
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }
}

export interface TheirRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  body: string;
  complete: boolean;
}

export interface TheirRequests {
  readonly requests: TheirRequest[];
  /** Why it reads no further; null: more may come. */
  failed: string | null;
}

/** Lets node:http finish its reading: bodies are handed on one turn of the event loop later. */
export async function turns(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** The server alone, for connections of whichever kind. */
export function recordingServer(seen: (socket: Duplex) => TheirRequests): Server {
  const record = (incoming: IncomingMessage, answer: ServerResponse): void => {
    const { method = '', url = '', rawHeaders } = incoming;
    const one = { method, url, headers: joined(rawHeaders), body: '', complete: false };
    seen(incoming.socket).requests.push(one);
    incoming.on('data', (chunk: Buffer) => {
      one.body += chunk.toString('latin1');
    });
    incoming.on('end', () => {
      one.complete = true;
      answer.end();
    });
    incoming.on('error', () => {});
  };
  const server = createServer(record);
  server.on('checkContinue', record);
  server.on('checkExpectation', record);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    seen(socket).failed ??= error.code ?? error.message;
  });
  return server;
}

export class TheirServer {
  private readonly all = new WeakMap<Duplex, TheirRequests>();
  private readonly server = recordingServer((socket) => this.all.get(socket) as TheirRequests);

  /** The requests read from one connection; to be looked at after `turns`. */
  read(pieces: readonly Buffer[]): { readonly result: TheirRequests; readonly done: () => void } {
    const connection = new Memory();
    const result: TheirRequests = { requests: [], failed: null };
    this.all.set(connection, result);
    this.server.emit('connection', connection);
    for (const piece of pieces) connection.push(piece);
    const done = (): void => {
      // A request without a Host is refused by an answer, not by an error.
      if (connection.written.includes('HTTP/1.1 400')) result.failed ??= 'answered 400';
      if (connection.destroyed) result.failed ??= 'closed';
      connection.destroy();
    };
    return { result, done };
  }
}

export interface TheirAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  complete: boolean;
  keeps: boolean;
  failed: string | null;
}

/** The answer to one request; to be looked at after `turns`. */
export function theirAnswer(
  pieces: readonly Buffer[],
  method: string,
): { readonly result: TheirAnswer; readonly done: () => void } {
  const connection = new Memory();
  const result: TheirAnswer = {
    status: 0,
    headers: {},
    complete: false,
    keeps: false,
    failed: null,
  };
  const headers = { host: 'x', connection: 'keep-alive', 'content-length': '0' };
  const sent = request({ method, headers, createConnection: () => connection });
  const fail = (error: NodeJS.ErrnoException): void => {
    result.failed ??= error.code ?? error.message;
  };
  sent.on('error', fail);
  sent.on('response', (response) => {
    result.status = response.statusCode ?? 0;
    result.headers = joined(response.rawHeaders);
    response.resume();
    response.on('error', fail);
    response.on('end', () => {
      result.complete = response.complete;
      result.keeps = sent.shouldKeepAlive;
    });
  });
  sent.end();
  for (const piece of pieces) connection.push(piece);
  return { result, done: () => void connection.destroy() };
}

function joined(raw: readonly string[]): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    const value = raw[i + 1] as string;
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}
