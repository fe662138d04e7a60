/**
 * One member that this process runs: its lease, its record, and the way back after a loss. Made by
 * `membership.ts`; slots of the ring ask it whether they may be trusted.
 *
 * J1  The record exists only under the lease of the present incarnation; it is written by a transaction
 *     that requires its absence.
 * J2  After an unanswered join the lease is revoked first: a transaction that arrives late can then no
 *     longer write anything.
 * J3  `lost` is told before anything is deleted in etcd.
 */
import { type Cancel, type Clock, invariant, type Log, type Random, sleep } from '@carillon/core';
import { MemberTakenError } from './errors.ts';
import { type Change, type Etcd, EtcdError, type KeyValue } from './etcd/etcd.ts';
import { Lease, type LeaseLoss } from './lease.ts';
import { encodeMember, type MemberRecord, memberKey, memberRecord } from './member.ts';

export interface LocalMemberOptions {
  readonly etcd: Etcd;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly prefix: string;
  readonly ttlMs: number;
  readonly marginMs?: number | undefined;
}

/** The sight of a member's id in etcd. */
export interface IdWatch {
  /** Whether a record is there under the id. */
  readonly isTaken: () => boolean;
  /** Whether changes are told as they happen. */
  readonly isConnected: () => boolean;
}

export interface LocalMemberHooks {
  /** The record stands. Joining is complete when the returned promise settles. */
  onJoined(member: LocalMember): Promise<void>;
  onLost(member: LocalMember, reason: LeaseLoss): void;
  onError(error: Error): void;
}

const callLimitMs = 2000;
const updateLimitMs = 10_000;
const revokeLimitMs = 2000;
const joinPauseMs = 50;
const rejoinMsMin = 50;
const rejoinMsMax = 1000;

export class LocalMember {
  readonly id: string;
  readonly key: string;
  private readonly options: LocalMemberOptions;
  private readonly hooks: LocalMemberHooks;
  private recordNow: MemberRecord;
  private lease: Lease | null = null;
  private incarnationNow = 0;
  private modRevision = 0;
  private leaving = false;
  private takenTold = false;
  private cancelRejoin: Cancel = () => {};
  private updates: Promise<void> = Promise.resolve();

  constructor(record: MemberRecord, options: LocalMemberOptions, hooks: LocalMemberHooks) {
    this.id = record.id;
    this.key = memberKey(options.prefix, record.id);
    this.recordNow = record;
    this.options = options;
    this.hooks = hooks;
  }

  /** The revision that created the present record; 0 while there is none to be trusted. */
  get incarnation(): number {
    return this.lease !== null && this.lease.loss === null ? this.incarnationNow : 0;
  }

  get leaseId(): bigint {
    return this.lease?.id ?? 0n;
  }

  /** How long this member may be trusted without another answer of etcd; 0 or less: not now. */
  remainingMs(): number {
    return this.lease === null || this.incarnationNow === 0 ? 0 : this.lease.remainingMs();
  }

  /**
   * Joins, waiting up to `waitMs` for an older holder of the id to go. An etcd that was away lets all leases begin
   * anew, so the wait does too.
   */
  async join(waitMs: number, watch: IdWatch): Promise<void> {
    const { clock } = this.options;
    let untilMs = clock.now() + waitMs;
    let wasConnected = true;
    const pause = async (): Promise<void> => {
      await sleep(clock, joinPauseMs);
      const isConnected = watch.isConnected();
      if (isConnected && !wasConnected) untilMs = clock.now() + waitMs;
      wasConnected = isConnected;
    };
    for (;;) {
      // Looking costs nothing; trying costs a lease.
      while (watch.isTaken() && clock.now() < untilMs && !this.leaving) await pause();
      try {
        await this.tryJoin();
        return;
      } catch (error) {
        // Where etcd answers before it is watched again, it has just come back.
        const isWaiting = clock.now() < untilMs || !watch.isConnected();
        if (!(error instanceof MemberTakenError) || !isWaiting || this.leaving) throw error;
        await pause();
      }
    }
  }

  /** Changes the own record; resolves when etcd has it. */
  update(change: Partial<Omit<MemberRecord, 'id'>>): Promise<void> {
    this.recordNow = memberRecord(this.id, { ...this.recordNow, ...change });
    // Updates are written one after the other, so that the last call wins.
    this.updates = this.updates.catch(() => {}).then(() => this.writeRecord());
    return this.updates;
  }

  /** Gives the lease back: record and slots go in one revision. Resolves also when etcd cannot be reached. */
  async leave(): Promise<void> {
    this.leaving = true;
    this.cancelRejoin();
    const { lease } = this;
    if (lease === null) return;
    await lease.revoke(revokeLimitMs).catch((error: unknown) => {
      this.options.log.warn('A lease could not be given back to etcd; it ends by itself.', {
        event: 'ring-lease-kept',
        member: this.id,
        reason: String(error),
      });
    });
  }

  /** Told by the owner of the mirror: the own key changed. Anything but the own writing is a loss. */
  onChange(change: Change): void {
    if (this.incarnation === 0) return;
    if (change.kind === 'delete') {
      if (change.revision > this.incarnationNow) this.lease?.end('removed');
    } else if (change.entry.modRevision >= this.incarnationNow && !this.isMine(change.entry)) {
      this.lease?.end('removed');
    }
  }

