/**
 * One lock as it should be, for `linearizable.ts`: at most one holder, and a token with each grant that is larger
 * than all before it. A loss is an end without a release: it lies somewhere after the last moment at which the holder
 * was told that its lock is valid.
 */
import type { Model } from './linearizable.ts';

export interface LockOperation {
  /** `check`: the holder was told that the lock is valid. `end`: released or lost. */
  readonly does: 'grant' | 'check' | 'end';
  readonly token: bigint;
}

interface LockState {
  readonly token: bigint;
  readonly held: boolean;
}

export const lockModel: Model<LockState, LockOperation> = {
  initial: { token: 0n, held: false },
  step({ token, held }, op) {
    if (op.does === 'grant') {
      return !held && op.token > token ? { token: op.token, held: true } : null;
    }
    if (!held || op.token !== token) return null;
    return op.does === 'check' ? { token, held } : { token, held: false };
  },
  name: ({ token, held }) => `${token}${held ? ' held' : ''}`,
};
