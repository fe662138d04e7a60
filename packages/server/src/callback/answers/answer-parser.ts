/**
 * The answer of a receiver, from its bytes: status, `Retry-After`, its word on pops that come together, and its end.
 * Of the content of an answer that is no success the first bytes are kept, for people to read; nothing else of it is
 * looked at.
 *
 *  1. A status counts as soon as its line has arrived, even if the rest is odd or missing.
 *  2. A connection is only used again after an answer whose end is beyond doubt: bytes that two readers could
 *     understand differently end the reading.
 *  3. Heads of up to 16 KiB and content of up to 16 KiB are read. More is no failure: the status is known.
 *  4. Every byte is looked at once, wherever the bytes are cut.
 */
import { areExtensions } from '../../http/chunk-extension.ts';
import { cr, hexValues, lf } from '../../http/syntax.ts';
import { HeadLines, statusLineOf } from './head-lines.ts';

const headBytesMax = 16 * 1024;
const contentBytesMax = 16 * 1024;
/** Sizes, extensions and trailers of an answer in chunks, with its content. */
const chunkedBytesMax = 2 * contentBytesMax;
const sizeDigitCountMax = 8;
const noBytes = Buffer.alloc(0);
/** Content that is kept of an answer which is no success. */
const saidBytesMax = 256;

/**
 * `more`: it goes on. `whole`: this was the end. `enough`: the status counts, the rest is not read. `malformed`: no
 * status.
 */
export type Progress = 'more' | 'whole' | 'enough' | 'malformed';

type Line = 'status' | 'header' | 'chunk size' | 'trailer';
type Content = 'length' | 'chunk' | 'chunk end' | 'until the end';

/** Status and headers of an answer, as they are. */
export interface HeardAnswer {
  /** 0: none has arrived. */
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** `X-Timer-Batch` and `X-Timer-Failed`. */
  readonly batch: string | undefined;
  readonly failed: string | undefined;
  /** The first bytes of its content; empty: none, or the answer is a success. */
  readonly said: Buffer;
}

export class AnswerParser {
  /** 0 until the line of the final status is here. */
  status = 0;
  /** Whether the connection can be used again once the answer is whole. */
  keeps = false;
  private readonly method: string;
  private place: Line | Content = 'status';
  /** The beginning of a line whose end is still to come, in a buffer with room for more. */
  private held: Buffer = noBytes;
  private heldBytes = 0;
  private headBytes = 0;
  private chunkedBytes = 0;
  /** Bytes still to come of the content, of a chunk, or of the line end behind it. */
  private leftBytes = 0;
  private minor = 1;
  private odd = false;
  private lines = new HeadLines();
  private said: Buffer = noBytes;
  private saidBytes = 0;

  constructor(method: string) {
    this.method = method;
  }

  /** As far as it has arrived. */
  get answer(): HeardAnswer {
    const { retryAfter, batch, failed } = this.lines;
    const said = this.saidBytes === 0 ? noBytes : this.said.subarray(0, this.saidBytes);
    return { status: this.status, retryAfter, batch, failed, said };
  }

  /** For how long the receiver says that it keeps unused connections. */
  get keepsMs(): number | null {
    return this.lines.keepsMs;
  }

  push(bytes: Buffer): Progress {
    let progress: Progress = 'more';
    let at = 0;
    while (at < bytes.length && progress === 'more') {
      const to = this.pieceEnd(bytes, at);
      progress = this.took(bytes.subarray(at, to));
      at = to;
    }
    // Bytes behind an answer were not asked for.
    if (at < bytes.length || progress === 'enough') this.keeps = false;
    return progress;
  }

  private pieceEnd(bytes: Buffer, at: number): number {
    if (isContent(this.place)) return Math.min(bytes.length, at + Math.max(1, this.leftBytes));
    const found = bytes.indexOf(lf, at);
    return found === -1 ? bytes.length : found + 1;
  }

  private took(piece: Buffer): Progress {
    if (!this.hasRoom(piece.length)) return this.status === 0 ? 'malformed' : 'enough';
    const { place } = this;
    if (place === 'chunk end') return this.tookChunkEnd(piece);
    if (isContent(place)) return this.tookContent(place, piece);
    const whole = piece[piece.length - 1] === lf;
    if (!whole || this.heldBytes > 0) this.hold(piece);
    if (!whole) return 'more';
    const line = this.heldBytes === 0 ? piece : this.held.subarray(0, this.heldBytes);
    this.heldBytes = 0;
    const ended = line.length > 1 && line[line.length - 2] === cr;
    return this.tookLine(place, line.subarray(0, ended ? -2 : -1), ended);
  }

  /** Bytes that drip in are not copied again for each. */
  private hold(piece: Buffer): void {
    const bytes = this.heldBytes + piece.length;
    if (bytes > this.held.length) {
      const roomy = Buffer.allocUnsafeSlow(Math.max(128, 2 * bytes));
      this.held.copy(roomy, 0, 0, this.heldBytes);
      this.held = roomy;
    }
    piece.copy(this.held, this.heldBytes);
    this.heldBytes = bytes;
  }

