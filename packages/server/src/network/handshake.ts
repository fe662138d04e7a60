/**
 * The first exchange on a connection between members: agreement on a protocol, proof that both know the cluster
 * secret, and comparison of the number keys.
 *
 *   dialer → hello      acceptor → hello      (with a secret:)  dialer → proof      acceptor → proof
 *
 * Pure: bytes in, bytes to send out; `link.ts` moves them. Both sides judge both hellos, so each can say in its own
 * log why the connection ended.
 *
 * A proof is an HMAC over the prover's role and both hellos. Each hello carries 32 fresh random bytes, so a recorded
 * proof fits no other connection; the role keeps a proof from being sent back to its maker; covering the whole hellos
 * keeps protocol ranges from being lowered on the way. The dialer proves first, so that a stranger that merely
 * connects gets nothing to test guesses on. From the secret and both hellos come the keys of the seals that every
 * later frame carries (`seal.ts`).
 *
 * While a cluster changes its secret a member has two: it proves with the first and accepts either; the acceptor
 * proves with the one the dialer used, which the dialer is known to have.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ByteReader, ByteWriter, MalformedError } from '@carillon/core';
import { RefusedPeerError } from './refusals.ts';
import { Seal } from './seal.ts';

export interface ProtocolRange {
  readonly min: number;
  readonly max: number;
}

export interface HandshakeOptions {
  readonly protocols: ProtocolRange;
  readonly release: string;
  /** The first is used, each is accepted. None: every process that can connect is taken for a member. */
  readonly secrets: readonly string[];
  /** Fingerprint of the number key, which both sides must share; default 0, without one. */
  readonly numbering?: number;
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
  /** 0 from releases that do not tell. */
  readonly numbering: number;
}

/** The result of a handshake, the same on both sides. */
export interface Agreement {
  readonly protocol: number;
  readonly release: string;
  /** null: without a secret there are none. */
  readonly seals: { readonly sent: Seal; readonly received: Seal } | null;
}

/** One side of one exchange. `start`, then `take` for each content that arrives, until `agreement` is there. */
export class Handshake {
  private readonly options: HandshakeOptions;
  private readonly role: Role;
  private readonly own: Uint8Array;
  private theirs: Uint8Array | null = null;
  private promised: Omit<Agreement, 'seals'> | null = null;
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

  /** The first bytes to send; null on the side that waits. */
  start(): Uint8Array | null {
    return this.role === 'dialer' ? this.own : null;
  }

  /** The bytes to send in answer to `content`. Throws RefusedPeerError or MalformedError: close the connection. */
  take(content: Uint8Array): Uint8Array[] {
    if (this.theirs === null) return this.takeHello(content);
    return this.takeProof(content);
  }

  private takeHello(content: Uint8Array): Uint8Array[] {
    // Dialling a free port of this machine can, rarely, connect a socket to itself.
    if (sameBytes(content, this.own)) {
      throw new RefusedPeerError('protocol', 'The connection leads back to where it came from.');
    }
    const hello = decodeHello(content);
    const refusal = refusalOf(this.options, hello);
    if (refusal !== null) {
      const lastContent = this.role === 'acceptor' ? this.own : null;
      throw new RefusedPeerError(refusal.reason, refusal.why, lastContent);
    }
    this.theirs = content.slice();
    const protocol = Math.min(this.options.protocols.max, hello.protocols.max);
    this.promised = { protocol, release: hello.release };
    const [secret] = this.options.secrets;
    if (secret === undefined) this.agreed = { ...this.promised, seals: null };
    if (this.role === 'acceptor') return [this.own];
    return secret === undefined ? [] : [this.mac('dialer', secret)];
  }

  private takeProof(content: Uint8Array): Uint8Array[] {
    const { role } = this;
    const { secrets } = this.options;
    const prover = role === 'dialer' ? 'acceptor' : 'dialer';
    const acceptable = role === 'dialer' ? secrets.slice(0, 1) : secrets;
    const secret = acceptable.find((one) => sameBytes(content, this.mac(prover, one)));
    if (secret === undefined || this.promised === null) {
      throw new RefusedPeerError(
        'secret',
        'The peer does not know the cluster secret of this member.',
      );
    }
    const seal = (sender: Role): Seal => new Seal(this.mac(`${sender} key`, secret));
    this.agreed = { ...this.promised, seals: { sent: seal(role), received: seal(prover) } };
    return role === 'acceptor' ? [this.mac('acceptor', secret)] : [];
  }

  /** A keyed hash over both hellos, which only holders of the secret can compute: proofs and keys, by their purpose. */
  private mac(purpose: string, secret: string): Uint8Array {
    const theirs = this.theirs ?? new Uint8Array();
    const [dialer, acceptor] = this.role === 'dialer' ? [this.own, theirs] : [theirs, this.own];
    // The length says where one hello ends and the other begins.
    return createHmac('sha256', secret)
      .update(`carillon peer ${purpose} ${dialer.length}\n`)
      .update(dialer)
      .update(acceptor)
      .digest();
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

interface Mismatch {
  readonly reason: 'protocol' | 'secret' | 'numbers';
  readonly why: string;
}

function refusalOf(options: HandshakeOptions, hello: Hello): Mismatch | null {
  const { protocols, release, secrets, numbering = 0 } = options;
  const highestCommon = Math.min(protocols.max, hello.protocols.max);
  if (highestCommon < Math.max(protocols.min, hello.protocols.min)) {
    const why =
      `The peer (release ${hello.release}) speaks protocols ${rangeText(hello.protocols)}, ` +
      `this member (release ${release}) ${rangeText(protocols)}: there is none in common.`;
    return { reason: 'protocol', why };
  }
  if (hello.authenticated !== secrets.length > 0) {
    const why = hello.authenticated
      ? 'The peer has a cluster secret and this member has none: give every member the same one.'
      : 'The peer has no cluster secret and this member has one: give every member the same one.';
    return { reason: 'secret', why };
  }
  if (hello.numbering === numbering) return null;
  const why =
    'The peer and this member do not use the same "number-key", so the same id means different timers to them: ' +
    'give every member the same tokens file; docs/security.md says how to begin to use a key.';
  return { reason: 'numbers', why };
}

function rangeText({ min, max }: ProtocolRange): string {
  return min === max ? `${min}` : `${min} to ${max}`;
}

function encodeHello(options: HandshakeOptions, nonce: Uint8Array): Uint8Array {
  const out = new ByteWriter(handshakeBytesMax);
  out.u32(magic);
  out.u16(options.protocols.min);
  out.u16(options.protocols.max);
  out.u8(options.secrets.length === 0 ? 0 : 1);
  out.raw(nonce);
  out.text(options.release.slice(0, releaseLengthMax));
  out.u32(options.numbering ?? 0);
  return out.copy();
}

function decodeHello(content: Uint8Array): Hello {
  const from = new ByteReader(content);
  if (from.u32() !== magic) throw new MalformedError('The peer is not a Carillon member.');
  const protocols = { min: from.u16(), max: from.u16() };
  const authenticated = from.u8() !== 0;
  from.raw(nonceBytes);
  const release = printable(from.text());
  // Later releases may append fields to their hello; unknown fields are not read.
  return { protocols, authenticated, release, numbering: from.left < 4 ? 0 : from.u32() };
}

/** Comes from a stranger and goes to the log. */
function printable(text: string): string {
  return text.slice(0, releaseLengthMax).replaceAll(/[^\w.+-]/g, '?');
}
