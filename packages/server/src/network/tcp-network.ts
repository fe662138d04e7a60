/**
 * The real network between members: a TCP (or TLS) listener of its own, and kept-alive connections to each peer that
 * is called: one, and a second one for heavy calls, so that claims wait behind no large record. Neighbours: `peer.ts`
 * calls, `acceptor.ts` answers, `link.ts` moves frames, `handshake.ts` authenticates peers.
 *
 * Calls travel on the connection their caller opened, answers come back on it; so two members that call each other
 * have two connections, and neither end has to tell calls from answers. A peer that breaks the protocol is cut off
 * and logged; it cannot stop the member.
 */
import { randomBytes, X509Certificate } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type PeerCertificate } from 'node:tls';
import {
  type CallTerms,
  type Clock,
  type FrameAnswered,
  type FrameHandler,
  type HostPort,
  type Log,
  type Network,
  parseHostPort,
  type Random,
} from '@carillon/core';
import { Acceptor } from './acceptor.ts';
import { type Credentials, isNamed, noCredentials } from './credentials.ts';
import { Handshake, nonceBytes, type ProtocolRange, type Role } from './handshake.ts';
import { Link, type LinkEvents } from './link.ts';
import { Peer } from './peer.ts';
import { type PeerRefusalReason, RefusedPeerError, Refusals } from './refusals.ts';

/** The protocols this release speaks. Raise `max` with a change of the messages, `min` when the old ones are gone. */
const protocols: ProtocolRange = { min: 1, max: 1 };

/** The members of the view, for checking names in certificates under TLS. */
export interface MemberNames {
  /** Names of all members that may connect. */
  names(): Iterable<string>;
  /** Name of the member that listens for peers at this address. */
  at(address: string): string | undefined;
}

export interface TcpNetworkOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Port 0: any free one; `address` tells which. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly release: string;
  /** Default: none, for loopback and networks of one's own. */
  readonly credentials?: Credentials;
  /** Fingerprint of the number key; default 0, without one. */
  readonly numbering?: number;
  /** null: every holder of a certificate that the authority signed. */
  readonly members?: MemberNames | null;
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
  /** Of these, connections that are not authenticated yet. */
  readonly strangerCountMax: number;
  /** Peers remembered at once, of each kind of connection; disconnected ones are forgotten first. */
  readonly peerCountMax: number;
  /** Connecting and the first exchange. */
  readonly handshakeMs: number;
  readonly idleMs: number;
  readonly silentMs: number;
  readonly backoffMsMin: number;
  readonly backoffMsMax: number;
  /** Time for connections that were opened with old credentials to finish their calls. */
  readonly farewellMs: number;
}

const defaultLimits: TcpNetworkLimits = {
  frameBytesMax: 32 * 1024 * 1024,
  waitingBytesMax: 64 * 1024 * 1024,
  callCountMax: 32_768,
  inboundCountMax: 1280,
  strangerCountMax: 256,
  peerCountMax: 1024,
  handshakeMs: 2000,
  idleMs: 120_000,
  silentMs: 2000,
  backoffMsMin: 20,
  backoffMsMax: 500,
  farewellMs: 10_000,
};

export class TcpNetwork implements Network {
  private readonly options: TcpNetworkOptions;
  private readonly limits: TcpNetworkLimits;
  private readonly peers = new Map<string, Peer>();
  /** The same peers on connections of their own, for heavy calls. */
  private readonly heavyPeers = new Map<string, Peer>();
  private readonly refusals: Refusals;
  private credentials: Credentials;
  private acceptor: Acceptor | null = null;
  private closed = false;

  constructor(options: TcpNetworkOptions) {
    this.options = options;
    this.limits = { ...defaultLimits, ...options.limits };
    this.refusals = new Refusals(options.clock, options.log);
    this.credentials = options.credentials ?? noCredentials;
  }

  /** Where peers reach this member, once `listen` resolved. */
  get address(): string {
    return this.acceptor?.address ?? '';
  }

  /** Connections refused since the start, both ways. */
  get refusedCounts(): Readonly<Record<PeerRefusalReason, number>> {
    return this.refusals.counts;
  }

