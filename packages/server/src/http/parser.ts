/**
 * Requests from the bytes of one connection, however they are cut. The connection gives bytes with `push` and takes
 * the parsed steps with `next`, one at a time, so that it can stop between two requests and go on later. Knows no
 * sockets.
 *
 *   head → length ─────────────────────────────┐
 *        → chunk line → chunk → chunk end ┐     ├→ end → head …
 *             ↑                           │     │
 *             └───────────────────────────┘     │
 *        → chunk line (0) → trailers ───────────┘
 *
 * R1  The same bytes give the same steps and the same refusal, wherever they are cut.
 * R2  Bytes that are held back until more arrive are bounded: a head, a line of a chunk, the trailers.
 * R3  After a refusal there is nothing more: where the next request would begin cannot be known.
 */
import { areExtensions } from './chunk-extension.ts';
import { HeadParser, type RequestHead } from './head.ts';
import { headerName } from './names.ts';
import { bodyTooLarge, HttpRefusal, refusals } from './refusal.ts';
import { colon, cr, hexValues, lf, semicolon, tokenBytes, valueBytes } from './syntax.ts';

/** more: nothing until bytes come. head, piece, refused: in the field of that name. end: the request is complete. */
export type Step = 'more' | 'head' | 'piece' | 'end' | 'refused';

export interface ParserLimits {
  readonly requestHeaderBytesMax: number;
  readonly requestHeaderCountMax: number;
}

type Place = 'head' | 'length' | 'chunk line' | 'chunk' | 'chunk end' | 'trailers' | 'nowhere';

/** A chunk's size in hexadecimal digits: enough for any body that is allowed, and safe to compute with. */
const sizeDigitCountMax = 8;
/** Extensions of chunks mean nothing here; all of one body together. */
const extensionBytesMax = 1024;
const trailerBytesMax = 4096;
const noBytes = Buffer.alloc(0);
const noHead: RequestHead = {
  method: '',
  path: '',
  query: '',
  headers: {},
  body: noBytes,
  remote: '',
  bodyBytes: 0,
  minor: 1,
  last: true,
};
const headBytes = Buffer.from('HEAD ');
const incomplete = -1;
const malformed = -2;

export class HttpParser {
  /** Valid after the step `head`. */
  head: RequestHead = noHead;
  /** Some bytes of the body; valid after the step `piece`. Not written to later. */
  piece: Buffer = noBytes;
  /** Valid after the step `refused`. */
  refused: HttpRefusal = refusals.notHttp;
  /** Limit of the body that is being read in chunks: the connection sets it after the step `head`. */
  bodyBytesMax = 0;
  private readonly headBytesMax: number;
  private readonly heads: HeadParser;
  private bytes: Buffer = noBytes;
  private at = 0;
  private end = 0;
  /** Whether `bytes` was made here, with room behind `end`. */
  private own = false;
  private place: Place = 'head';
  private leftBytes = 0;
  private bodyBytes = 0;
  private extensionBytes = 0;
  private trailerBytes = 0;
  /**
   * Bytes from `at` on, of an incomplete head or line, that were searched already. The search goes on behind them, so
   * that a request which arrives byte by byte is searched once.
   */
  private lookedBytes = 0;
  /** In a line of the trailers: its name and colon were passed. */
  private named = false;
  private blankLine = false;
  private refusedHead = false;

  constructor(limits: ParserLimits) {
    this.headBytesMax = limits.requestHeaderBytesMax;
    this.heads = new HeadParser(limits.requestHeaderCountMax);
  }

  /** Whether part of a request is here. */
  get begun(): boolean {
    return this.place !== 'head' || this.waitingBytes > 0;
  }

  /**
   * Of a request whose head is not complete, or was refused: whether its method is HEAD. A client that asked with HEAD
   * reads no body behind any answer, so that of a refusal would pass for another answer.
   */
  get asksWithHead(): boolean {
    return this.place === 'nowhere' ? this.refusedHead : this.beginsWithHead();
  }

  /** Bytes that wait to be looked at. */
  get waitingBytes(): number {
    return this.end - this.at;
  }

  /** Whether so many bytes of a body are here; -1, a body in chunks, never is. */
  holds(bodyBytes: number): boolean {
    return bodyBytes >= 0 && this.end - this.at >= bodyBytes;
  }

  push(chunk: Buffer): void {
    if (this.end > this.at) {
      this.append(chunk);
      return;
    }
    this.bytes = chunk;
    this.own = false;
    this.at = 0;
    this.end = chunk.length;
  }

  next(): Step {
    const step = this.step();
    if (this.at === this.end) this.bytes = noBytes;
    return step;
  }

