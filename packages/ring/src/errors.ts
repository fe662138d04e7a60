/** The errors a user of the ring may meet and react to. */
import type { LeaseLoss } from './lease.ts';

/** The id is in use by a living member elsewhere. */
export class MemberTakenError extends Error {
  override readonly name = 'MemberTakenError';
  constructor(id: string) {
    super(`ring: member "${id}" is already there; every member needs an id of its own.`);
  }
}

/** The member was not added by this ring, or has been removed already. */
export class NotLocalError extends Error {
  override readonly name = 'NotLocalError';
  constructor(id: string) {
    super(`ring: member "${id}" was not added here; only the ring that added it can remove it.`);
  }
}

/** An argument of a call does not fit: an option that does not exist, a number that is none. */
export class RingUsageError extends TypeError {
  override readonly name = 'RingUsageError';
}

/**
 * The options of a ring do not fit, the prefix is in use with other settings, or etcd holds something that is not a
 * ring.
 */
export class RingConfigError extends Error {
  override readonly name = 'RingConfigError';
}

export class RingClosedError extends Error {
  override readonly name = 'RingClosedError';
  constructor() {
    super('ring: it has been closed.');
  }
}

/** Too many locks wait or are held; the ring protects its memory. */
export class RingFullError extends Error {
  override readonly name = 'RingFullError';
}

export class LockTimeoutError extends Error {
  override readonly name = 'LockTimeoutError';
  /** `hint`: the probable reason, as a sentence. */
  constructor(key: string, timeoutMs: number, hint = '') {
    const why = hint === '' ? '' : ` ${hint}`;
    super(`ring: the lock on "${key}" was not granted within ${timeoutMs} ms.${why}`);
  }
}

/** Why a lock can no longer be trusted. `rebalanced`: the key moved and the holder did not finish in time. */
export type LossReason = LeaseLoss | 'rebalanced';

export class LockLostError extends Error {
  override readonly name = 'LockLostError';
  readonly reason: LossReason | 'released' | 'too-short';
  constructor(key: string, reason: LossReason | 'released' | 'too-short') {
    super(
      `ring: the lock on "${key}" can no longer be trusted (${reason}); stop the work that it protects.`,
    );
    this.reason = reason;
  }
}
