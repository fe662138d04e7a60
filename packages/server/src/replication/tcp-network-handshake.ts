/**
 * The first exchange on a connection between members: who speaks which protocol, and who knows the cluster secret.
 *
 *   dialer → hello      acceptor → hello      (with a secret:)  dialer → proof      acceptor → proof
 *
 * Pure: bytes in, bytes to send out; `tcp-network-link.ts` moves them. Both sides judge both hellos, so each can say
 * in its own log why the connection ended.
 *
 * A proof is an HMAC over the prover's role and both hellos. Each hello carries 32 fresh random bytes, so a recorded
 * proof fits no other connection; the role keeps a proof from being sent back to its maker; covering the whole hellos
 * keeps protocol ranges from being lowered on the way. The dialer proves first, so that a stranger who merely connects
 * gets nothing to test guesses on. After the exchange frames carry no MAC: the secret keeps strangers out of
 * a network that is trusted not to alter or take over connections; where it is not, use TLS.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ByteReader, ByteWriter, MalformedError } from '@carillon/core';

export interface ProtocolRange {
  readonly min: number;
  readonly max: number;
}

export interface HandshakeOptions {
  readonly protocols: ProtocolRange;
  readonly release: string;
  /** null: anybody who can connect is taken for a member. */
  readonly secret: string | null;
}

/** The longest content either side sends before the exchange is over. */
export const handshakeBytesMax = 256;
export const nonceBytes = 32;
const magic = 0x4e_4c_52_43; // "CRLN" in little-endian order
const releaseLengthMax = 64;

export type Role = 'dialer' | 'acceptor';

interface Hello {
  readonly protocols: ProtocolRange;
  readonly authenticated: boolean;
  readonly release: string;
}

/** What both sides agreed on. */
export interface Agreement {
  readonly protocol: number;
  readonly release: string;
}

/** A peer that this member cannot or must not talk to. The message is for the log. */
export class RefusedPeerError extends Error {
  override readonly name = 'RefusedPeerError';
  /** To be sent before closing, so that the peer can say why in its own log. */
  readonly lastContent: Uint8Array | null;

  constructor(message: string, lastContent: Uint8Array | null = null) {
    super(message);
    this.lastContent = lastContent;
  }
}

/** One side of one exchange. `start`, then `take` for each content that arrives, until `agreement` is there. */
export class Handshake {
  private readonly options: HandshakeOptions;
  private readonly role: Role;
  private readonly own: Uint8Array;
  private theirs: Uint8Array | null = null;
  private promised: Agreement | null = null;
  private agreed: Agreement | null = null;

  /** `nonce`: 32 bytes from a cryptographic source, never used before. */
  constructor(options: HandshakeOptions, role: Role, nonce: Uint8Array) {
    this.options = options;
    this.role = role;
    this.own = encodeHello(options, nonce);
  }

  get agreement(): Agreement | null {
    return this.agreed;
  }

  /** What to send before anything arrived. */
  start(): Uint8Array | null {
    return this.role === 'dialer' ? this.own : null;
  }

  /** What to send in answer to `content`. Throws RefusedPeerError or MalformedError: close the connection. */
  take(content: Uint8Array): Uint8Array[] {
    if (this.theirs === null) return this.takeHello(content);
    return this.takeProof(content);
  }

  private takeHello(content: Uint8Array): Uint8Array[] {
    // Dialling a free port of this machine can, rarely, connect a socket to itself.
    if (sameBytes(content, this.own)) {
      throw new RefusedPeerError('The connection leads back to where it came from.');
    }
    const hello = decodeHello(content);
    const why = whyRefused(this.options, hello);
    if (why !== null) throw new RefusedPeerError(why, this.role === 'acceptor' ? this.own : null);
    this.theirs = content.slice();
    const protocol = Math.min(this.options.protocols.max, hello.protocols.max);
    this.promised = { protocol, release: hello.release };
    if (this.options.secret === null) this.agreed = this.promised;
    if (this.role === 'acceptor') return [this.own];
    return this.options.secret === null ? [] : [this.proof('dialer')];
  }

  private takeProof(content: Uint8Array): Uint8Array[] {
    const prover = this.role === 'dialer' ? 'acceptor' : 'dialer';
    const wanted = this.proof(prover);
    if (!sameBytes(content, wanted)) {
      throw new RefusedPeerError('The peer does not know the cluster secret of this member.');
    }
    this.agreed = this.promised;
    return this.role === 'acceptor' ? [this.proof('acceptor')] : [];
  }

  private proof(prover: Role): Uint8Array {
    const [dialer, acceptor] =
      this.role === 'dialer' ? [this.own, this.theirs] : [this.theirs, this.own];
    return createHmac('sha256', this.options.secret ?? '')
      .update(`carillon peer ${prover}\n`)
      .update(dialer ?? '')
      .update(acceptor ?? '')
      .digest();
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function whyRefused({ protocols, release, secret }: HandshakeOptions, hello: Hello): string | null {
  const highestCommon = Math.min(protocols.max, hello.protocols.max);
  if (highestCommon < Math.max(protocols.min, hello.protocols.min)) {
    return (
      `The peer (release ${hello.release}) speaks protocols ${rangeText(hello.protocols)}, ` +
      `this member (release ${release}) ${rangeText(protocols)}: there is none in common.`
    );
  }
  if (hello.authenticated === (secret !== null)) return null;
  return hello.authenticated
    ? 'The peer has a cluster secret and this member has none: give every member the same one.'
    : 'The peer has no cluster secret and this member has one: give every member the same one.';
}

function rangeText({ min, max }: ProtocolRange): string {
  return min === max ? `${min}` : `${min} to ${max}`;
}

function encodeHello(options: HandshakeOptions, nonce: Uint8Array): Uint8Array {
  const out = new ByteWriter(handshakeBytesMax);
  out.u32(magic);
  out.u16(options.protocols.min);
  out.u16(options.protocols.max);
  out.u8(options.secret === null ? 0 : 1);
  out.raw(nonce);
  out.text(options.release.slice(0, releaseLengthMax));
  return out.copy();
}

function decodeHello(content: Uint8Array): Hello {
  const from = new ByteReader(content);
  if (from.u32() !== magic) throw new MalformedError('The peer is not a Carillon member.');
  const protocols = { min: from.u16(), max: from.u16() };
  const authenticated = from.u8() !== 0;
  from.raw(nonceBytes);
  // Later releases may append to their hello; what this one does not know it does not read.
  return { protocols, authenticated, release: printable(from.text()) };
}

/** Comes from a stranger and goes to the log. */
function printable(text: string): string {
  return text.slice(0, releaseLengthMax).replaceAll(/[^\w.+-]/g, '?');
}
