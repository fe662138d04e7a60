/**
 * One connection of a client: bytes in, requests to the listener, answers out (`answers.ts`).
 *
 * C1  No more than `pipelinedCountMax` requests of one connection are under way, and none is taken on while its
 *     client does not read its answers, while many bytes of them wait, or one that is long, or while others have
 *     their turn (`turns.ts`): then the socket is not read either.
 * C2  A request that is refused before it is complete is the last one: its answer waits for the answers before it,
 *     then the connection closes. Bytes that the client still sends are dropped for a while, so that it gets to read
 *     the refusal.
 * C3  Every wait for the client ends: a request must arrive, an answer must be read, an idle connection must be used,
 *     in time.
 */
import type { Socket } from 'node:net';
import { Answers, type Exchange } from './answers.ts';
import type { RequestHead } from './head.ts';
import type { ListenerState } from './listener-state.ts';
import { HttpParser } from './parser.ts';
import { bodyTooLarge, HttpRefusal, refusals } from './refusal.ts';
import type { ApiRequest, ApiResponse } from './message.ts';
import type { Sender } from './room/body-room.ts';
import type { WaitingClient } from './turns.ts';

/** The listener, as its connections know it. */
export interface ConnectionOwner {
  /** Whether a request may be worked on now; if not, the connection's `called` is when it may. */
  admits(connection: HttpConnection): boolean;
  /** Calls `done` once, now or later, with the answer; null: there is none, and the connection must end. */
  work(request: ApiRequest, party: string, done: (response: ApiResponse | null) => void): void;
  refused(refusal: HttpRefusal): void;
  closed(connection: HttpConnection): void;
}

const pipelinedCountMax = 32;
/** While so much of the answers waits, nothing more is worked on. */
const unreadBytesMax = 256 * 1024;
/** How long a refused client may go on sending, so that it gets to read the refusal, before it is cut. */
const lingerMs = 1_000;
/** Bytes that each piece of a body counts for beside its own: a body sent byte by byte costs much memory. */
const pieceCostBytes = 256;
const never = Number.POSITIVE_INFINITY;

export class HttpConnection implements WaitingClient {
  private readonly owner: ConnectionOwner;
  private readonly shared: ListenerState;
  private readonly socket: Socket;
  /** The sender of bytes that wait in line: not yet authenticated. */
  private readonly stranger: Sender;
  /** The sender of the body that is arriving. */
  private sender: Sender;
  private readonly parser: HttpParser;
  private readonly answers: Answers;
  /** Head of the request whose body is arriving. */
  private head: RequestHead | null = null;
  private pieces: Buffer[] = [];
  private keptBytes = 0;
  /** False: all further bytes from the client are dropped. */
  private reading = true;
  private advancing = false;
  private paused = false;
  private clientEnded = false;
  lineMs = 0;
  /** Of the newest request: a connection mostly belongs to one client. */
  party = '';
  /** Headers that `party` follows from. */
  private partyHeaders: readonly (string | undefined)[] | null = null;
  private inLine = false;
  /** Bytes that have arrived and wait in line with the connection. */
  private lineBytes = 0;
  /** When the request began that is arriving. */
  private begunMs: number;
  private readUntilMs: number;
  /** Bytes of the answers the client had read, and when that number last grew. */
  private takenBytes = 0;
  takenMs: number;
  /** A long answer is under way. */
  private long = false;

  constructor(owner: ConnectionOwner, shared: ListenerState, socket: Socket) {
    this.owner = owner;
    this.shared = shared;
    this.socket = socket;
    this.stranger = { remote: socket.remoteAddress ?? '', admitted: false };
    this.sender = this.stranger;
    this.parser = new HttpParser(shared.limits);
    this.answers = new Answers({
      socket,
      commonHeaders: () => shared.commonHeaders,
      onWritten: () => this.written(),
      onLong: () => this.longWritten(),
      onLast: () => this.end(),
    });
    this.begunMs = shared.nowMs;
    this.takenMs = shared.nowMs;
    this.readUntilMs = shared.nowMs + shared.limits.headersTimeoutMs;
    socket.on('data', (chunk: Buffer) => this.received(chunk));
    socket.on('drain', () => this.answers.drained());
    socket.on('end', () => this.ended());
    socket.on('error', () => this.destroy());
    socket.on('close', () => this.closed());
  }

  /** Cuts a client that was waited for long enough. */
  sweep(nowMs: number): void {
    if (this.leavesUnread(nowMs)) this.destroy();
    else if (nowMs >= this.readUntilMs) this.waitedEnough();
  }

  /** Whether there was something to read all along, and the client took none of it. */
  private leavesUnread(nowMs: number): boolean {
    const { writableLength, bytesWritten } = this.socket;
    const takenBytes = bytesWritten - writableLength;
    if (writableLength === 0 || takenBytes !== this.takenBytes) {
      this.takenBytes = takenBytes;
      this.takenMs = nowMs;
      return false;
    }
    return nowMs - this.takenMs >= this.shared.limits.idleTimeoutMs;
  }

