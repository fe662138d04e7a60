/**
 * The listening end: takes connections from peers, hands their frames to the member, and sends the answers back. It
 * speaks only to members: a connection that does not begin with the handshake of members is cut off.
 *
 * - Few connections at a time may be without proof (`strangers.ts`), each for a short time and a few bytes.
 * - Under TLS the certificate must name a member. A peer that leaves the view is cut off.
 * - When secrets or certificates change, peers are asked to connect anew, and connections from before end a little
 *   later.
 */
import { constants, X509Certificate } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  TLSSocket,
  Server as TlsServer,
} from 'node:tls';
import type { Cancel, Clock, FrameHandler, Log } from '@carillon/core';
import { isNamed, type PeerTls } from './credentials.ts';
import { farewellId } from './dialled.ts';
import type { Agreement } from './handshake.ts';
import type { Link, LinkEvents } from './link.ts';
import type { PeerRefusalReason, Refusals } from './refusals.ts';
import { peerOf, Strangers } from './strangers.ts';

export interface AcceptorOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly refusals: Refusals;
  readonly tls: PeerTls | null;
  /** null: every holder of a certificate that the authority signed. */
  readonly names: (() => Iterable<string>) | null;
  readonly link: (socket: Socket, events: LinkEvents) => Link;
  readonly frameBytesMax: number;
  readonly waitingBytesMax: number;
  readonly callCountMax: number;
  readonly inboundCountMax: number;
  readonly strangerCountMax: number;
  readonly handshakeMs: number;
  /** Longer than any call lasts. */
  readonly farewellMs: number;
}

/** A connection from a peer. */
interface Guest {
  readonly peer: string;
  readonly link: Link;
  readonly certificate: X509Certificate | null;
  /** How often the credentials had changed when it came. */
  readonly edition: number;
  ready: boolean;
  /** Calls that it waits for. */
  openCount: number;
  cancelFarewell: Cancel;
}

export class Acceptor {
  private readonly options: AcceptorOptions;
  private readonly server: Server;
  private readonly strangers: Strangers;
  private readonly guests = new Set<Guest>();
  private edition = 0;
  private renewedMs = Number.NEGATIVE_INFINITY;

  constructor(options: AcceptorOptions, handler: FrameHandler) {
    this.options = options;
    const { tls, inboundCountMax, strangerCountMax } = options;
    this.strangers = new Strangers(strangerCountMax, (peer) =>
      this.refuse(
        'crowded',
        peer,
        'Too many connections wait for authentication, and this one waited longest.',
      ),
    );
    this.server = tls === null ? createServer() : this.createTlsServer(tls);
    this.server.maxConnections = inboundCountMax;
    this.server.on('connection', (socket) => this.strangers.enter(socket));
    this.server.on(tls === null ? 'connection' : 'secureConnection', (socket: Socket) =>
      this.accept(socket, handler),
    );
    this.server.on('drop', (dropped) => {
      const peer = `${dropped?.remoteAddress}:${dropped?.remotePort}`;
      this.refuse('crowded', peer, `There are too many connections: ${inboundCountMax}.`);
    });
  }

  /** Where peers reach this member, once `listen` resolved. */
  get address(): string {
    const bound = this.server.address();
    if (bound === null || typeof bound === 'string') return '';
    return bound.family === 'IPv6'
      ? `[${bound.address}]:${bound.port}`
      : `${bound.address}:${bound.port}`;
  }

