/** Rules that hold for every pop of a member: its retry policy, its time limit, the room for dead letters, its ids. */
import type { Random, RetryPolicy, TimerRecord } from '@carillon/core';
import { DueTexts, type PopContext } from '../callback/request.ts';
import { passedOn } from '../timer/pop-trace.ts';
import type { Instant } from '../timer/schedule.ts';
import type { Circumstances } from './outcome/after-attempt.ts';
import type { Pop } from './pop.ts';

export interface PopRulesParts {
  readonly random: Random;
  /** The policy of timers that have none of their own. */
  readonly retry: RetryPolicy;
  /** The time limit of callbacks that have none of their own. */
  readonly callbackTimeoutMs: number;
  /** Whether the namespace can have no more dead letters: a pop that would become one stays due. */
  readonly isBoxFull: (namespace: string) => boolean;
  /** The timer's id as clients know it. */
  readonly idOf: (record: TimerRecord) => string;
}

export class PopRules {
  private readonly parts: PopRulesParts;
  private readonly dueTexts = new DueTexts();

  constructor(parts: PopRulesParts) {
    this.parts = parts;
  }

  /**
   * The circumstances by which the outcome of a pop is judged. `missed`: pops merged into it that are not delivered
   * yet.
   */
  circumstances(
    { record, startMs }: Pick<Pop, 'record' | 'startMs'>,
    missed: number,
    at: Instant,
  ): Circumstances {
    const { retry, random, idOf } = this.parts;
    const boxIsFull = this.parts.isBoxFull(record.namespace);
    return { at, startMs, missed, idOf, retry, random, boxIsFull };
  }

  /** The facts that the request of a pop is made of. */
  context({ record, definition, to, missed }: Pop, at: Instant): PopContext {
    const { idOf, callbackTimeoutMs: timeoutMs } = this.parts;
    const due = this.dueTexts.of(record, definition, at);
    const id = idOf(record);
    const trace = passedOn(record, definition, at.nowMs);
    return { record, definition, split: to.split, missed, id, timeoutMs, at, due, trace };
  }
}
