/** The real clock. Together with its neighbours in this folder, the only code that touches time and chance. */
import type { Cancel, Clock } from '../env.ts';

/** setTimeout cannot wait longer than this; longer waits are made of several. */
const waitMsMax = 2 ** 31 - 1;

export class SystemClock implements Clock {
  now(): number {
    return performance.now();
  }

  wall(): number {
    return Date.now();
  }

  at(atMs: number, fn: () => void): Cancel {
    let handle: NodeJS.Timeout;
    const wait = (): void => {
      const leftMs = atMs - performance.now();
      if (leftMs <= 0) fn();
      else handle = setTimeout(wait, Math.min(Math.ceil(leftMs), waitMsMax));
    };
    // Even an alarm that is already due runs later, never inside the call that set it.
    handle = setTimeout(
      wait,
      Math.max(0, Math.min(Math.ceil(atMs - performance.now()), waitMsMax)),
    );
    return () => clearTimeout(handle);
  }

  soon(fn: () => void): void {
    setImmediate(fn);
  }
}
