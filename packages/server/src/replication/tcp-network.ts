/**
 * The real network between members: a TCP (or TLS) listener of its own, and one kept-alive connection to each peer
 * that is called. Neighbours: `tcp-network-peer.ts` calls, `tcp-network-link.ts` moves frames,
 * `tcp-network-handshake.ts` lets nobody in who should not be.
 *
 * Calls travel on the connection their caller opened, answers come back on it; so two members that call each other
 * have two connections, and neither end has to tell calls from answers. A peer that sends what it must not is cut off and
 * logged; it cannot stop the member.
 */
import { randomBytes } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import type { Clock, FrameHandler, Log, Network, Random } from '@carillon/core';
import { Handshake, nonceBytes, type ProtocolRange, type Role } from './tcp-network-handshake.ts';
import { Link, type LinkEvents } from './tcp-network-link.ts';
import { type Done, Peer } from './tcp-network-peer.ts';

/** The protocols this release speaks. Raise `max` with a change of the messages, `min` when the old ones are gone. */
export const protocols: ProtocolRange = { min: 1, max: 1 };

export interface TcpNetworkOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Port 0: any free one; `address` tells which. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly release: string;
  /** Shared by all members of the cluster; null: none, for loopback and networks of one's own. */
  readonly secret?: string | null;
  /** PEM. Both ends show a certificate that `ca` signed; the one of a listener names its address. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca: string } | null;
  readonly protocols?: ProtocolRange;
  readonly limits?: Partial<TcpNetworkLimits>;
}

export interface TcpNetworkLimits {
  /** The longest frame and the longest answer. A batch of 8 MiB must fit. */
  readonly frameBytesMax: number;
  /** Bytes that may wait for one peer to take them; beyond it calls are answered with null at once. */
  readonly waitingBytesMax: number;
  /** Unanswered calls on one connection. */
  readonly callCountMax: number;
  readonly inboundCountMax: number;
  /** Peers remembered at once; disconnected ones are forgotten first. */
  readonly peerCountMax: number;
  /** Connecting and the first exchange. */
  readonly handshakeMs: number;
  readonly idleMs: number;
  readonly silentMs: number;
  readonly backoffMsMin: number;
  readonly backoffMsMax: number;
}

const defaultLimits: TcpNetworkLimits = {
  frameBytesMax: 32 * 1024 * 1024,
  waitingBytesMax: 64 * 1024 * 1024,
  callCountMax: 32_768,
  inboundCountMax: 1024,
  peerCountMax: 1024,
  handshakeMs: 2000,
  idleMs: 120_000,
  silentMs: 2000,
  backoffMsMin: 20,
  backoffMsMax: 500,
};

export class TcpNetwork implements Network {
  private readonly options: TcpNetworkOptions;
  private readonly limits: TcpNetworkLimits;
  private readonly peers = new Map<string, Peer>();
  private readonly inbound = new Set<Link>();
  private server: Server | null = null;
  private closed = false;

  constructor(options: TcpNetworkOptions) {
    this.options = options;
    this.limits = { ...defaultLimits, ...options.limits };
  }

  /** Where peers reach this member, once `listen` resolved. */
  get address(): string {
    const bound = this.server?.address();
    if (bound === null || bound === undefined || typeof bound === 'string') return '';
    return bound.family === 'IPv6'
      ? `[${bound.address}]:${bound.port}`
      : `${bound.address}:${bound.port}`;
  }

  call(address: string, frame: Uint8Array, limitMs: number, done: Done): void {
    const peer = this.closed ? null : this.peerAt(address);
    if (peer === null) this.options.clock.soon(() => done(null));
    else peer.call(frame, limitMs, done);
  }

