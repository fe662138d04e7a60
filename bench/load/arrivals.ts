/** Messages to and from the receiver: the expected timers, and the arrivals. */

export interface Expected {
  readonly timerCount: number;
}

export interface Arrivals {
  /** Pops, without duplicates. */
  readonly arrived: number;
  /** Timers of which at least one pop came. */
  readonly timers: number;
  readonly duplicates: number;
  /** Requests that name no expected timer, or no due time. */
  readonly unknown: number;
  /** When the newest one came, on the wall clock. */
  readonly lastMs: number;
  /** null: nothing came. */
  readonly latenessMs: Readonly<Record<'min' | 'p50' | 'p90' | 'p99' | 'max', number | null>>;
  /** Lateness that 0, 0.5, 1 … 100 % of the pops did not exceed. */
  readonly curve: readonly number[];
  /** One for each second in which pops came, in order. */
  readonly seconds: readonly Second[];
}

/** Pops that came in one second, and how late they were; percentiles to within a twelfth. */
export interface Second {
  /** Since the receiver was told which callbacks to expect. */
  readonly second: number;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}
