/**
 * How late the event loop comes around, measured once a second: the difference between the moment that an alarm was
 * asked for and the moment in which it rang. Nothing else writes `carillon_event_loop_lag_seconds`.
 *
 * Example: the alarm is due at 7.000 s, a batch is parsed from 6.950 s until 7.120 s, and the lag is 120 ms.
 */
import { type Cancel, type Clock, nextRoundMs } from '@carillon/core';
import type { Histogram } from './prometheus.ts';

const everyMs = 1000;

export class LagProbe {
  private readonly lag: Histogram;
  /** The newest measurement; 0 before the first. */
  newestMs = 0;

  constructor(lag: Histogram) {
    this.lag = lag;
  }

  start(clock: Clock): Cancel {
    let cancel: Cancel = () => {};
    const next = (): void => {
      const dueMs = nextRoundMs(clock, everyMs);
      cancel = clock.at(dueMs, () => {
        this.newestMs = clock.now() - dueMs;
        this.lag.observe(this.newestMs);
        next();
      });
    };
    next();
    return () => cancel();
  }
}