  /** A transaction that required the own record failed: takes in the record that was found in its place. */
  verify(incarnation: number, seen: { entry: KeyValue | null; revision: number } | null): void {
    if (seen === null || incarnation !== this.incarnation) return;
    const { entry, revision } = seen;
    if (entry === null) this.onChange({ kind: 'delete', key: this.key, revision });
    else this.onChange({ kind: 'put', entry });
  }

  private isMine(entry: KeyValue): boolean {
    return entry.createRevision === this.incarnationNow && entry.lease === this.leaseId;
  }

  private async tryJoin(): Promise<void> {
    const lease = await this.grant();
    let written: KeyValue | null;
    try {
      written = await this.writeFirst(lease);
    } catch (error) {
      lease.end('closed');
      this.giveBack(lease);
      throw error;
    }
    if (written === null || written.lease !== lease.id) {
      lease.end('closed');
      this.giveBack(lease);
      throw new MemberTakenError(this.id);
    }
    // The time may have run out, or the member left, while the answers were on their way.
    if (this.leaving || lease.remainingMs() <= 0) {
      await lease.revoke(revokeLimitMs).catch(() => {});
      throw new EtcdError('no-answer', `ring: joining as "${this.id}" took too long.`);
    }
    invariant(this.incarnation === 0, 'a member has one lease that can be trusted');
    this.lease = lease;
    this.incarnationNow = written.createRevision;
    this.modRevision = written.modRevision;
    this.takenTold = false;
    await this.hooks.onJoined(this);
  }

  private grant(): Promise<Lease> {
    const { etcd, clock, random, log, ttlMs, marginMs } = this.options;
    return Lease.grant({
      etcd,
      clock,
      random,
      log,
      ttlMs,
      marginMs,
      proofKey: this.key,
      onLost: (lease, reason) => this.onLeaseLost(lease, reason),
    });
  }

  /** The record under the own key after trying to be the first to write it. */
  private async writeFirst(lease: Lease): Promise<KeyValue | null> {
    const { etcd } = this.options;
    const value = encodeMember(this.recordNow);
    const { succeeded, revision, found } = await etcd.txn(
      {
        when: [{ key: this.key, createRevision: 0 }],
        success: [{ put: this.key, value, lease: lease.id }],
        failure: [{ get: this.key }],
      },
      callLimitMs,
    );
    if (!succeeded) return found[0] ?? null;
    return {
      key: this.key,
      value,
      createRevision: revision,
      modRevision: revision,
      lease: lease.id,
    };
  }

  private onLeaseLost(lease: Lease, reason: LeaseLoss): void {
    if (lease !== this.lease) return;
    this.incarnationNow = 0;
    this.hooks.onLost(this, reason);
    if (this.leaving) return;
    this.giveBack(lease);
    this.scheduleRejoin(rejoinMsMin);
  }

  private giveBack(lease: Lease): void {
    this.options.etcd.revokeLease(lease.id, revokeLimitMs).catch(() => {
      // A lease that could not be revoked ends by its TTL.
    });
  }

  private scheduleRejoin(waitMs: number): void {
    const { clock, random } = this.options;
    const atMs = clock.now() + waitMs * (0.5 + random.unit() / 2);
    this.cancelRejoin = clock.at(atMs, () => {
      this.tryJoin().catch((error: unknown) => this.onRejoinFailed(error, waitMs));
    });
  }

  private onRejoinFailed(error: unknown, waitedMs: number): void {
    if (this.leaving) return;
    if (error instanceof MemberTakenError && !this.takenTold && waitedMs >= rejoinMsMax) {
      this.takenTold = true;
      this.hooks.onError(error);
    }
    this.options.log.debug('A member could not rejoin its ring.', {
      event: 'ring-rejoin-failed',
      member: this.id,
      reason: String(error),
    });
    this.scheduleRejoin(Math.min(waitedMs * 2, rejoinMsMax));
  }

  /** Writes the present record over the own one. After a lost answer it looks before it writes again. */
  private async writeRecord(): Promise<void> {
    const { etcd, clock } = this.options;
    const untilMs = clock.now() + updateLimitMs;
    while (this.incarnation !== 0) {
      const { key } = this;
      const value = encodeMember(this.recordNow);
      try {
        const answer = await etcd.txn(
          {
            when: [{ key, modRevision: this.modRevision }],
            success: [{ put: key, value, lease: this.leaseId }],
            failure: [{ get: key }],
          },
          callLimitMs,
        );
        const found = answer.found[0] ?? null;
        if (answer.succeeded) this.modRevision = answer.revision;
        else if (found !== null && this.isMine(found)) this.modRevision = found.modRevision;
        if (answer.succeeded || found?.value === value) return;
        // Not ours any more: the watch will tell. Ours but older: write again.
        if (found === null || !this.isMine(found)) return;
      } catch (error) {
        if (clock.now() >= untilMs) throw error;
        await sleep(clock, 100);
      }
    }
    // Without a record the next join writes the new content.
  }
}
