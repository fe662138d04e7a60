/**
 * One etcd lease, renewed every quarter of its TTL, and the only judge of whether it can still be
 * trusted. Used by `membership.ts`.
 *
 * L1  The lease is valid until `sent + TTL − margin`, where `sent` is when the last acknowledged renewal
 *     (or the grant) *left*: the server cannot have counted from earlier.
 * L2  Elapsed time is the larger of the monotonic and the forward wall clock, so that a suspended machine
 *     counts. A wall clock that steps back changes nothing, one that steps forward ends the lease early.
 * L3  Once over, it stays over: an acknowledgement that arrives late revives nothing. Nor does a wall clock that is set
 *     forward and back: the first caller that finds the time over has the end declared.
 */
import { type Cancel, type Clock, invariant, type Log, type Random } from '@carillon/core';
import { type Etcd, EtcdError } from './etcd/etcd.ts';

/** Why a lease, and with it every lock under it, can no longer be trusted. */
export type LeaseLoss =
  /** No renewal was acknowledged in time. */
  | 'cut-off'
  /** etcd says that it does not exist any more. */
  | 'lease-expired'
  /** The record that lived under the lease was deleted by another client of etcd. */
  | 'removed'
  /** Given back by its owner. */
  | 'closed';

export interface LeaseOptions {
  readonly etcd: Etcd;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Asked for; etcd may grant more. */
  readonly ttlMs: number;
  /** How long before the server could end it a lease counts as over. Default: `leaseMarginMs`. */
  readonly marginMs?: number | undefined;
  /** A key that may be read, for the proof of E4. */
  readonly proofKey: string;
  readonly onLost: (lease: Lease, reason: LeaseLoss) => void;
}

const retryMs = 60;
/** The grant is asked for with this much time; a cluster that elects a leader needs some of it. */
const grantLimitMs = 3000;

/** The larger of 300 ms and a tenth: room for timers that run late and clocks that run fast. */
export function leaseMarginMs(ttlMs: number): number {
  return Math.max(300, ttlMs / 10);
}

export class Lease {
  readonly id: bigint;
  private readonly options: LeaseOptions;
  private ttlMs: number;
  private sentMs: number;
  private sentWallMs: number;
  private lossSeen: LeaseLoss | null = null;
  /** A caller has been told that the time is over; it is declared in a moment. */
  private isOver = false;
  private cancelRenewal: Cancel = () => {};
  private cancelDeadline: Cancel = () => {};

  private constructor(options: LeaseOptions, granted: { id: bigint; ttlMs: number } & Sent) {
    this.options = options;
    this.id = granted.id;
    this.ttlMs = granted.ttlMs;
    this.sentMs = granted.sentMs;
    this.sentWallMs = granted.sentWallMs;
    this.arm();
  }

  static async grant(options: LeaseOptions): Promise<Lease> {
    const { etcd, clock, random } = options;
    const id = (BigInt(random.u32() >>> 1) << 32n) | BigInt(random.u32()) | 1n;
    const sent: Sent = { sentMs: clock.now(), sentWallMs: clock.wall() };
    try {
      const ttlMs = await etcd.grantLease(id, options.ttlMs, grantLimitMs);
      return new Lease(options, { id, ttlMs, ...sent });
    } catch (error) {
      // The grant may have happened: take it back, best effort. If this fails too, it ends by its TTL.
      if (error instanceof EtcdError && error.kind === 'no-answer') {
        etcd.revokeLease(id, grantLimitMs).catch(() => {});
      }
      throw error;
    }
  }

  /** Why it is over; null while it is not. */
  get loss(): LeaseLoss | null {
    return this.lossSeen;
  }

  /** How long it may still be trusted without another renewal; 0 or less: not at all. */
  remainingMs(): number {
    if (this.lossSeen !== null || this.isOver) return 0;
    const { clock } = this.options;
    const elapsedMs = Math.max(clock.now() - this.sentMs, clock.wall() - this.sentWallMs);
    const leftMs = this.ttlMs - this.marginMs() - elapsedMs;
    if (leftMs > 0) return leftMs;
    this.isOver = true;
    this.cancelDeadline();
    this.cancelDeadline = clock.at(clock.now(), () => this.checkDeadline());
    return 0;
  }

  /** Declares it over now, without telling etcd. */
  end(reason: LeaseLoss): void {
    if (this.lossSeen !== null) return;
    this.lossSeen = reason;
    this.cancelRenewal();
    this.cancelDeadline();
    const leftMs = this.remainingMs();
    invariant(leftMs <= 0, 'a lease that is over is not trusted');
    this.options.onLost(this, reason);
  }

  /** Ends it here and in etcd: every record under it goes in one revision. */
  async revoke(limitMs: number): Promise<void> {
    this.end('closed');
    await this.options.etcd.revokeLease(this.id, limitMs);
  }

  private marginMs(): number {
    return this.options.marginMs ?? leaseMarginMs(this.ttlMs);
  }

  private arm(): void {
    const { clock } = this.options;
    this.cancelRenewal();
    this.cancelRenewal = clock.at(this.sentMs + this.ttlMs / 4, () => this.renew());
    this.cancelDeadline();
    this.cancelDeadline = clock.at(clock.now() + this.remainingMs(), () => this.checkDeadline());
  }

  /** True when the time is over, which is then declared. */
  private checkDeadline(): boolean {
    if (this.lossSeen !== null) return true;
    if (this.remainingMs() > 0) return false;
    this.end('cut-off');
    return true;
  }

  private renew(): void {
    if (this.checkDeadline()) return;
    const { etcd, clock, proofKey } = this.options;
    const sent: Sent = { sentMs: clock.now(), sentWallMs: clock.wall() };
    etcd.keepAlive(this.id, proofKey, this.ttlMs / 4).then(
      (ttlMs) => this.onRenewed(sent, ttlMs),
      (error: unknown) => this.onRefused(error),
    );
  }

  private onRenewed(sent: Sent, ttlMs: number): void {
    if (this.checkDeadline()) return;
    invariant(this.lossSeen === null, 'a lease that is over stays over');
    this.sentMs = sent.sentMs;
    this.sentWallMs = sent.sentWallMs;
    this.ttlMs = ttlMs;
    this.arm();
  }

  private onRefused(error: unknown): void {
    if (this.checkDeadline()) return;
    if (error instanceof EtcdError && error.kind === 'lease-gone') {
      this.end('lease-expired');
      return;
    }
    const { clock, random, log } = this.options;
    log.debug('The renewal of a lease was not acknowledged.', {
      event: 'ring-renewal-failed',
      reason: String(error),
    });
    const waitMs = retryMs * (0.5 + random.unit());
    this.cancelRenewal = clock.at(clock.now() + waitMs, () => this.renew());
  }
}

interface Sent {
  readonly sentMs: number;
  readonly sentWallMs: number;
}
