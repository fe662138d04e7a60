/**
 * The calling end towards one peer: a connection (`dialled.ts`) opened when it is needed, re-opened after a back-off,
 * and replaced by a fresh one when this member's secrets or certificates change or the peer asks for it.
 *
 * A call that cannot be made (back-off, too much waiting, too long) is answered with null in the next turn.
 */
import type { Clock, FrameAnswered, Log, Random } from '@carillon/core';
import { Dialled, type DialledOptions } from './dialled.ts';
import type { Agreement } from './handshake.ts';
import type { PeerRefusalReason, Refusals } from './refusals.ts';

export interface PeerOptions extends DialledOptions {
  readonly address: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly refusals: Refusals;
  readonly frameBytesMax: number;
  readonly waitingBytesMax: number;
  readonly callCountMax: number;
  readonly backoffMsMin: number;
  readonly backoffMsMax: number;
}

export class Peer {
  private readonly options: PeerOptions;
  private current: Dialled | null = null;
  /** Replaced connections that only wait for their last answers. */
  private readonly retired = new Set<Dialled>();
  /** The current connection was opened with credentials that have changed since; replace it once it is open. */
  private stale = false;
  private failureCount = 0;
  private backoffUntilMs = 0;
  private loggedWhy = '';

  constructor(options: PeerOptions) {
    this.options = options;
  }

  /** Without a connection: nothing is lost by forgetting this peer, save its back-off. */
  get connected(): boolean {
    return this.current !== null || this.retired.size > 0;
  }

  call(frame: Uint8Array, limitMs: number, done: FrameAnswered): void {
    if (!this.takes(frame.length)) {
      this.options.clock.soon(() => done(null));
      return;
    }
    this.current ??= this.dial();
    this.current.call(frame, limitMs, done);
  }

  /** Later calls go on a fresh connection; calls under way are finished on the old one. */
  renew(): void {
    const { current } = this;
    if (current?.ready !== true) {
      this.stale = current !== null;
      return;
    }
    this.current = null;
    this.retired.add(current);
    current.retire();
  }

  close(): void {
    for (const one of [this.current, ...this.retired]) one?.close('This member is stopping.');
  }

  private takes(frameBytes: number): boolean {
    const { log, address, frameBytesMax, waitingBytesMax, callCountMax, clock } = this.options;
    if (frameBytes > frameBytesMax) {
      log.error('A frame is too long for a peer.', {
        event: 'frame-too-long',
        peer: address,
        frameBytes,
        frameBytesMax,
      });
      return false;
    }
    const { current } = this;
    if (current === null) return clock.now() >= this.backoffUntilMs;
    const { waitingBytes, callCount } = current;
    // Something always fits an empty queue, however the two limits are set.
    const roomy = waitingBytes === 0 || waitingBytes + frameBytes <= waitingBytesMax;
    return roomy && callCount < callCountMax;
  }

  private dial(): Dialled {
    this.stale = false;
    const dialled: Dialled = new Dialled(this.options, {
      opened: (agreement) => this.opened(agreement),
      farewell: () => {
        if (dialled === this.current) this.renew();
      },
      ended: (why, reason) => this.ended(dialled, why, reason),
    });
    return dialled;
  }

  private opened({ protocol, release }: Agreement): void {
    const { log, address } = this.options;
    // After a logged failure the log also says when the peer could be reached again.
    const level = this.loggedWhy === '' ? 'debug' : 'info';
    log[level]('A peer is connected.', {
      event: 'peer-connected',
      peer: address,
      protocol,
      release,
    });
    this.failureCount = 0;
    this.loggedWhy = '';
    if (this.stale) this.renew();
  }

  private ended(dialled: Dialled, why: string, reason: PeerRefusalReason | null): void {
    if (this.retired.delete(dialled)) return;
    this.current = null;
    if (!dialled.ready) this.backOff();
    this.report(why, dialled.ready, reason);
  }

  private backOff(): void {
    const { clock, random, backoffMsMin, backoffMsMax } = this.options;
    const fullMs = Math.min(backoffMsMax, backoffMsMin * 2 ** this.failureCount);
    this.failureCount = Math.min(this.failureCount + 1, 30);
    this.backoffUntilMs = clock.now() + fullMs * (0.5 + random.unit() / 2);
  }

  /** Once for each new reason, not once for each attempt. */
  private report(why: string, wasReady: boolean, reason: PeerRefusalReason | null): void {
    const { log, refusals, address: peer } = this.options;
    // A peer that does not come to the point is not there rather than refused.
    if (reason !== null && reason !== 'slow') refusals.note({ reason, peer, why });
    else if (why !== this.loggedWhy) {
      if (wasReady)
        log.debug('A connection to a peer ended.', {
          event: 'peer-connection-ended',
          peer,
          reason: why,
        });
      else log.warn('A peer cannot be reached.', { event: 'peer-unreachable', peer, reason: why });
    }
    this.loggedWhy = why;
  }
}