  /**
   * Puts the chunk behind the unread bytes, in a buffer with room for more: bytes that drip in are not copied again for
   * each.
   */
  private append(chunk: Buffer): void {
    const leftBytes = this.end - this.at;
    if (!this.own || this.bytes.length - this.end < chunk.length) {
      const roomy = Buffer.allocUnsafeSlow(Math.max(256, 2 * (leftBytes + chunk.length)));
      this.bytes.copy(roomy, 0, this.at, this.end);
      this.bytes = roomy;
      this.own = true;
      this.at = 0;
      this.end = leftBytes;
    }
    chunk.copy(this.bytes, this.end);
    this.end += chunk.length;
  }

  private step(): Step {
    switch (this.place) {
      case 'head':
        return this.readHead();
      case 'length':
      case 'chunk':
        return this.readPiece();
      case 'chunk line':
        return this.readChunkLine();
      case 'chunk end':
        return this.readChunkEnd();
      case 'trailers':
        return this.readTrailers();
      case 'nowhere':
        return 'refused';
    }
  }

  private readHead(): Step {
    if (!this.skipBlankLine()) return 'more';
    const { bytes, at } = this;
    if (at === this.end) return 'more';
    if (tokenBytes[bytes[at] as number] === 0) return this.refuse(refusals.notHttp);
    const lookTo = Math.min(this.end, at + this.headBytesMax);
    const headEnd = endOfHead(bytes, at + Math.max(0, this.lookedBytes - 3), lookTo);
    if (headEnd === -1) return this.awaitHead(lookTo);
    const head = this.heads.parse(bytes, at, headEnd);
    if (head instanceof HttpRefusal) return this.refuse(head);
    this.at = headEnd + 4;
    this.lookedBytes = 0;
    this.blankLine = false;
    this.head = head;
    this.leftBytes = head.bodyBytes;
    this.bodyBytes = 0;
    this.extensionBytes = 0;
    this.trailerBytes = 0;
    this.place = head.bodyBytes === -1 ? 'chunk line' : 'length';
    return 'head';
  }

  /** One empty line before a request is forgiven (RFC 9112 §2.2). False: its second byte is still to come. */
  private skipBlankLine(): boolean {
    const { bytes, at, end } = this;
    if (this.blankLine || at === end || bytes[at] !== cr) return true;
    if (at + 1 === end) return false;
    if (bytes[at + 1] !== lf) return true;
    this.at += 2;
    this.blankLine = true;
    return true;
  }

  private beginsWithHead(): boolean {
    const { bytes, end } = this;
    const skipped = !this.blankLine && bytes[this.at] === cr && bytes[this.at + 1] === lf;
    const from = skipped ? this.at + 2 : this.at;
    return (
      from + headBytes.length <= end &&
      headBytes.equals(bytes.subarray(from, from + headBytes.length))
    );
  }

  /** Refuses bytes that cannot begin a head, and heads over the limit; otherwise waits for more. */
  private awaitHead(lookTo: number): Step {
    const { bytes, at } = this;
    for (let i = at + this.lookedBytes; i < lookTo; i++) {
      const byte = bytes[i] as number;
      const afterCr = i > at && bytes[i - 1] === cr;
      if (afterCr ? byte !== lf : valueBytes[byte] === 0 && byte !== cr)
        return this.refuse(this.heads.refusalOf(bytes, at, i + 1));
    }
    this.lookedBytes = lookTo - at;
    if (this.lookedBytes < this.headBytesMax) return 'more';
    const lineEnd = bytes.indexOf(lf, at);
    const firstLine = lineEnd === -1 || lineEnd >= lookTo;
    return this.refuse(firstLine ? refusals.targetTooLong : refusals.headersTooLarge);
  }

  private readPiece(): Step {
    if (this.leftBytes === 0) {
      if (this.place === 'length') return this.complete();
      this.place = 'chunk end';
      return this.readChunkEnd();
    }
    const pieceEnd = Math.min(this.end, this.at + this.leftBytes);
    if (pieceEnd === this.at) return 'more';
    this.piece = this.bytes.subarray(this.at, pieceEnd);
    this.leftBytes -= pieceEnd - this.at;
    this.at = pieceEnd;
    return 'piece';
  }

