/**
 * The newest callback attempts of this member, timer by timer, to be read through the API. In memory only and bounded:
 * the attempts of a timer are forgotten when so many others were tried after it. Nothing depends on them; the cluster
 * itself goes by `record.outcome`.
 */
import type { TimerRecord } from '@carillon/core';
import type { Attempt } from '../../timer/attempt.ts';
import type { Detail } from '../../replication/wire/answer.ts';
import type { Numbered } from '../../replication/wire/parts.ts';
import { noText, RecentTexts } from '../failures/recent-texts.ts';

export interface AttemptHistoryLimits {
  readonly attemptCountMax: number;
  readonly timerCountMax: number;
}

/** An attempt without its detail, which is kept under a number among the recent texts. */
export interface BareAttempt extends Omit<Attempt, 'detail'> {
  detailAt: number;
}

interface Remembered {
  readonly key: number;
  readonly hi: number;
  readonly lo: number;
  readonly namespace: string;
  /** Oldest first. */
  readonly attempts: BareAttempt[];
  /** Tried again since the hand last passed: it stays for another round. */
  again: boolean;
}

/** Details of so many failed attempts are remembered: 8 MiB at the most. */
const detailCountMax = 16_384;

export class History {
  private readonly limits: AttemptHistoryLimits;
  private readonly timers = new Map<number, Remembered>();
  /** The same timers in a circle, for the hand to pick the next to forget: a Map finds its first entry ever slower. */
  private readonly circle: Remembered[] = [];
  private hand = 0;
  private readonly details = new RecentTexts(detailCountMax);

  constructor(limits: AttemptHistoryLimits) {
    this.limits = limits;
  }

  add(record: TimerRecord, attempt: BareAttempt, detail: string): void {
    const { attemptCountMax } = this.limits;
    if (attemptCountMax === 0) return;
    const { namespace, hi, lo } = record;
    attempt.detailAt = this.details.add(detail);
    const known = this.find(namespace, hi, lo);
    if (known === undefined) {
      const key = keyOf(hi, lo);
      return this.begin({ key, hi, lo, namespace, attempts: [attempt], again: false });
    }
    known.again = true;
    if (known.attempts.push(attempt) > attemptCountMax) known.attempts.shift();
  }

  /** The attempts at a timer's pops, oldest first. A timer of another namespace has none. */
  of(namespace: string, hi: number, lo: number): readonly Attempt[] {
    const attempts = this.find(namespace, hi, lo)?.attempts ?? [];
    return attempts.map(({ detailAt, ...attempt }) => ({
      ...attempt,
      detail: this.details.of(detailAt),
    }));
  }

  /** The details of the newest attempts at these timers, in their order. */
  newest(namespace: string, numbers: readonly Numbered[]): readonly Detail[] {
    return numbers.map(({ hi, lo }) => {
      const attempt = this.find(namespace, hi, lo)?.attempts.at(-1);
      if (attempt === undefined) return { atMs: 0, text: '' };
      return { atMs: attempt.atMs, text: this.details.of(attempt.detailAt) };
    });
  }

  /** Forgets the words of a namespace's receivers. */
  erase(namespace: string): void {
    for (const timer of this.timers.values()) {
      if (timer.namespace !== namespace) continue;
      for (const attempt of timer.attempts) attempt.detailAt = noText;
    }
  }

  private find(namespace: string, hi: number, lo: number): Remembered | undefined {
    const found = this.timers.get(keyOf(hi, lo));
    const same = found?.lo === lo && found.hi === hi && found.namespace === namespace;
    return same ? found : undefined;
  }

  private begin(timer: Remembered): void {
    const { circle } = this;
    this.timers.set(timer.key, timer);
    if (circle.length < this.limits.timerCountMax) {
      circle.push(timer);
      return;
    }
    let oldest = circle[this.hand] as Remembered;
    while (oldest.again) {
      oldest.again = false;
      this.hand = (this.hand + 1) % circle.length;
      oldest = circle[this.hand] as Remembered;
    }
    if (this.timers.get(oldest.key) === oldest) this.timers.delete(oldest.key);
    circle[this.hand] = timer;
    this.hand = (this.hand + 1) % circle.length;
  }
}

/** A small whole number, which a Map finds sooner than a text. Two timers with the same key displace each other. */
function keyOf(hi: number, lo: number): number {
  return Math.imul(Math.imul(hi, 0x9e3779b1) ^ lo, 0x85ebca6b) >>> 2;
}
