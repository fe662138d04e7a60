/** A streaming answer, such as server-sent events, files and long lists: the port that a route writes to. */
import type { Framing } from './response.ts';

/** Where a streaming answer is written. After its end, or the client's, everything here does nothing. */
export interface Outflow {
  write(chunk: string | Uint8Array): void;
  /** Bytes written and not yet read by the client. */
  readonly waitingBytes: number;
  /** Backpressure: the client has to read first. A route that can wait writes on when `onTaken` is called. */
  readonly full: boolean;
  /** `fn` is called each time when there is room again. */
  onTaken(fn: () => void): void;
  end(): void;
  /** Drops the client, and all bytes that wait for it. */
  cut(): void;
  /** `fn` is called once, when the answer is over for any reason. */
  onClose(fn: () => void): void;
}

/** The connection below. */
export interface Pipe {
  /** False: take a pause until `drained` is called. */
  write(bytes: Uint8Array): boolean;
  /** Given to `write` and not yet with the client. */
  waitingBytes(): number;
  cut(): void;
  /** The answer is complete. */
  done(): void;
}

/** Goes to the connection at once; a client that takes none of this for long is cut. */
const pieceBytesMax = 64 * 1024;
const lastChunk = Buffer.from('0\r\n\r\n');

export class AnswerOutflow implements Outflow {
  private readonly pipe: Pipe;
  private readonly framing: Framing;
  private queue: Buffer[] = [];
  private queuedBytes = 0;
  private paused = false;
  private over: 'no' | 'ended' | 'closed' = 'no';
  private closers: (() => void)[] = [];
  private taken: () => void = () => {};

  constructor(pipe: Pipe, framing: Framing) {
    this.pipe = pipe;
    this.framing = framing;
  }

  get waitingBytes(): number {
    return this.over === 'closed' ? 0 : this.queuedBytes + this.pipe.waitingBytes();
  }

  get full(): boolean {
    return this.over !== 'no' || this.paused || this.queue.length > 0;
  }

  onTaken(fn: () => void): void {
    this.taken = fn;
  }

  write(chunk: string | Uint8Array): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : asBuffer(chunk);
    // An empty chunk would mean the end.
    if (this.over !== 'no' || bytes.length === 0) return;
    if (this.framing === 'chunks') {
      const size = Buffer.from(`${bytes.length.toString(16)}\r\n`);
      this.add(Buffer.concat([size, bytes, Buffer.from('\r\n')]));
    } else this.add(bytes);
    this.flow();
  }

  end(): void {
    if (this.over !== 'no') return;
    this.over = 'ended';
    if (this.framing === 'chunks') this.add(lastChunk);
    this.flow();
  }

  cut(): void {
    if (this.over !== 'closed') this.pipe.cut();
  }

  onClose(fn: () => void): void {
    if (this.over === 'closed') fn();
    else this.closers.push(fn);
  }

  /** The client has taken enough to go on. */
  drained(): void {
    this.paused = false;
    this.flow();
    if (!this.full) this.taken();
  }

  /** Called when nothing more can be written: the answer is complete, or the connection is gone. */
  closed(): void {
    if (this.over === 'closed') return;
    this.over = 'closed';
    this.queue = [];
    for (const closer of this.closers) closer();
  }

  private add(bytes: Buffer): void {
    this.queue.push(bytes);
    this.queuedBytes += bytes.length;
  }

  private flow(): void {
    while (!this.paused && this.queue.length > 0) {
      const first = this.queue[0] as Buffer;
      const piece = first.subarray(0, pieceBytesMax);
      if (piece.length === first.length) this.queue.shift();
      else this.queue[0] = first.subarray(pieceBytesMax);
      this.queuedBytes -= piece.length;
      this.paused = !this.pipe.write(piece);
    }
    if (this.over !== 'ended' || this.queue.length > 0) return;
    this.closed();
    this.pipe.done();
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