  private hasRoom(pieceBytes: number): boolean {
    const { place } = this;
    if (place === 'status' || place === 'header')
      return (this.headBytes += pieceBytes) <= headBytesMax;
    if (place === 'length' || place === 'until the end') return true;
    return (this.chunkedBytes += pieceBytes) <= chunkedBytesMax;
  }

  private tookContent(place: Content, piece: Buffer): Progress {
    this.leftBytes -= piece.length;
    if (this.status >= 300) this.keep(piece);
    if (place === 'until the end') return this.leftBytes < 0 ? 'enough' : 'more';
    if (this.leftBytes > 0) return 'more';
    if (place === 'length') return 'whole';
    this.place = 'chunk end';
    this.leftBytes = 2;
    return 'more';
  }

  private keep(piece: Buffer): void {
    if (this.said === noBytes) this.said = Buffer.allocUnsafeSlow(saidBytesMax);
    this.saidBytes += piece.copy(this.said, this.saidBytes);
  }

  /** Of content that is too long to be read, its beginning is read where the answer is no success. */
  private tooLong(): Progress {
    const wantedBytes = saidBytesMax - this.saidBytes;
    if (this.status < 300 || wantedBytes === 0) return 'enough';
    this.place = 'until the end';
    this.leftBytes = wantedBytes - 1;
    this.keeps = false;
    return 'more';
  }

  private tookChunkEnd(piece: Buffer): Progress {
    for (const byte of piece) if (byte !== (this.leftBytes-- === 2 ? cr : lf)) return 'enough';
    if (this.leftBytes === 0) this.place = 'chunk size';
    return 'more';
  }

  /** `ended`: by CR LF, as it has to be. */
  private tookLine(place: Line, line: Buffer, ended: boolean): Progress {
    if (place === 'status') return this.tookStatus(line, ended);
    if (place === 'header') return this.tookHeader(line, ended);
    if (!ended) return 'enough';
    if (place === 'chunk size') return this.tookChunkSize(line);
    return this.tookTrailer(line);
  }

  private tookStatus(line: Buffer, ended: boolean): Progress {
    const read = statusLineOf(line);
    if (read === null || read.status === 101) return 'malformed';
    this.odd ||= read.odd || !ended;
    this.minor = read.minor;
    this.lines = new HeadLines();
    if (read.status >= 200) this.status = read.status;
    this.place = 'header';
    return 'more';
  }

  private tookHeader(line: Buffer, ended: boolean): Progress {
    this.odd ||= !ended;
    if (line.length === 0) return this.headEnded();
    this.lines.add(line);
    return 'more';
  }

  /** Where the answer ends (RFC 9112, 6.3). */
  private headEnded(): Progress {
    const { status, method, lines } = this;
    const { lengthBytes, coding } = lines;
    this.odd ||=
      lines.odd || (coding !== undefined && (coding !== 'chunked' || lengthBytes !== -1));
    if (status === 0) {
      // An interim answer that says it is the last on its connection, although the final one has to follow.
      this.odd ||= this.minor === 0 || lines.closes;
      this.place = 'status';
      return 'more';
    }
    if (this.odd) return 'enough';
    this.keeps = this.minor === 1 && !lines.closes;
    if (method === 'HEAD' || status === 204 || status === 304 || lengthBytes === 0) return 'whole';
    if (lengthBytes > contentBytesMax) return this.tooLong();
    this.leftBytes = lengthBytes;
    this.place = coding === 'chunked' ? 'chunk size' : 'length';
    if (coding === 'chunked' || lengthBytes !== -1) return 'more';
    this.place = 'until the end';
    this.leftBytes = contentBytesMax;
    this.keeps = false;
    return 'more';
  }

  private tookChunkSize(line: Buffer): Progress {
    let at = 0;
    let sizeBytes = 0;
    for (; at < line.length && hexValues[line[at] as number] !== -1; at++) {
      if (at === sizeDigitCountMax) return 'enough';
      sizeBytes = sizeBytes * 16 + (hexValues[line[at] as number] as number);
    }
    const isFit = at > 0 && areExtensions(line, at, line.length);
    if (!isFit) return 'enough';
    if (sizeBytes > contentBytesMax) return this.tooLong();
    this.leftBytes = sizeBytes;
    this.place = sizeBytes === 0 ? 'trailer' : 'chunk';
    return 'more';
  }

  /** Lines like headers, of which none means anything, up to an empty one. */
  private tookTrailer(line: Buffer): Progress {
    if (line.length === 0) return 'whole';
    const lines = new HeadLines();
    lines.add(line);
    const frames = lines.lengthBytes !== -1 || lines.coding !== undefined;
    return lines.odd || frames || lines.closes ? 'enough' : 'more';
  }
}

function isContent(place: Line | Content): place is Content {
  return (
    place === 'length' || place === 'chunk' || place === 'chunk end' || place === 'until the end'
  );
}
