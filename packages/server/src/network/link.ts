/**
 * One connection between two members, either end: the first exchange, then frames both ways. Dialer (`dialled.ts`)
 * and acceptor (`acceptor.ts`) build on it.
 *
 * Invariants: frames sent in one turn of the event loop leave in one write; `ended` is called exactly once, for every
 * kind of end; after it nothing else is called; once the exchange gave seals, no frame without a fitting one is
 * taken.
 */
import type { Socket } from 'node:net';
import { ByteWriter, type Cancel, type Clock, MalformedError } from '@carillon/core';
import { FrameReader, writeFrame } from './frames.ts';
import { type Agreement, type Handshake, handshakeBytesMax } from './handshake.ts';
import { type PeerRefusalReason, RefusedPeerError } from './refusals.ts';
import { sealBytes } from './seal.ts';

export interface LinkOptions {
  readonly clock: Clock;
  readonly handshake: Handshake;
  /** How long connecting and the first exchange may take. */
  readonly handshakeMs: number;
  readonly frameBytesMax: number;
  /** Neither side sent anything for this long: closed. */
  readonly idleMs: number;
}

export interface LinkEvents {
  ready(agreement: Agreement): void;
  frame(id: number, content: Uint8Array): void;
  /** `why` is for the log; `reason` when the peer misbehaved or was refused, null when it is merely gone. */
  ended(why: string, reason: PeerRefusalReason | null): void;
}

/** A write buffer that had to grow beyond this is not kept for the next turn. */
const stagedBytesKept = 256 * 1024;

export class Link {
  private readonly socket: Socket;
  private readonly options: LinkOptions;
  private readonly events: LinkEvents;
  private readonly reader = new FrameReader(handshakeBytesMax);
  private readonly cancelHandshake: Cancel;
  private seals: Agreement['seals'] = null;
  private staged = new ByteWriter(4096);
  private flushing = false;
  private open = true;

  /** `socket` may still be connecting; TLS sockets count as connected after `secureConnect`. */
  constructor(socket: Socket, options: LinkOptions, events: LinkEvents) {
    this.socket = socket;
    this.options = options;
    this.events = events;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, options.idleMs / 2);
    socket.setTimeout(options.idleMs, () => this.end('The connection was idle.'));
    socket.on('data', (chunk: Uint8Array) => this.received(chunk));
    socket.on('error', (error) => this.end(error.message, reasonOf(error)));
    socket.on('close', () => this.end('The peer closed the connection.'));
    const { clock, handshakeMs } = options;
    this.cancelHandshake = clock.at(clock.now() + handshakeMs, () =>
      this.end(`The first exchange took longer than ${handshakeMs} ms.`, 'slow'),
    );
    const first = options.handshake.start();
    if (first !== null) this.send(0, first);
  }

  /** Bytes that wait in this process for the peer to take them. */
  get waitingBytes(): number {
    return this.staged.length + this.socket.writableLength;
  }

  /** Copies `content`, so the caller may reuse it at once. */
  send(id: number, content: Uint8Array): void {
    if (!this.open) return;
    writeFrame(this.staged, id, content, this.seals?.sent.next(id, content) ?? null);
    if (this.flushing) return;
    this.flushing = true;
    this.options.clock.soon(() => this.flush());
  }

  end(why: string, reason: PeerRefusalReason | null = null): void {
    if (!this.open) return;
    this.open = false;
    this.cancelHandshake();
    // Last words (why a peer was refused) still go out; a peer that does not take them is cut off.
    if (reason !== null) this.socket.end();
    else this.socket.destroy();
    this.options.clock.soon(() => this.socket.destroy());
    this.events.ended(why, reason);
  }

  private flush(): void {
    this.flushing = false;
    if (!this.open || this.staged.length === 0) return;
    // A copy of the exact size: the socket keeps it until the kernel took it.
    this.socket.write(Buffer.from(this.staged.written()));
    if (this.staged.length > stagedBytesKept) this.staged = new ByteWriter(4096);
    else this.staged.reset();
  }

  private received(chunk: Uint8Array): void {
    if (!this.open) return;
    try {
      this.reader.push(chunk, (id, content) => this.take(id, content));
    } catch (error) {
      if (!(error instanceof MalformedError || error instanceof RefusedPeerError)) throw error;
      const refused = error instanceof RefusedPeerError ? error : null;
      if (refused?.lastContent != null) {
        this.send(0, refused.lastContent);
        this.flush();
      }
      this.end(error.message, refused?.reason ?? 'malformed');
    }
  }

  /** False once the connection ended: further bytes of the same chunk are not looked at. */
  private take(id: number, content: Uint8Array): boolean {
    const { handshake } = this.options;
    if (handshake.agreement === null) this.takeFirst(content);
    else this.events.frame(id, this.seals?.received.open(id, content) ?? content);
    return this.open;
  }

  private takeFirst(content: Uint8Array): void {
    const { handshake, frameBytesMax } = this.options;
    for (const answer of handshake.take(content)) this.send(0, answer);
    const { agreement } = handshake;
    if (agreement === null) return;
    this.cancelHandshake();
    this.seals = agreement.seals;
    this.reader.contentBytesMax = frameBytesMax + (this.seals === null ? 0 : sealBytes);
    this.events.ready(agreement);
  }
}

/** Codes of OpenSSL and of certificate checks. */
const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/;

function reasonOf(error: NodeJS.ErrnoException): PeerRefusalReason | null {
  if (error instanceof RefusedPeerError) return error.reason;
  return tlsCode.test(error.code ?? '') ? 'certificate' : null;
}
