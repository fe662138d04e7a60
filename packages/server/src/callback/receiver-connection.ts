/**
 * One kept connection to a receiver: writes a request, reads its answer, and can do so again. HTTP/1.1 on a bare
 * socket, because a callback is little more than one write and one read, and a client library costs several times as
 * much as both.
 *
 *  1. One request at a time. It is written as soon as there is a connection, unless it was given up before.
 *  2. Bytes that arrive without having been asked for end the connection. Before a connection is used again everything
 *     that has arrived by then is read (`Turn`): an answer too many of the receiver must not pass for that of the next
 *     request.
 *  3. A connection that was used before may be closed by the receiver at any moment. When it ends before a byte of the
 *     answer came, or before the request was written, that says nothing about the request: it is to be made again.
 */
import type { Socket } from 'node:net';
import type { CallbackRequest } from '@carillon/core';
import { AnswerParser, type HeardAnswer } from './answers/answer-parser.ts';
import type { Connect } from './connect.ts';

/** The sender of a request. One of these is called, once. */
export interface Asking {
  answered(answer: HeardAnswer): void;
  /** null: the connection ended, or brought no HTTP. */
  failed(error: Error | null): void;
  /** The connection, used before, ended without a word: as if the request had not been made. */
  unheard(): void;
}

/** Calls back when everything that has arrived at any connection by now has been read. */
export type Turn = (fn: () => void) => void;

export interface ConnectionEvents {
  /** The connection can take the next request. */
  free(connection: ReceiverConnection): void;
  ended(connection: ReceiverConnection): void;
}

export interface ConnectionParts {
  readonly events: ConnectionEvents;
  readonly turn: Turn;
  readonly bornMs: number;
}

interface Exchange {
  readonly asking: Asking;
  readonly bytes: Buffer;
  readonly parser: AnswerParser;
  written: boolean;
  /** Something of the answer has arrived. */
  heard: boolean;
}

/** Methods whose requests say that they have no body. */
const withBody = new Set(['POST', 'PUT', 'PATCH']);

export class ReceiverConnection {
  readonly bornMs: number;
  /** When the connection last became free, and for how long the receiver says that it keeps it. */
  freeMs = 0;
  keepsMs: number | null = null;
  private readonly events: ConnectionEvents;
  private readonly turn: Turn;
  /** Whether the connection has brought an answer. */
  private used = false;
  private socket: Socket | null = null;
  private exchange: Exchange | null = null;
  private ended = false;

  constructor(connect: Connect, { events, turn, bornMs }: ConnectionParts) {
    this.events = events;
    this.turn = turn;
    this.bornMs = bornMs;
    connect((error, socket) => {
      if (error !== null) this.end(error);
      else if (this.ended) socket.destroy();
      else this.connected(socket);
    });
  }

  ask(host: string, path: string, request: CallbackRequest, asking: Asking): void {
    const parser = new AnswerParser(request.method);
    const bytes = requestBytes(host, path, request);
    const exchange = { asking, bytes, parser, written: false, heard: false };
    this.exchange = exchange;
    if (!this.used) this.write();
    else
      this.turn(() => {
        if (this.exchange === exchange) this.write();
      });
  }

  /** The answer is no longer waited for. A request that was not written yet never is. */
  giveUp(): void {
    const { exchange } = this;
    if (exchange === null) return;
    this.exchange = null;
    if (exchange.written) this.end(null);
    else this.events.free(this);
  }

  /** As far as it has arrived; null: nothing is waited for. */
  get answer(): HeardAnswer | null {
    return this.exchange?.parser.answer ?? null;
  }

  /** Ends the connection: its owner has no use for it any more. */
  end(error: Error | null): void {
    this.over(error, false);
  }

  /** `lost`: ended by the receiver, or by the network. */
  private over(error: Error | null, lost: boolean): void {
    if (this.ended) return;
    this.ended = true;
    this.socket?.destroy();
    const { exchange } = this;
    this.exchange = null;
    this.events.ended(this);
    if (exchange === null) return;
    const { answer } = exchange.parser;
    // A status that has arrived counts, even if the rest of the answer never comes.
    if (answer.status !== 0) exchange.asking.answered(answer);
    else if (lost && this.used && !exchange.heard) exchange.asking.unheard();
    else exchange.asking.failed(error);
  }

  private connected(socket: Socket): void {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => this.took(bytes));
    socket.on('end', () => this.over(null, true));
    socket.on('error', (error) => this.over(error, true));
    socket.on('close', () => this.over(null, true));
    this.write();
  }

  private write(): void {
    if (this.exchange === null || this.socket === null) return;
    this.exchange.written = true;
    this.socket.write(this.exchange.bytes);
  }

  private took(bytes: Buffer): void {
    const { exchange } = this;
    if (exchange === null || !exchange.written) return this.over(null, true);
    exchange.heard = true;
    const progress = exchange.parser.push(bytes);
    if (progress === 'more') return;
    if (progress !== 'whole' || !exchange.parser.keeps) return this.end(null);
    const { answer, keepsMs } = exchange.parser;
    this.exchange = null;
    this.used = true;
    this.keepsMs = keepsMs;
    this.events.free(this);
    exchange.asking.answered(answer);
  }
}

function requestBytes(host: string, path: string, request: CallbackRequest): Buffer {
  const { method, headers, body } = request;
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  if (body.length > 0 || withBody.has(method)) head += `content-length: ${body.length}\r\n`;
  head += '\r\n';
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 'latin1');
  bytes.set(body, head.length);
  return bytes;
}
