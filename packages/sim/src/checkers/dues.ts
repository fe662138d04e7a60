/**
 * When the pops of an operation are due on true time: between which moments, since an observer cannot know when
 * exactly a request acted, nor by which member's clocks. Shared by the checkers.
 *
 * An interval is measured on monotonic clocks; each checker adds their drift. An instant or a cron pattern is read
 * off wall clocks: each moment is uncertain by as much as any wall clock of the run may be off (at the beginning, by
 * drift, by all the steps it was set by). A cron pattern goes from one time to the next by the clock of the member
 * that popped. Where two clocks may be half a period apart, it is undecidable which of two times a moment stands for:
 * then one may be left out, or come twice, and only the first pop has a bound below. No clock excuses anything else.
 */
import { earliestMs, firstSentMs, type Operation, type TimerWish } from '../history.ts';
import type { Judge } from '../judge.ts';
import { instantMs, untilMs, type WallTiming } from '../wall-timing.ts';

/** Wall clocks are read in whole milliseconds. */
const readMs = 1;

type Cron = Extract<WallTiming, { kind: 'cron' }>;

export class Dues {
  /** How far any wall clock may be off. */
  readonly offMs: number;

  constructor({ plan }: Judge) {
    const ppm = Math.max(...plan.members.map(({ clock }) => Math.abs(clock.driftPpm)));
    const wrong = Math.max(...plan.members.map(({ clock }) => Math.abs(clock.wallOffsetMs)));
    const steps = plan.faults.map((fault) => (fault.kind === 'step' ? Math.abs(fault.byMs) : 0));
    const stepped = steps.reduce((sum, ms) => sum + ms, 0);
    this.offMs = wrong + stepped + (plan.minutes * 60_000 * ppm) / 1e6;
  }

  /**
   * No clock that is right within its bounds lets the pop begin before this; drift of monotonic clocks is not included.
   */
  notBeforeMs(operation: Operation, sequence: number): number {
    const { wish, fromMs } = this.first(operation);
    const { wall, intervalMs } = wish;
    if (wall === undefined) return fromMs + sequence * intervalMs;
    if (wall.kind === 'at') return Math.max(fromMs, this.instantMs(operation) - this.offMs);
    const times = this.isVague(wish) ? 1 : sequence;
    const dueMs = (Math.floor((fromMs - this.offMs) / intervalMs) + times) * intervalMs;
    return Math.max(fromMs, dueMs - this.offMs);
  }

  /** The moment by which the pop of an acknowledged operation is due by all clocks. */
  dueByMs(operation: Operation, sequence: number): number {
    const { wish, byMs } = this.last(operation);
    const { wall, intervalMs } = wish;
    if (wall === undefined) return byMs + sequence * intervalMs;
    const lateMs = this.offMs + readMs;
    if (wall.kind === 'at') return Math.max(byMs, this.instantMs(operation) + lateMs);
    const times = this.isVague(wish) ? 2 * sequence : sequence;
    return (Math.floor((byMs + this.offMs) / intervalMs) + times) * intervalMs + lateMs;
  }

  /** The least number of pops of an acknowledged operation. */
  countMin(operation: Operation): number {
    const { wish, byMs } = this.last(operation);
    const cron = untilCron(wish);
    if (cron === null) return wish.count;
    const times = this.timesAfter(operation, byMs + this.offMs);
    return this.isVague(wish) ? Math.min(1, times) : Math.max(0, times);
  }

  /** The largest number of pops of an operation. */
  countMax(operation: Operation): number {
    const { wish, fromMs } = this.first(operation);
    if (untilCron(wish) === null) return wish.count;
    if (this.isVague(wish)) return Number.POSITIVE_INFINITY;
    return this.timesAfter(operation, fromMs - this.offMs);
  }

  /** The moment until which the timer surely lives, by all clocks. */
  livesUntilMs(operation: Operation): number {
    const { wish } = this.first(operation);
    if (untilCron(wish) === null) return this.notBeforeMs(operation, wish.count);
    const { intervalMs } = wish;
    return Math.floor(this.untilMs(operation) / intervalMs) * intervalMs - this.offMs;
  }

  /** The time between a pop and the one before, or the set: at most. */
  gapMsMax(operation: Operation, sequence: number): number {
    const { wish, fromMs } = this.first(operation);
    if (wish.wall === undefined) return wish.intervalMs;
    if (sequence > 1) return wish.intervalMs + 2 * this.offMs;
    return this.dueByMs(operation, 1) - fromMs + this.offMs;
  }

  /** At least. */
  gapMsMin(operation: Operation, sequence: number): number {
    const { wish, ackMs } = operation;
    if (wish === null) return 0;
    if (wish.wall === undefined) return wish.intervalMs;
    if (sequence > 1) return Math.max(0, wish.intervalMs - 2 * this.offMs);
    return ackMs === null ? 0 : Math.max(0, this.notBeforeMs(operation, 1) - ackMs);
  }

  /** Whether no pop is due so shortly before or after this moment, whichever attempt of the client set the time. */
  isQuiet(operation: Operation, atMs: number, aroundMs: number): boolean {
    const { wish, byMs } = this.last(operation);
    const { wall, intervalMs } = wish;
    if (wall?.kind === 'at') return this.notBeforeMs(operation, 1) > atMs + aroundMs;
    const marginMs = aroundMs + (wall === undefined ? 0 : this.offMs);
    const spans = wall === undefined ? startsMs(operation, byMs) : [[0, 0] as const];
    return spans.every(([fromMs, toMs]) => {
      const sinceMs = (atMs - toMs) % intervalMs;
      return sinceMs >= marginMs && sinceMs + toMs - fromMs <= intervalMs - marginMs;
    });
  }

  private isVague({ wall, intervalMs }: TimerWish): boolean {
    return wall?.kind === 'cron' && 2 * this.offMs >= intervalMs / 2;
  }

  private timesAfter(operation: Operation, afterMs: number): number {
    const { intervalMs } = wished(operation);
    return Math.floor(this.untilMs(operation) / intervalMs) - Math.floor(afterMs / intervalMs);
  }

  private untilMs(operation: Operation): number {
    const wish = wished(operation);
    const wall = untilCron(wish);
    return wall === null
      ? Number.POSITIVE_INFINITY
      : untilMs({ ...wish, wall }, firstSentMs(operation));
  }

  private instantMs(operation: Operation): number {
    const { wall, intervalMs } = wished(operation);
    return wall?.kind === 'at'
      ? instantMs(intervalMs, wall, firstSentMs(operation))
      : Number.POSITIVE_INFINITY;
  }

  private first(operation: Operation): { wish: TimerWish; fromMs: number } {
    return { wish: wished(operation), fromMs: earliestMs(operation) };
  }

  private last(operation: Operation): { wish: TimerWish; byMs: number } {
    return { wish: wished(operation), byMs: operation.ackMs ?? Number.POSITIVE_INFINITY };
  }
}

/** When each attempt can have set the time: between its arrival and its answer. */
function startsMs({ attempts }: Operation, byMs: number): (readonly [number, number])[] {
  return attempts.flatMap(({ arrivedMs, settledMs }) =>
    arrivedMs === null ? [] : [[arrivedMs, Math.min(settledMs ?? byMs, byMs)] as const],
  );
}

function wished({ wish }: Operation): TimerWish {
  if (wish === null) throw new Error('A cancel has no pops.');
  return wish;
}

function untilCron({ wall }: TimerWish): Cron | null {
  return wall?.kind === 'cron' && wall.ends === 'until' ? wall : null;
}