  async listen(at: { readonly host: string; readonly port: number }): Promise<void> {
    const { server } = this;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ ...at, backlog: 512 }, () => resolve());
    });
    server.on('error', (error) =>
      this.options.log.error('The peer listener failed.', {
        event: 'peer-listener-failed',
        reason: error.message,
      }),
    );
  }

  /** Called when secrets or certificates have changed: existing connections are asked to end. */
  renew(tls: PeerTls | null): void {
    this.edition++;
    this.renewedMs = this.options.clock.now();
    if (tls !== null && this.server instanceof TlsServer) this.server.setSecureContext(secure(tls));
    for (const guest of this.guests) if (guest.ready) this.farewell(guest);
  }

  /** Called when the view has changed: cuts off peers that are no members any more. */
  review(): void {
    for (const { peer, link, certificate } of this.guests) {
      if (certificate !== null && !this.isMember(certificate)) link.end(noMember(peer), 'name');
    }
  }

  async close(): Promise<void> {
    for (const { link } of this.guests) link.end('This member is stopping.');
    this.strangers.close();
    const { server } = this;
    if (!server.listening) return;
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  private createTlsServer(tls: PeerTls): Server {
    const { handshakeMs } = this.options;
    const server = createTlsServer({
      ...secure(tls),
      requestCert: true,
      // `accept` does, and can say why.
      rejectUnauthorized: false,
      handshakeTimeout: handshakeMs,
    });
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
      // Node leaves the socket open after `tlsClientError`, so destroy it here.
      socket.destroy();
      const slow = error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT' || error.code === 'ECONNRESET';
      this.refuse(slow ? 'slow' : 'certificate', peerOf(socket), error.message);
    });
    return server;
  }

  private accept(socket: Socket, handler: FrameHandler): void {
    const peer = peerOf(socket);
    const secured = socket instanceof TLSSocket ? socket : null;
    const certificate = secured?.getPeerX509Certificate() ?? null;
    if (secured !== null && (!secured.authorized || certificate === null)) {
      socket.destroy();
      return this.refuse(
        'certificate',
        peer,
        `Not trusted: ${String(secured.authorizationError)}.`,
      );
    }
    if (certificate !== null && !this.isMember(certificate)) {
      socket.destroy();
      return this.refuse('name', peer, noMember(peer));
    }
    const link = this.options.link(socket, {
      ready: (agreement) => this.ready(guest, agreement),
      frame: (id, content) => this.take(guest, id, content, handler),
      ended: (why, reason) => this.ended(guest, why, reason),
    });
    const { edition } = this;
    const guest: Guest = {
      peer,
      link,
      certificate,
      edition,
      ready: false,
      openCount: 0,
      cancelFarewell: () => {},
    };
    this.guests.add(guest);
  }

  private isMember(certificate: X509Certificate): boolean {
    const { names } = this.options;
    if (names === null) return true;
    for (const name of names()) if (isNamed(certificate, name)) return true;
    return false;
  }

  private ready(guest: Guest, { protocol, release }: Agreement): void {
    const { log, clock, handshakeMs } = this.options;
    const { peer } = guest;
    this.strangers.leave(peer);
    guest.ready = true;
    log.debug('A peer connected.', { event: 'peer-connected', peer, protocol, release });
    // The TLS handshake of this connection may have begun before the change.
    const isStale =
      guest.edition !== this.edition || clock.now() < this.renewedMs + 2 * handshakeMs;
    if (isStale) this.farewell(guest);
  }

  private farewell(guest: Guest): void {
    const { clock, farewellMs } = this.options;
    const { link } = guest;
    link.send(farewellId, new Uint8Array());
    guest.cancelFarewell();
    guest.cancelFarewell = clock.at(clock.now() + farewellMs, () =>
      link.end('It was opened with credentials that have changed since.'),
    );
  }

  private take(guest: Guest, id: number, content: Uint8Array, handler: FrameHandler): void {
    if (++guest.openCount > this.options.callCountMax) {
      guest.link.end('The peer has too many unanswered calls.', 'malformed');
    } else {
      handler(content, this.replyOnce(guest, id));
    }
  }

  private replyOnce(guest: Guest, id: number): (answer: Uint8Array) => void {
    const { frameBytesMax, waitingBytesMax, log } = this.options;
    const { link } = guest;
    let open = true;
    return (answer) => {
      if (!open) return;
      open = false;
      guest.openCount--;
      if (answer.length > frameBytesMax) {
        const fields = { answerBytes: answer.length, frameBytesMax };
        log.error('An answer is too long for a peer.', { event: 'answer-too-long', ...fields });
      } else if (link.waitingBytes > waitingBytesMax) {
        link.end('The peer does not take its answers.', 'slow');
      } else {
        link.send(id, answer);
      }
    };
  }

  private ended(guest: Guest, why: string, reason: PeerRefusalReason | null): void {
    const { peer } = guest;
    this.guests.delete(guest);
    guest.cancelFarewell();
    if (reason !== null) this.refuse(reason, peer, why);
    else
      this.options.log.debug('A connection from a peer ended.', {
        event: 'peer-connection-ended',
        peer,
        reason: why,
      });
  }

  private refuse(reason: PeerRefusalReason, peer: string, why: string): void {
    this.options.refusals.note({ reason, peer, why });
  }
}

function secure(tls: PeerTls): SecureContextOptions {
  // A session that is taken up again would show no certificate.
  return { ...tls, minVersion: 'TLSv1.3', secureOptions: constants.SSL_OP_NO_TICKET };
}

function noMember(peer: string): string {
  return `The certificate of ${peer} names no member of this cluster.`;
}