  call(address: string, frame: Uint8Array, terms: CallTerms, done: FrameAnswered): void {
    const peer = this.closed ? null : this.peerAt(address, terms.isHeavy ?? false);
    if (peer === null) this.options.clock.soon(() => done(null));
    else peer.call(frame, terms.limitMs, done);
  }

  async listen(handler: FrameHandler): Promise<void> {
    const { clock, log, members = null } = this.options;
    const acceptor = new Acceptor(
      {
        ...this.limits,
        clock,
        log,
        refusals: this.refusals,
        tls: this.credentials.tls,
        names: members === null ? null : () => members.names(),
        link: (socket, events) => this.link(socket, 'acceptor', events),
      },
      handler,
    );
    await acceptor.listen(this.options.listen);
    this.acceptor = acceptor;
  }

  /** Changes secrets and certificates; calls under way are finished. TLS cannot be turned on or off. */
  renew(credentials: Credentials): void {
    this.credentials = credentials;
    this.acceptor?.renew(credentials.tls);
    for (const peer of this.allPeers) peer.renew();
  }

  /** To be called when other names are known. */
  review(): void {
    this.acceptor?.review();
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const peer of this.allPeers) peer.close();
    await this.acceptor?.close();
  }

  private peerAt(address: string, isHeavy: boolean): Peer | null {
    const peers = isHeavy ? this.heavyPeers : this.peers;
    return peers.get(address) ?? this.newPeer(address, peers);
  }

  private newPeer(address: string, peers: Map<string, Peer>): Peer | null {
    const to = parseHostPort(address);
    if (to === null || to.port === 0) {
      this.options.log.error('A peer address is not host:port.', {
        event: 'peer-address-bad',
        peer: address,
      });
      return null;
    }
    if (peers.size >= this.limits.peerCountMax) forgetDisconnected(peers);
    const { clock, random, log } = this.options;
    const peer = new Peer({
      ...this.limits,
      address,
      clock,
      random,
      // Both connections to a peer come and go together: one of them tells of it.
      log: peers === this.heavyPeers ? quietly(log) : log,
      refusals: this.refusals,
      dial: (events) => this.link(this.connect(address, to), 'dialer', events),
    });
    peers.set(address, peer);
    return peer;
  }

  private get allPeers(): Peer[] {
    return [...this.peers.values(), ...this.heavyPeers.values()];
  }

  private connect(address: string, to: HostPort): Socket {
    const { tls } = this.credentials;
    if (tls === null) return connect(to);
    return connectTls({
      ...tls,
      ...to,
      // Certificates name members, not machines.
      servername: '',
      checkServerIdentity: (_, certificate) => this.whyNot(address, certificate),
      rejectUnauthorized: true,
      minVersion: 'TLSv1.3',
    });
  }

  private whyNot(address: string, { raw }: PeerCertificate): Error | undefined {
    const { members = null } = this.options;
    if (members === null) return undefined;
    const name = members.at(address);
    if (name !== undefined && isNamed(new X509Certificate(raw), name)) return undefined;
    const expected = name === undefined ? 'a member of this cluster' : `"${name}"`;
    return new RefusedPeerError('name', `The certificate does not name ${expected}.`);
  }

  private link(socket: Socket, role: Role, events: LinkEvents): Link {
    const { clock, release, numbering = 0, protocols: spoken = protocols } = this.options;
    const { handshakeMs, frameBytesMax, idleMs } = this.limits;
    const { secrets } = this.credentials;
    const handshake = new Handshake(
      { protocols: spoken, release, secrets, numbering },
      role,
      randomBytes(nonceBytes),
    );
    // The dialer closes first: it knows whether it still needs the connection.
    const ownIdleMs = role === 'dialer' ? idleMs : 2 * idleMs;
    return new Link(
      socket,
      { clock, handshake, handshakeMs, frameBytesMax, idleMs: ownIdleMs },
      events,
    );
  }
}

function forgetDisconnected(peers: Map<string, Peer>): void {
  for (const [address, peer] of peers) if (!peer.connected) peers.delete(address);
}

/** Writes news and warnings as details; errors stay errors. */
function quietly(log: Log): Log {
  const debug: Log['debug'] = (...line) => log.debug(...line);
  return { debug, info: debug, warn: debug, error: (...line) => log.error(...line) };
}
