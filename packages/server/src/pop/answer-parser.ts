/**
 * The answer of a receiver, from its bytes: status, `Retry-After`, and where it ends. Nothing else of it is looked at, and none of
 * its content is kept.
 *
 *  1. What two readers could understand differently is malformed, and a connection is only used again after an answer whose end is
 *     beyond doubt.
 *  2. Heads of up to 16 KiB and content of up to 16 KiB are read. More content is no failure: the status is known.
 */

const headBytesMax = 16 * 1024;
const contentBytesMax = 16 * 1024;
/** Sizes, extensions and trailers of an answer in chunks, with its content. */
const chunkedBytesMax = 2 * contentBytesMax;

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\r\n]*)?$/;
const headerLine = /^([!#$%&'*+\-.^_`|~\w]+):[\t ]*(.*?)[\t ]*$/;
const chunkLine = /^([\da-f]{1,8})[\t ]*(?:;[^\r\n]*)?$/i;
const unfit = /[\0\r\n]/;
const hintForm = /(?:^|[\t ,])timeout=(\d{1,6})(?:$|[\t ,])/i;

/** `more`: it goes on. `whole`: this was the end. `enough`: the status counts, the rest is not read. */
export type Progress = 'more' | 'whole' | 'enough' | 'malformed';

type Framing = 'length' | 'chunks' | 'until the end';

export class AnswerParser {
  /** 0 until the final head is here. */
  status = 0;
  retryAfter: string | undefined;
  /** Whether the connection can be used again once the answer is whole. */
  keeps = false;
  /** For how long the receiver says that it keeps unused connections. */
  keepsMs: number | null = null;
  private readonly method: string;
  private text = '';
  private headBytes = 0;
  private framing: Framing = 'length';
  private leftBytes = 0;
  private chunkAt = 0;

  constructor(method: string) {
    this.method = method;
  }

  push(bytes: Buffer): Progress {
    if (this.status !== 0 && this.framing !== 'chunks') return this.skip(bytes.length);
    this.text += bytes.toString('latin1');
    while (this.status === 0) {
      const headEnd = this.text.indexOf('\r\n\r\n');
      if (this.headBytes + (headEnd < 0 ? this.text.length : headEnd) > headBytesMax)
        return 'malformed';
      if (headEnd < 0) return 'more';
      const head = this.text.slice(0, headEnd);
      this.text = this.text.slice(headEnd + 4);
      this.headBytes += headEnd + 4;
      if (!this.tookHead(head)) return 'malformed';
    }
    if (this.framing === 'chunks') return this.readChunks();
    const { length } = this.text;
    this.text = '';
    return this.skip(length);
  }

  /** False: it is malformed. */
  private tookHead(head: string): boolean {
    const [first = '', ...lines] = head.split('\r\n');
    const [, minor, status = ''] = statusLine.exec(first) ?? [];
    if (minor === undefined || status === '101') return false;
    const headers = new Headers();
    if (!lines.every((line) => headers.add(line))) return false;
    if (status.startsWith('1')) return true;
    if (!this.frame(headers, Number(status))) return false;
    this.keeps &&=
      minor === '1' && !/(?:^|[\t ,])close(?:$|[\t ,])/i.test(headers.connection ?? '');
    const hint = hintForm.exec(headers.keepAlive ?? '')?.[1];
    if (hint !== undefined) this.keepsMs = Number(hint) * 1000;
    this.retryAfter = headers.retryAfter;
    this.status = Number(status);
    return true;
  }

  /** Where the answer ends (RFC 9112, 6.3). */
  private frame({ length, coding }: Headers, status: number): boolean {
    this.keeps = true;
    if (coding !== undefined && length !== undefined) return false;
    if (length !== undefined && !/^\d{1,15}$/.test(length)) return false;
    if (this.method === 'HEAD' || status === 204 || status === 304) this.leftBytes = 0;
    else if (coding?.toLowerCase() === 'chunked') this.framing = 'chunks';
    else if (length !== undefined) this.leftBytes = Number(length);
    else {
      this.framing = 'until the end';
      this.leftBytes = contentBytesMax;
      this.keeps = false;
    }
    return true;
  }

  private skip(length: number): Progress {
    if (this.framing === 'length' && this.leftBytes > contentBytesMax) return 'enough';
    this.leftBytes -= length;
    if (this.framing === 'until the end') return this.leftBytes < 0 ? 'enough' : 'more';
    if (this.leftBytes > 0) return 'more';
    return this.ended(-this.leftBytes);
  }

  /** What comes behind an answer is none that was asked for. */
  private ended(surplusBytes: number): Progress {
    if (surplusBytes > 0) this.keeps = false;
    return 'whole';
  }

  private readChunks(): Progress {
    for (;;) {
      if (this.text.length > chunkedBytesMax) return 'enough';
      const lineEnd = this.text.indexOf('\r\n', this.chunkAt);
      if (lineEnd < 0) return 'more';
      const size = chunkLine.exec(this.text.slice(this.chunkAt, lineEnd))?.[1];
      if (size === undefined) return 'malformed';
      const sizeBytes = Number.parseInt(size, 16);
      if (sizeBytes === 0) return this.readTrailers(lineEnd + 2);
      if (sizeBytes > contentBytesMax) return 'enough';
      const contentEnd = lineEnd + 2 + sizeBytes;
      if (this.text.length < contentEnd + 2) return 'more';
      if (!this.text.startsWith('\r\n', contentEnd)) return 'malformed';
      this.chunkAt = contentEnd + 2;
    }
  }

  private readTrailers(from: number): Progress {
    // The empty line that ends them may follow at once.
    const end = this.text.indexOf('\r\n\r\n', from - 2);
    return end < 0 ? 'more' : this.ended(this.text.length - end - 4);
  }
}

/** The few that matter. */
class Headers {
  length: string | undefined;
  coding: string | undefined;
  connection: string | undefined;
  keepAlive: string | undefined;
  retryAfter: string | undefined;

  /** False: it is malformed, or says how long the answer is a second time. */
  add(line: string): boolean {
    const [, name, value] = headerLine.exec(line) ?? [];
    if (name === undefined || value === undefined || unfit.test(value)) return false;
    switch (name.toLowerCase()) {
      case 'content-length':
        if (this.length !== undefined) return false;
        this.length = value;
        break;
      case 'transfer-encoding':
        if (this.coding !== undefined) return false;
        this.coding = value;
        break;
      case 'connection':
        this.connection = this.connection === undefined ? value : `${this.connection}, ${value}`;
        break;
      case 'keep-alive':
        this.keepAlive = value;
        break;
      case 'retry-after':
        this.retryAfter ??= value;
        break;
    }
    return true;
  }
}