  async listen(handler: FrameHandler): Promise<void> {
    const { listen, log } = this.options;
    const server = this.createServer((socket) => this.accept(socket, handler));
    server.maxConnections = this.limits.inboundCountMax;
    server.on('drop', () =>
      log.warn('A peer was turned away: too many connections', {
        inboundCountMax: server.maxConnections,
      }),
    );
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ ...listen, backlog: 512 }, () => resolve());
    });
    server.on('error', (error) => log.error('The peer listener failed', { why: error.message }));
    this.server = server;
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const peer of this.peers.values()) peer.close();
    for (const link of this.inbound) link.end('This member is stopping.', false);
    const { server } = this;
    if (server?.listening !== true) return;
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  private createServer(accept: (socket: Socket) => void): Server {
    const { tls, log } = this.options;
    if (tls === undefined || tls === null) return createServer(accept);
    const server = createTlsServer(
      {
        ...tls,
        requestCert: true,
        rejectUnauthorized: true,
        minVersion: 'TLSv1.3',
        handshakeTimeout: this.limits.handshakeMs,
      },
      accept,
    );
    server.on('tlsClientError', (error, socket) => {
      log.warn('A peer was refused', { peer: socket.remoteAddress, why: error.message });
    });
    return server;
  }

  private peerAt(address: string): Peer | null {
    const known = this.peers.get(address);
    if (known !== undefined) return known;
    const to = parseAddress(address);
    if (to === null) {
      this.options.log.error('A peer address is not host:port', { peer: address });
      return null;
    }
    if (this.peers.size >= this.limits.peerCountMax) this.forgetPeers();
    const { clock, random, log } = this.options;
    const peer = new Peer({
      ...this.limits,
      address,
      clock,
      random,
      log,
      dial: (events) => this.dial(to, events),
    });
    this.peers.set(address, peer);
    return peer;
  }

  private forgetPeers(): void {
    for (const [address, peer] of this.peers) {
      if (!peer.connected) this.peers.delete(address);
    }
  }

  private dial(to: Address, events: LinkEvents): Link {
    const { tls } = this.options;
    const socket =
      tls === undefined || tls === null
        ? connect(to)
        : connectTls({ ...tls, ...to, rejectUnauthorized: true, minVersion: 'TLSv1.3' });
    return this.link(socket, 'dialer', events);
  }

  private accept(socket: Socket, handler: FrameHandler): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    const { log } = this.options;
    let openCount = 0;
    const link = this.link(socket, 'acceptor', {
      ready: ({ protocol, release }) => log.debug('A peer connected', { peer, protocol, release }),
      frame: (id, content) => {
        if (++openCount > this.limits.callCountMax) {
          link.end('The peer has too many unanswered calls.', true);
          return;
        }
        handler(
          content,
          this.replyOnce(link, id, () => openCount--),
        );
      },
      ended: (why, suspect) => {
        this.inbound.delete(link);
        if (suspect) log.warn('A peer was refused', { peer, why });
        else log.debug('A connection from a peer ended', { peer, why });
      },
    });
    this.inbound.add(link);
  }

  private replyOnce(link: Link, id: number, answered: () => void): (answer: Uint8Array) => void {
    let open = true;
    return (answer) => {
      if (!open) return;
      open = false;
      answered();
      const { frameBytesMax, waitingBytesMax } = this.limits;
      if (answer.length > frameBytesMax) {
        const fields = { answerBytes: answer.length, frameBytesMax };
        this.options.log.error('An answer is too long for a peer', fields);
      } else if (link.waitingBytes > waitingBytesMax) {
        link.end('The peer does not take its answers.', true);
      } else {
        link.send(id, answer);
      }
    };
  }

  private link(socket: Socket, role: Role, events: LinkEvents): Link {
    const { clock, release, secret = null, protocols: spoken = protocols } = this.options;
    const { handshakeMs, frameBytesMax, idleMs } = this.limits;
    const handshake = new Handshake(
      { protocols: spoken, release, secret },
      role,
      randomBytes(nonceBytes),
    );
    // The dialer, who knows whether it still needs the connection, closes first.
    const ownIdleMs = role === 'dialer' ? idleMs : 2 * idleMs;
    return new Link(
      socket,
      { clock, handshake, handshakeMs, frameBytesMax, idleMs: ownIdleMs },
      events,
    );
  }
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** `host:port` or `[v6]:port`. */
function parseAddress(address: string): Address | null {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port < 1 || port > 65_535) return null;
  return { host: match[1] ?? match[2] ?? '', port };
}
