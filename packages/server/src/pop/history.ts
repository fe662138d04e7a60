/**
 * The newest callback attempts of this member, timer by timer, for whoever asks what became of a pop. In memory only
 * and bounded: what is remembered of a timer goes when so many others were tried after it. Nothing depends on it;
 * `record.outcome` is what the cluster itself goes by.
 */
import type { TimerRecord } from '@carillon/core';

export interface Attempt {
  /** Of the pop it belongs to: what the receiver is told as X-Sequence-Number. */
  readonly sequence: number;
  /** Of this pop, from 1. */
  readonly attempt: number;
  /** Wall-clock milliseconds when the callback began. */
  readonly atMs: number;
  /** From the due time of the pop until then. */
  readonly latenessMs: number;
  /** From then until the answer, or until it was given up. */
  readonly tookMs: number;
  /** As in records: an HTTP status, or the code of a reason. */
  readonly outcome: number;
}

export interface HistoryLimits {
  readonly attemptCountMax: number;
  readonly timerCountMax: number;
}

interface Remembered {
  readonly namespace: string;
  /** Oldest first. */
  readonly attempts: Attempt[];
}

export class History {
  private readonly limits: HistoryLimits;
  /** Those tried longest ago first. */
  private readonly timers = new Map<string, Remembered>();

  constructor(limits: HistoryLimits) {
    this.limits = limits;
  }

  get timerCount(): number {
    return this.timers.size;
  }

  add(record: TimerRecord, attempt: Attempt): void {
    const { attemptCountMax, timerCountMax } = this.limits;
    if (attemptCountMax === 0) return;
    const key = keyOf(record.hi, record.lo);
    const { namespace } = record;
    const known = this.timers.get(key);
    const kept = known?.namespace === namespace ? known : { namespace, attempts: [] };
    if (kept.attempts.push(attempt) > attemptCountMax) kept.attempts.shift();
    this.timers.delete(key);
    this.timers.set(key, kept);
    if (this.timers.size <= timerCountMax) return;
    const [oldest] = this.timers.keys();
    if (oldest !== undefined) this.timers.delete(oldest);
  }

  /** Oldest first. A timer of another namespace has none. */
  of(namespace: string, hi: number, lo: number): readonly Attempt[] {
    const known = this.timers.get(keyOf(hi, lo));
    return known?.namespace === namespace ? known.attempts : [];
  }
}

function keyOf(hi: number, lo: number): string {
  return `${hi}.${lo}`;
}
