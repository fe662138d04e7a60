/** Puts the parts of a popper together. The only file that knows them all. */
import type { Env, RetryPolicy, TimerRecord } from '@carillon/core';
import type { Notes } from '../history/entry.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import type { Store } from '../store/store.ts';
import type { PopTracer } from '../telemetry/pop-tracer.ts';
import type { Instant } from '../timer/schedule.ts';
import { ActivePops } from './active-pops.ts';
import { Alarm } from './alarm.ts';
import { Attempts } from './attempts.ts';
import { Awake } from './awake.ts';
import type { Batches } from './sending/batches.ts';
import { Claiming } from './claiming.ts';
import type { FailingReceivers } from './failures/failing-receivers.ts';
import { Granting } from './granting.ts';
import { Holding } from './holding.ts';
import type { History } from './outcome/history.ts';
import type { Pop } from './pop.ts';
import type { PopAction, PopEvent } from './pop-phase.ts';
import { PopRules } from './pop-rules.ts';
import { Popper } from './popper.ts';
import { Readiness } from './readiness.ts';

/** The parts of the rest of the member that pops need. */
export interface PoppingParts {
  readonly self: string;
  readonly env: Pick<Env, 'clock' | 'random'>;
  readonly store: Store;
  readonly replica: Replica;
  readonly cluster: PopCluster;
  readonly metrics: Metrics;
  readonly history: History;
  /** null: no history is kept on disk. */
  readonly historyLog: Notes | null;
  readonly batches: Pick<Batches, 'addresseeOf' | 'call' | 'delayedUntilMs' | 'waitMs'>;
  readonly limits: PopLimits;
  /** Whether the namespace can have no more dead letters: a pop that would become one stays due. */
  readonly isBoxFull: (namespace: string) => boolean;
  /** Whether the first bytes of the answers of failing receivers are kept for this namespace. */
  readonly keepsAnswers: (namespace: string) => boolean;
  /** Receivers that fail. */
  readonly failing: FailingReceivers;
  /** A letter is safe: raises the events that are wanted about it; `done` once they are safe too, or cannot be. */
  readonly announce: (letter: TimerRecord, done: () => void) => void;
  /** null: nothing is recorded. */
  readonly tracer: PopTracer | null;
}

export interface PopLimits {
  /** Pops in memory at once; other records that are due wait in the wheel. */
  readonly activeCountMax: number;
  /** The time limit of callbacks that have none of their own. */
  readonly callbackTimeoutMs: number;
  /** The policy of timers that have none of their own. */
  readonly retry: RetryPolicy;
}

/** The other members, as pops see them. */
export interface PopCluster {
  /** null: alone. */
  readonly peers: Pick<Peers, 'send' | 'silent' | 'stillSinceMs'> | null;
  /** Both clocks at once, the wall clock corrected by the clocks of peers. */
  instant(): Instant;
  /** The timer's id as clients know it. */
  idOf(record: TimerRecord): string;
  /** The number under which members keep a timer that clients know by this id; null: it is no id. */
  numberOf(namespace: string, id: string): Numbered | null;
  /** The members to ask before a pop; `widely`: also members that may have stood in for this one. */
  othersOf(record: TimerRecord, widely: boolean): readonly string[];
  /**
   * The pop may have been made by others, or its timer may have ended long ago: wait until that is known. `slept`: it
   * fell due while this member did not run. `stale`: or so soon after that others may not have told their news yet.
   */
  holds(handle: number, slept: boolean, stale: boolean): boolean;
  /** Sends a new state of a record to its other replicas, and to members that have it though they are not listed. */
  tell(record: TimerRecord, unlisted: readonly string[]): void;
  /** Finds replicas for a new record and stores it there; false when none confirmed. */
  keep(record: TimerRecord, done: (kept: boolean) => void): void;
  /** The time of a tombstone or dead letter is over. */
  end(record: TimerRecord): void;
}

export function createPopper(parts: PoppingParts): Popper {
  const { self, store, replica, cluster, metrics, history, batches, isBoxFull } = parts;
  const { clock, random } = parts.env;
  const { activeCountMax, callbackTimeoutMs, retry } = parts.limits;
  const instant = () => cluster.instant();
  const idOf = (record: TimerRecord) => cluster.idOf(record);
  const happens = (pop: Pop, event: PopEvent): PopAction => popper.happens(pop, event);
  const again = (handle: number, afterMs: number) => alarm.again(handle, afterMs);
  const pops = new ActivePops();
  const awake = new Awake(clock.now(), (record) => replica.alarm(record));
  const rules = new PopRules({ random, retry, callbackTimeoutMs, isBoxFull, idOf });
  const alarm = new Alarm({
    clock,
    store,
    awake,
    activeCount: () => pops.size,
    activeCountMax,
    due: (handle) => popper.due(handle),
  });
  const yields = (pop: Pop) => void popper.happens(pop, 'yield');
  const onArmed = () => alarm.adjust();
  const granting = new Granting({ self, clock, store, replica, pops, awake, yields, onArmed });
  const { peers } = cluster;
  const othersOf: PopCluster['othersOf'] = (record, widely) => cluster.othersOf(record, widely);
  const claimantOf = (handle: number) => granting.claimantOf(handle);
  const clocks = { clock, awake };
  const asking = { self, store, replica, peers, metrics, othersOf, claimantOf, happens, again };
  const claiming = new Claiming(random.u32(), { ...clocks, ...asking });
  const holds: PopCluster['holds'] = (handle, slept, stale) => cluster.holds(handle, slept, stale);
  const readiness = new Readiness({ clock, awake, granting, batches, rules, instant, holds });
  const attempts = new Attempts({
    clock,
    replica,
    metrics,
    batches,
    history,
    historyLog: parts.historyLog,
    numberOf: (namespace, id) => cluster.numberOf(namespace, id),
    failing: parts.failing,
    announce: parts.announce,
    tracer: parts.tracer,
    keepsAnswers: parts.keepsAnswers,
    rules,
    instant,
    tell: (record, unlisted) => cluster.tell(record, unlisted),
    keep: (record, done) => cluster.keep(record, done),
    happens,
    again,
  });
  const onEnd = (record: TimerRecord) => cluster.end(record);
  const holding = new Holding({ clock, awake, readiness });
  const steps = { alarm, readiness, claiming, granting, holding, batches, attempts };
  const popper: Popper = new Popper({ store, pops, ...steps, onEnd });
  return popper;
}