  /** Finishes the requests under way, then closes; an idle connection closes at once. */
  stop(): void {
    if (!this.reading || this.head !== null) this.answers.endStream();
    else if (this.answers.endWithNewest()) {
      this.reading = false;
      this.answers.endStream();
      this.settle();
    } else this.destroy();
  }

  destroy(): void {
    this.socket.destroy();
  }

  get unreadBytes(): number {
    return this.answers.unreadBytes;
  }

  /** Called when other clients need the room of this client's unread answers, and it does not read. */
  cut(): void {
    this.owner.refused(refusals.unread);
    this.destroy();
  }

  called(): void {
    this.leaveLine();
    // The time in line is not the client's delay, so the time limit of its request begins now.
    this.begunMs = this.shared.nowMs;
    this.advance();
  }

  private received(chunk: Buffer): void {
    if (!this.reading) return;
    if (!this.parser.begun) this.begunMs = this.shared.nowMs;
    this.parser.push(chunk);
    this.advance();
  }

  /** Works on the requests that have arrived, as far as limits allow; writing answers may allow more. */
  private advance(): void {
    this.advancing = true;
    let all = false;
    while (!all && !this.full()) {
      this.answers.hold();
      all = this.takeSteps();
      this.answers.flush();
    }
    this.advancing = false;
    this.settle();
  }

  /** Whether there is nothing left to take. False: it is too much for now. */
  private takeSteps(): boolean {
    while (this.reading) {
      if (this.full() || this.mustWait()) return false;
      const step = this.parser.next();
      if (step === 'more') {
        if (this.clientEnded) this.nothingMore();
        return true;
      }
      if (step === 'head') this.tookHead(this.parser.head);
      else if (step === 'piece') this.tookPiece(this.parser.piece);
      else if (step === 'end') this.tookEnd();
      else this.refuse(this.parser.refused);
    }
    return true;
  }

  private full(): boolean {
    const { answers } = this;
    if (this.inLine || this.long || answers.stalled) return true;
    return answers.count >= pipelinedCountMax || answers.unreadBytes > unreadBytesMax;
  }

  /** Stands in line where this turn has no time for another request. */
  private mustWait(): boolean {
    const { parser, owner, shared } = this;
    if (this.head !== null || parser.waitingBytes === 0 || owner.admits(this)) return false;
    const bytes = parser.waitingBytes + pieceCostBytes;
    if (!shared.bodyRoom.fits(bytes, this.stranger)) {
      this.refuse(refusals.bodies);
      return true;
    }
    this.inLine = true;
    this.lineBytes = bytes;
    shared.bodyRoom.keep(bytes, this.stranger);
    return true;
  }

  private leaveLine(): void {
    this.inLine = false;
    this.shared.bodyRoom.keep(-this.lineBytes, this.stranger);
    this.lineBytes = 0;
  }

  /** Reads on or pauses, and decides until when the client is waited for. */
  private settle(): void {
    const full = this.reading && this.full();
    if (full !== this.paused) {
      this.paused = full;
      if (full) this.socket.pause();
      else this.socket.resume();
    }
    if (this.reading) this.readUntilMs = this.paused ? never : this.awaited();
  }

  private awaited(): number {
    const { nowMs, limits } = this.shared;
    if (this.head !== null) return this.begunMs + limits.requestTimeoutMs;
    if (this.parser.begun) return this.begunMs + limits.headersTimeoutMs;
    return this.answers.count > 0 ? never : nowMs + limits.idleTimeoutMs;
  }

  private tookHead(head: RequestHead): void {
    this.head = head;
    head.remote = this.stranger.remote;
    this.learnParty(head);
    const expected = head.minor === 1 ? head.headers['expect'] : undefined;
    const { rules } = this.shared;
    const bodyBytesMax = head.bodyBytes === 0 ? 0 : rules.bodyBytesMax(head.method, head.path);
    const refusal = this.refusalOf(head, expected, bodyBytesMax);
    if (refusal !== null) {
      this.refuse(refusal);
      return;
    }
    this.parser.bodyBytesMax = bodyBytesMax;
    this.answers.oweContinue(
      expected !== undefined && head.bodyBytes !== 0 && this.parser.waitingBytes === 0,
    );
  }

  private learnParty(head: RequestHead): void {
    const { authorization, 'carillon-namespace': namespace } = head.headers;
    const before = this.partyHeaders;
    if (before !== null && before[0] === authorization && before[1] === namespace) return;
    this.partyHeaders = [authorization, namespace];
    this.party = this.shared.rules.partyOf(head);
  }