  private readChunkLine(): Step {
    const { bytes, at, end } = this;
    let i = at;
    let sizeBytes = 0;
    for (; i < end && hexValues[bytes[i] as number] !== -1; i++) {
      if (i - at === sizeDigitCountMax) return this.refuse(refusals.chunk);
      sizeBytes = sizeBytes * 16 + (hexValues[bytes[i] as number] as number);
    }
    const digitsEnd = i;
    if (i < end && bytes[i] === semicolon) {
      i = Math.max(i, at + this.lookedBytes);
      while (i < end && valueBytes[bytes[i] as number] === 1) i++;
    }
    this.lookedBytes = i - at;
    const extensionBytes = this.extensionBytes + i - digitsEnd;
    if (extensionBytes > extensionBytesMax) return this.refuse(refusals.chunk);
    if (i === end || (digitsEnd > at && bytes[i] === cr && i + 1 === end)) return 'more';
    if (digitsEnd === at || bytes[i] !== cr || bytes[i + 1] !== lf)
      return this.refuse(refusals.chunk);
    if (!areExtensions(bytes, digitsEnd, i)) return this.refuse(refusals.chunk);
    this.extensionBytes = extensionBytes;
    this.lookedBytes = 0;
    this.at = i + 2;
    return this.beginChunk(sizeBytes);
  }

  private beginChunk(sizeBytes: number): Step {
    if (sizeBytes === 0) {
      this.place = 'trailers';
      return this.readTrailers();
    }
    this.bodyBytes += sizeBytes;
    if (this.bodyBytes > this.bodyBytesMax) return this.refuse(bodyTooLarge(this.bodyBytesMax));
    this.leftBytes = sizeBytes;
    this.place = 'chunk';
    return this.readPiece();
  }

  private readChunkEnd(): Step {
    const { bytes, at, end } = this;
    if (at < end && bytes[at] !== cr) return this.refuse(refusals.chunk);
    if (at + 1 < end && bytes[at + 1] !== lf) return this.refuse(refusals.chunk);
    if (at + 2 > end) return 'more';
    this.at += 2;
    this.place = 'chunk line';
    return this.readChunkLine();
  }

  /** Reads header-like lines up to an empty one; their content is ignored. */
  private readTrailers(): Step {
    for (;;) {
      const { bytes, at } = this;
      const lookTo = Math.min(this.end, at + trailerBytesMax - this.trailerBytes);
      const lineEnd = this.trailerEnd(bytes, lookTo);
      if (lineEnd === malformed) return this.refuse(refusals.trailer);
      if (lineEnd === incomplete) {
        const full = this.trailerBytes + lookTo - at === trailerBytesMax;
        return full ? this.refuse(refusals.headersTooLarge) : 'more';
      }
      if (isHeadOnly(bytes, at, lineEnd)) return this.refuse(refusals.trailerName);
      this.trailerBytes += lineEnd - at;
      this.at = lineEnd;
      this.lookedBytes = 0;
      this.named = false;
      if (lineEnd - at === 2) return this.complete();
    }
  }

  /** The index behind a line of trailers, or why there is none. */
  private trailerEnd(bytes: Uint8Array, to: number): number {
    const { at } = this;
    let i = at + this.lookedBytes;
    if (!this.named) {
      while (i < to && tokenBytes[bytes[i] as number] === 1) i++;
      this.named = i > at && i < to;
      if (this.named && bytes[i++] !== colon) return malformed;
    }
    if (this.named) while (i < to && valueBytes[bytes[i] as number] === 1) i++;
    this.lookedBytes = i - at;
    if (i === to) return incomplete;
    if (bytes[i] !== cr) return malformed;
    if (i + 1 === to) return incomplete;
    return bytes[i + 1] === lf ? i + 2 : malformed;
  }

  private complete(): Step {
    this.place = 'head';
    this.head = noHead;
    this.piece = noBytes;
    return 'end';
  }

  private refuse(refusal: HttpRefusal): Step {
    this.refused = refusal;
    this.refusedHead = this.place === 'head' && this.beginsWithHead();
    this.place = 'nowhere';
    this.at = this.end;
    return 'refused';
  }
}

/**
 * Names that mean something before the body alone: where it ends, where the request goes, whether the connection stays
 * open. A reader that adds trailers to the headers, such as node:http, would heed them (RFC 9110 §6.5.1).
 */
const headOnly: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'proxy-connection',
  'keep-alive',
  'upgrade',
  'host',
  'te',
  'trailer',
  'expect',
  'authorization',
]);

/** Whether a line of trailers has a name that belongs before the body. */
function isHeadOnly(bytes: Buffer, from: number, to: number): boolean {
  const nameEnd = bytes.indexOf(colon, from);
  if (nameEnd === -1 || nameEnd >= to) return false;
  return headOnly.has(headerName(bytes, from, nameEnd));
}

/** Where CR LF CR LF begins; -1 when it is not between the two indexes. Looks at every fourth byte while it can. */
function endOfHead(bytes: Uint8Array, from: number, to: number): number {
  for (let i = from + 3; i < to; ) {
    const byte = bytes[i] as number;
    if (byte > cr) i += 4;
    else if (byte === lf) {
      if (bytes[i - 1] === cr && bytes[i - 2] === lf && bytes[i - 3] === cr) return i - 3;
      i += 2;
    } else i += byte === cr ? 1 : 4;
  }
  return -1;
}
