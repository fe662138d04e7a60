/**
 * Says in the log which receivers fail: one line for a receiver and minute, however many pops fail there. The first
 * failure is told at once; later ones are counted, and told with the next line. A receiver is an origin (scheme, host
 * and port): the rest of a uri may hold secrets. Counts the failures in a row too: a success ends the run.
 */
import type { Clock, Log, SplitUri } from '@carillon/core';

export interface Failure {
  readonly namespace: string;
  readonly split: SplitUri | null;
  /** Its class: `5xx`, refused and so on. */
  readonly failure: string;
  /** The words of the receiver, or ours. */
  readonly detail: string;
  /** The callback told of an event: events say nothing of its receiver. */
  readonly isEvent: boolean;
}

/** Failures of one receiver in a row. */
export interface FailingRun {
  readonly namespace: string;
  /** Its origin. */
  readonly receiver: string;
  /** Class of the newest one. */
  failure: string;
  count: number;
  /** When the first and the newest were, on the monotonic clock. */
  readonly sinceMs: number;
  newestMs: number;
}

interface Told {
  untilMs: number;
  /** Failures since the line before. */
  count: number;
}

const quietMs = 60_000;
/** Receivers whose last line is remembered. Of more, the ones told longest ago may be told again sooner. */
const receiverCountMax = 1000;
/** A run without a further failure for so long is forgotten: nothing is called there any more. */
const forgetMs = 86_400_000;

export class FailingReceivers {
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly told = new Map<string, Told>();
  private readonly runs = new Map<string, FailingRun>();
  private well: FailingRun[] = [];

  constructor(clock: Clock, log: Log) {
    this.clock = clock;
    this.log = log;
  }

  /** Receivers that have failed since their last success. */
  failing(): readonly FailingRun[] {
    const sinceMs = this.clock.now() - forgetMs;
    for (const [key, { newestMs }] of this.runs) if (newestMs < sinceMs) this.runs.delete(key);
    return [...this.runs.values()];
  }

  /** A callback was a success. Every pop comes here. */
  succeeded({ namespace, split }: Pick<Failure, 'namespace' | 'split'>): void {
    if (this.runs.size === 0 || split === null) return;
    const key = `${namespace} ${split.origin}`;
    const run = this.runs.get(key);
    if (run === undefined) return;
    this.runs.delete(key);
    if (this.well.length < receiverCountMax) this.well.push(run);
  }

  /** Runs that ended with a success since this was asked last. */
  takeWell(): readonly FailingRun[] {
    const { well } = this;
    this.well = [];
    return well;
  }

  note(failed: Failure): void {
    const { namespace, split, failure, detail, isEvent } = failed;
    const nowMs = this.clock.now();
    const receiver = split?.origin ?? 'a uri that cannot be called';
    const key = `${namespace} ${receiver}`;
    if (split !== null && !isEvent) this.count(key, failed, receiver, nowMs);
    const known = this.told.get(key);
    if (known !== undefined && nowMs < known.untilMs) {
      known.count++;
      return;
    }
    const count = 1 + (known?.count ?? 0);
    this.told.delete(key);
    this.told.set(key, { untilMs: nowMs + quietMs, count: 0 });
    this.forgetOldest();
    const said = detail === '' ? {} : { detail };
    this.log.warn('Callbacks to a receiver fail.', {
      event: 'receiver-failing',
      receiver,
      namespace,
      failure,
      count,
      ...said,
    });
  }

  private count(key: string, { namespace, failure }: Failure, receiver: string, nowMs: number) {
    const run = this.runs.get(key);
    if (run !== undefined) {
      run.failure = failure;
      run.count++;
      run.newestMs = nowMs;
      return;
    }
    if (this.runs.size >= receiverCountMax) return;
    const since = { namespace, receiver, failure, count: 1, sinceMs: nowMs, newestMs: nowMs };
    this.runs.set(key, since);
  }

  private forgetOldest(): void {
    if (this.told.size <= receiverCountMax) return;
    for (const oldest of this.told.keys()) {
      this.told.delete(oldest);
      return;
    }
  }
}