  private refusalOf(
    head: RequestHead,
    expected: string | undefined,
    bodyBytesMax: number,
  ): HttpRefusal | null {
    if (head.method === 'CONNECT') return refusals.proxy;
    if (expected !== undefined && expected.toLowerCase() !== '100-continue')
      return refusals.expectation;
    if (head.bodyBytes === 0) return null;
    const encoding = head.headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return refusals.encoded;
    // A body that has arrived already costs nothing more, so the route sees it and refuses in its own words.
    const tooLarge = head.bodyBytes > bodyBytesMax;
    const here = !tooLarge && this.parser.holds(head.bodyBytes);
    const answer = here ? null : this.shared.rules.refuseEarly(head);
    if (answer !== null) return new HttpRefusal('not_allowed', answer);
    if (tooLarge) return bodyTooLarge(bodyBytesMax);
    this.sender = here ? this.stranger : { ...this.stranger, admitted: true };
    const bytes = head.bodyBytes + pieceCostBytes;
    return here || this.shared.bodyRoom.fits(bytes, this.sender) ? null : refusals.bodies;
  }

  private tookPiece(piece: Buffer): void {
    this.answers.oweContinue(false);
    // A body that comes in one piece is not kept: it goes on at once.
    if (piece.length === this.head?.bodyBytes) {
      this.head.body = piece;
      return;
    }
    this.pieces.push(piece);
    const bytes = piece.length + pieceCostBytes;
    if (this.shared.bodyRoom.fits(bytes, this.sender)) this.keep(bytes);
    else this.refuse(refusals.bodies);
  }

  private tookEnd(): void {
    const { head, owner, shared } = this;
    if (head === null) return;
    if (this.pieces.length > 0) head.body = this.takeBody();
    const roomless = shared.rules.isLong(head.method, head.path) && !this.takeAnswerRoom();
    const exchange = this.enqueue(head, head.last || shared.stopping);
    this.begunMs = shared.nowMs;
    if (roomless) {
      owner.refused(refusals.unread);
      this.answers.answer(exchange, refusals.unread.response);
      return;
    }
    owner.work(head, this.party, (response) => {
      if (response === null) this.destroy();
      else this.answers.answer(exchange, response);
    });
  }

  private takeAnswerRoom(): boolean {
    const { answerRoom, clock, nowMs } = this.shared;
    // Bytes left unread of earlier answers are no reason to cut the client during this one.
    this.takenMs = nowMs;
    this.long = answerRoom.take(this, clock.now());
    return this.long;
  }

  private longWritten(): void {
    this.long = false;
    this.shared.answerRoom.give(this);
  }

  private takeBody(): Uint8Array {
    const { pieces } = this;
    this.dropBody();
    return Buffer.concat(pieces);
  }

  private dropBody(): void {
    this.pieces = [];
    this.keep(-this.keptBytes);
  }

  private keep(bytes: number): void {
    this.keptBytes += bytes;
    this.shared.bodyRoom.keep(bytes, this.sender);
  }

  private enqueue(head: RequestHead | null, last: boolean): Exchange {
    const exchange: Exchange = {
      method: head === null ? this.methodBegun() : head.method,
      minor: head === null ? 1 : head.minor,
      requestId: this.shared.requestId(head),
      last,
      long: this.long,
      response: null,
    };
    this.head = null;
    if (last) this.reading = false;
    this.answers.add(exchange);
    return exchange;
  }

  /** The method of a request that is not complete, as far as it decides how the answer is written. */
  private methodBegun(): string {
    return this.parser.asksWithHead ? 'HEAD' : '';
  }

  /** Answers before the request is complete. */
  private refuse(refusal: HttpRefusal): void {
    this.owner.refused(refusal);
    this.dropBody();
    this.answers.oweContinue(false);
    const exchange = this.enqueue(this.head, true);
    this.readUntilMs = never;
    this.answers.answer(exchange, refusal.response);
  }

  private waitedEnough(): void {
    if (this.reading && this.parser.begun) {
      this.refuse(refusals.tooSlow);
      this.settle();
    } else this.destroy();
  }

  /** The client will send nothing more, but may still read. */
  private ended(): void {
    this.clientEnded = true;
    if (this.reading) this.advance();
  }

  private nothingMore(): void {
    if (this.parser.begun) {
      this.refuse(refusals.brokenOff);
      return;
    }
    this.reading = false;
    this.readUntilMs = never;
    if (!this.answers.endWithNewest()) this.end();
  }

  private written(): void {
    if (this.advancing) return;
    if (!this.paused || this.full()) {
      this.settle();
      return;
    }
    // Further requests had to wait for this one; their time limit begins now, because the client was not late with
    // them.
    this.begunMs = this.shared.nowMs;
    this.advance();
  }

  /** Everything is answered. The client gets a while to read it. */
  private end(): void {
    this.reading = false;
    this.readUntilMs = never;
    this.socket.end(() => {
      this.readUntilMs = this.shared.nowMs + lingerMs;
    });
    this.settle();
  }

  private closed(): void {
    this.reading = false;
    this.dropBody();
    this.leaveLine();
    this.shared.answerRoom.give(this);
    this.answers.closed();
    this.owner.closed(this);
  }
}
