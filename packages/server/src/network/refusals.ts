/**
 * Refused peers with the reason: counted each time, and logged once a minute for each peer and reason, so that a
 * stranger that keeps connecting fills no disk.
 */
import type { Clock, Log } from '@carillon/core';

/**
 * secret: does not know the cluster secret. certificate: no TLS, or a certificate that the authority did not sign.
 * name: a certificate whose names are not in the view. numbers: has another number key. protocol: no common
 * one. altered: a frame changed on its way. malformed: bytes that no member sends. slow: did not finish the handshake
 * in time. crowded: too many connections.
 */
const refusalReasons = [
  'secret',
  'certificate',
  'name',
  'numbers',
  'protocol',
  'altered',
  'malformed',
  'slow',
  'crowded',
] as const;
export type PeerRefusalReason = (typeof refusalReasons)[number];

/** A peer that this member cannot or must not talk to. The message is for the log. */
export class RefusedPeerError extends Error {
  override readonly name = 'RefusedPeerError';
  readonly reason: PeerRefusalReason;
  /** To be sent before closing, so that the peer can say why in its own log. */
  readonly lastContent: Uint8Array | null;

  constructor(reason: PeerRefusalReason, message: string, lastContent: Uint8Array | null = null) {
    super(message);
    this.reason = reason;
    this.lastContent = lastContent;
  }
}

export interface PeerRefusal {
  readonly reason: PeerRefusalReason;
  /** An address, with a port or without. */
  readonly peer: string;
  readonly why: string;
}

const quietMs = 60_000;
/** Beyond as many peers the log is quiet about further ones until the minute is over. */
const rememberedCountMax = 1000;

export class Refusals {
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly tally = Object.fromEntries(
    refusalReasons.map((reason) => [reason, 0]),
  ) as Record<PeerRefusalReason, number>;
  private readonly logged = new Set<string>();
  private minuteEndMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, log: Log) {
    this.clock = clock;
    this.log = log;
  }

  /** Since the start. */
  get counts(): Readonly<Record<PeerRefusalReason, number>> {
    return this.tally;
  }

  note({ reason, peer, why }: PeerRefusal): void {
    this.tally[reason]++;
    const nowMs = this.clock.now();
    if (nowMs >= this.minuteEndMs) {
      this.minuteEndMs = nowMs + quietMs;
      this.logged.clear();
    }
    // Strangers come from a new port each time.
    const key = `${reason} ${peer.replace(/:\d{1,5}$/, '')}`;
    if (this.logged.has(key) || this.logged.size >= rememberedCountMax) return;
    this.logged.add(key);
    this.log.warn('A peer was refused.', { event: 'peer-refused', peer, reason, why });
  }
}
