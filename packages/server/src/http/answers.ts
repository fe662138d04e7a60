/**
 * The answers of one connection: written in the order of the requests, whenever each is ready, with one write for all
 * that are.
 *
 * A1  An answer is written when all before it are, complete; nothing is written between the parts of one.
 * A2  Backpressure: while the client does not read, nothing more is written; a long answer is written piece by piece.
 */
import type { Socket } from 'node:net';
import {
  type Asked,
  type CommonHeaders,
  continueText,
  isFit,
  responseText,
  streamHeadText,
} from './response.ts';
import type { ApiResponse } from './message.ts';
import { AnswerOutflow, type Outflow, type Pipe } from './outflow.ts';
import { bugResponse } from './problem.ts';

/** A request that is complete, or will never be, and its place among the requests of its connection. */
export interface Exchange extends Asked {
  last: boolean;
  /** A long answer: it has room of its own while it waits (`room/answer-room.ts`). */
  readonly long: boolean;
  response: ApiResponse | null;
}

export interface AnswersOptions {
  readonly socket: Socket;
  readonly commonHeaders: () => CommonHeaders;
  /** Something was written, so there may be room for more requests. */
  readonly onWritten: () => void;
  /** A long answer was written, to its last byte. */
  readonly onLong: () => void;
  /** The last answer was written. */
  readonly onLast: () => void;
}

type Encoding = 'latin1' | 'utf8';

/** Longer answers are written piece by piece. */
const textLengthMax = 64 * 1024;

export class Answers {
  private readonly options: AnswersOptions;
  /** Oldest first. */
  private readonly exchanges: Exchange[] = [];
  /** Bytes of short answers that are ready and wait for an earlier answer, or for the client to read. */
  private readyBytes = 0;
  private outflow: AnswerOutflow | null = null;
  /** Answers are only gathered. */
  private held = false;
  private owesContinue = false;
  private gone = false;

  constructor(options: AnswersOptions) {
    this.options = options;
  }

  /** Requests that wait for their answer, or for it to be written. */
  get count(): number {
    return this.exchanges.length;
  }

  /** Backpressure: the client does not read the written answers. */
  get stalled(): boolean {
    return this.options.socket.writableNeedDrain;
  }

  /** In this process: ready, or written and not taken. */
  get unreadBytes(): number {
    return this.readyBytes + (this.outflow?.waitingBytes ?? this.options.socket.writableLength);
  }

  add(exchange: Exchange): void {
    this.exchanges.push(exchange);
  }

  /** The newest request is the last one of this connection. False: there is none. */
  endWithNewest(): boolean {
    const newest = this.exchanges.at(-1);
    if (newest === undefined) return false;
    newest.last = true;
    return true;
  }

  /** Ends an answer that goes on: by itself it would not. */
  endStream(): void {
    this.outflow?.end();
  }

  /** Writes nothing until `flush` is called. */
  hold(): void {
    this.held = true;
  }

  /** The client waits for a word before it sends the body of the request that comes next. */
  oweContinue(owed: boolean): void {
    this.owesContinue = owed;
  }

  answer(exchange: Exchange, response: ApiResponse): void {
    exchange.response = isFit(response) ? response : bugResponse;
    this.readyBytes += bytesOf(exchange);
    if (this.gone || this.held || this.exchanges[0] !== exchange) return;
    if (this.exchanges.length === 1) {
      this.flush();
      return;
    }
    // More of this connection may be answered in the same turn.
    this.held = true;
    queueMicrotask(() => this.flush());
  }

  flush(): void {
    this.held = false;
    if (this.gone || this.outflow !== null) return;
    const { exchanges } = this;
    let text = '';
    // Heads are ASCII (`isFit`): without a body beside them they need no look at each character.
    let encoding: Encoding = 'latin1';
    for (let first = exchanges[0]; first !== undefined && !this.stalled; first = exchanges[0]) {
      const { response } = first;
      if (response === null) break;
      if (isLong(response, first)) {
        this.write(text, encoding);
        this.stream(first, response);
        return;
      }
      this.drop();
      if (bytesOf(first) > 0) encoding = 'utf8';
      text += this.textOf(first, response);
      if (first.last) {
        this.write(text, encoding);
        this.options.onLast();
        return;
      }
      if (text.length > textLengthMax) {
        this.write(text, encoding);
        text = '';
      }
    }
    if (this.owesContinue && exchanges.length === 0) {
      this.owesContinue = false;
      text += continueText;
    }
    this.write(text, encoding);
    this.options.onWritten();
  }

  /** The client has taken enough to go on. */
  drained(): void {
    if (this.outflow === null) this.flush();
    else this.outflow.drained();
  }

  /** The connection is gone. */
  closed(): void {
    this.gone = true;
    this.outflow?.closed();
    this.outflow = null;
  }

  /** The oldest; mostly it is the only one, and `pop` is quicker then. */
  private drop(): void {
    const first = this.exchanges.length === 1 ? this.exchanges.pop() : this.exchanges.shift();
    if (first === undefined) return;
    this.readyBytes -= bytesOf(first);
    if (first.long) this.options.onLong();
  }

  private textOf(exchange: Exchange, response: ApiResponse): string {
    const common = this.options.commonHeaders();
    return response.stream === undefined
      ? responseText(response, exchange, common)
      : streamHeadText(response, exchange, common).text;
  }

  private write(text: string, encoding: Encoding): void {
    if (text !== '') this.options.socket.write(text, encoding);
  }

  private stream(exchange: Exchange, response: ApiResponse): void {
    const { stream = wholeBody(response) } = response;
    const common = this.options.commonHeaders();
    const { text, framing } = streamHeadText(withLength(response), exchange, common);
    if (framing === 'close') exchange.last = true;
    this.write(text, 'latin1');
    this.outflow = new AnswerOutflow(this.pipeOf(exchange), framing);
    stream(this.outflow);
  }

  private pipeOf(exchange: Exchange): Pipe {
    const { socket } = this.options;
    return {
      write: (bytes) => socket.write(bytes),
      waitingBytes: () => socket.writableLength,
      cut: () => socket.destroy(),
      done: () => this.streamed(exchange),
    };
  }

  private streamed(exchange: Exchange): void {
    this.outflow = null;
    this.drop();
    if (exchange.last) this.options.onLast();
    else this.flush();
  }
}

/** About as many as the body has; of a long answer, and of one that goes on, nothing: they are counted elsewhere. */
function bytesOf({ response }: Exchange): number {
  return response === null || response.stream !== undefined ? 0 : response.body.length;
}

function isLong(response: ApiResponse, { method }: Exchange): boolean {
  // A body beside a stream would be put together for being asked.
  const long = response.stream !== undefined || response.body.length > textLengthMax;
  return long && method !== 'HEAD';
}

function wholeBody({ body }: ApiResponse): (out: Outflow) => void {
  return (out) => {
    out.write(body);
    out.end();
  };
}

function withLength(response: ApiResponse): ApiResponse {
  if (response.stream !== undefined) return response;
  const length = String(Buffer.byteLength(response.body));
  return { ...response, headers: [...response.headers, 'content-length', length] };
}
