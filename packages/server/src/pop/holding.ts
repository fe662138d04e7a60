/**
 * Pops that were looked at ahead of their time wait here for it, with their claims granted. The time between is short
 * (`lookMs` in `schedule.ts`), and the claim holds for much longer.
 *
 * Example: a pop is due at 20.022 s. Its record is looked at at 20.010 s, the other replica grants the claim at 20.013
 * s, and at 20.022 s the request leaves, after messages that have come by then are read. If the member stood still
 * until 21.000 s, the other replica is asked again.
 */
import type { Clock } from '@carillon/core';
import { aheadMsMax } from '../timer/schedule.ts';
import type { Awake } from './awake.ts';
import type { Pop } from './pop.ts';
import type { Readiness } from './readiness.ts';

export interface HoldingParts {
  readonly clock: Clock;
  readonly awake: Awake;
  readonly readiness: Pick<Readiness, 'startMs'>;
}

/**
 * `due`: the request may leave. `slept`: the same, but this member stood still meanwhile, and the others are to be
 * asked again. `away`: the wall clock was set back, and the pop is not due for a while.
 */
export type Held = 'due' | 'slept' | 'away';

export class Holding {
  private readonly parts: HoldingParts;

  constructor(parts: HoldingParts) {
    this.parts = parts;
  }

  /** Calls `done` once: now, or when the time of the pop has come. */
  hold(pop: Pop, done: (pop: Pop, held: Held) => void): void {
    const { clock, awake, readiness } = this.parts;
    const startMs = readiness.startMs(pop);
    const waitMs = startMs - clock.now();
    if (waitMs <= 0) return done(pop, 'due');
    if (waitMs > aheadMsMax) return done(pop, 'away');
    clock.at(startMs, () => {
      const nowMs = clock.now();
      awake.rang(startMs, nowMs);
      // Messages that have arrived are read first: a cancel may be among them.
      clock.soon(() => (awake.sinceMs < nowMs ? this.hold(pop, done) : done(pop, 'slept')));
    });
  }
}
