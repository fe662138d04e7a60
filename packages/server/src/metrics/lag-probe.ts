/**
 * How late the event loop comes around, measured once a second: the difference between the moment that an alarm was
 * asked for and the moment in which it rang. Nothing else writes `carillon_event_loop_lag_seconds`.
 *
 * Example: the alarm is due at 7.000 s, a batch is parsed from 6.950 s until 7.120 s, and the lag is 120 ms.
 */
import type { Cancel, Clock } from '@carillon/core';
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
    const next = (dueMs: number): void => {
      cancel = clock.at(dueMs, () => {
        const nowMs = clock.now();
        this.newestMs = nowMs - dueMs;
        this.lag.observe(this.newestMs);
        // After a pause of the whole process the seconds of the pause are not made up for.
        next((this.newestMs > everyMs ? nowMs : dueMs) + everyMs);
      });
    };
    next(clock.now() + everyMs);
    return () => cancel();
  }
}
