/** One piece of load for the client process, and its result. */

export interface Load {
  readonly call: 'set' | 'setMany' | 'refresh' | 'recur' | 'cancel' | 'cron';
  /** Timers, or updates of timers. */
  readonly count: number;
  /** Ends earlier when this time is over; null: it does not. */
  readonly limitMs: number | null;
  readonly inFlight: number;
  readonly firstIndex: number;
  /** All so long after they are set, or one after the other from an instant on. */
  readonly due: { readonly inMs: number } | { readonly firstMs: number; readonly stepMs: number };
  /** `setMany`, `cron`: timers in one call. */
  readonly batchLength: number;
  /** `refresh`: so many different timers, from `firstIndex` on. */
  readonly timerCount: number;
  /** Not faster than one call in so many milliseconds; 0: as fast as answers come. */
  readonly paceMs: number;
  readonly recurring: { readonly everyMs: number; readonly times: number };
  /** `cron`: its pattern, with `times` of `recurring` as the number of pops. */
  readonly pattern: string;
}

export interface LoadResult {
  /** Confirmed. */
  readonly count: number;
  readonly failed: number;
  /** Of the first failures. */
  readonly reasons: readonly string[];
  /** Calls that were made again because a member went away. */
  readonly repeated: number;
  readonly seconds: number;
  /** Of the client process. */
  readonly cpuMs: number;
}

const hourMs = 3_600_000;

/** A load with the usual values: as fast as answers come, 64 in flight, due in an hour. */
export function loadOf(given: Partial<Load> & Pick<Load, 'call' | 'count'>): Load {
  return {
    limitMs: null,
    inFlight: given.call === 'setMany' || given.call === 'cron' ? 4 : 64,
    firstIndex: 0,
    due: { inMs: hourMs },
    batchLength: 500,
    timerCount: given.count,
    paceMs: 0,
    recurring: { everyMs: 1000, times: 1 },
    pattern: '* * * * *',
    ...given,
  };
}
