/**
 * Says in the log which receivers fail: one line for a receiver and minute, however many pops fail there. The first failure is
 * told at once; later ones are counted, and told with the next line. A receiver is an origin (scheme, host and port): the rest of
 * a uri may hold secrets.
 */
import type { Clock, Log, SplitUri } from '@carillon/core';

export interface Failure {
  readonly namespace: string;
  readonly split: SplitUri | null;
  /** Its class: `5xx`, refused and so on. */
  readonly failure: string;
  /** The words of the receiver, or ours. */
  readonly detail: string;
}

interface Told {
  untilMs: number;
  /** Failures since the line before. */
  count: number;
}

const quietMs = 60_000;
/** Receivers whose last line is remembered. Of more, the ones told longest ago may be told again sooner. */
const receiverCountMax = 1000;

export class FailingReceivers {
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly told = new Map<string, Told>();

  constructor(clock: Clock, log: Log) {
    this.clock = clock;
    this.log = log;
  }

  note({ namespace, split, failure, detail }: Failure): void {
    const nowMs = this.clock.now();
    const receiver = split?.origin ?? 'a uri that cannot be called';
    const key = `${namespace} ${receiver}`;
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
      receiver,
      namespace,
      failure,
      count,
      ...said,
    });
  }

  private forgetOldest(): void {
    if (this.told.size <= receiverCountMax) return;
    for (const oldest of this.told.keys()) {
      this.told.delete(oldest);
      return;
    }
  }
}
