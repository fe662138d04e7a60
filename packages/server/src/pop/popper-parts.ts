/** What the popper needs from the rest of the member; `member.ts` puts it together. */
import type { Clock, Random, RetryPolicy, TimerRecord } from '@carillon/core';
import type { Metrics } from '../metrics/metrics.ts';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Instant } from '../timer/schedule.ts';
import type { Store } from '../store/store.ts';
import type { History } from './history.ts';
import type { Batches } from './batches.ts';

export interface PopperParts {
  readonly self: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly replica: Replica;
  /** null: alone. */
  readonly peers: Pick<Peers, 'send' | 'silent'> | null;
  readonly metrics: Metrics;
  readonly history: History;
  /** Pops in memory at once; what else is due waits in the wheel. */
  readonly activeCountMax: number;
  readonly batches: Pick<Batches, 'call' | 'waitMs'>;
  readonly callbackTimeoutMs: number;
  readonly retry: RetryPolicy;
  /** Both clocks at once, the wall clock corrected by what peers say. */
  readonly instant: () => Instant;
  /** No more dead letters of this namespace: what would become one stays due. */
  readonly isBoxFull: (namespace: string) => boolean;
  /** The other members to ask before a pop; `widely`: also those that may have stood in for this one. */
  readonly othersOf: (record: TimerRecord, widely: boolean) => readonly string[];
  readonly idOf: (record: TimerRecord) => string;
  /** Sends a new state of a record to its other replicas. */
  readonly tell: (record: TimerRecord) => void;
  /** Finds replicas for a new record and stores it there; false when none confirmed. */
  readonly keep: (record: TimerRecord, done: (kept: boolean) => void) => void;
  /**
   * The pop may have been made by others, or its timer may have ended long ago: wait until that is known. `slept`: it
   * fell due while this member did not run. `stale`: or so soon after that others may not have told yet what they know.
   */
  readonly holds: (handle: number, slept: boolean, stale: boolean) => boolean;
  /** A tombstone's or dead letter's time is over. */
  readonly onEnd: (record: TimerRecord) => void;
}
