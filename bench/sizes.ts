/** The amounts of everything: full ones for the report, and a quick pass that only shows that all of it works. */

export interface Sizes {
  readonly isQuick: boolean;
  readonly sets: {
    readonly warmMs: number;
    readonly limitMs: number;
    /** Of the rows beside the systems: so many of each kind. */
    readonly wayCount: number;
  };
  readonly lateness: {
    readonly timerCount: number;
    readonly spreadMs: number;
    readonly leadMs: number;
  };
  readonly burst: { readonly timerCount: number; readonly leadMs: number };
  readonly footprint: {
    readonly smallCount: number;
    readonly largeCount: number;
    readonly settleMs: number;
    /** From the last set until idling is measured: longer than any work of a system that follows sets. */
    readonly restMs: number;
    readonly idleMs: number;
  };
  readonly updates: {
    readonly timerCount: number;
    readonly updateCount: number;
    readonly limitMs: number;
  };
  readonly recurring: {
    readonly timerCount: number;
    readonly times: number;
    readonly spreadMs: number;
  };
  readonly stories: {
    readonly seconds: number;
    /** Timers that wait while others are set and popped. */
    readonly pendingCount: number;
    readonly cronCount: number;
    readonly cronPattern: string;
    /** From one time of the pattern to the next. */
    readonly cronEveryMs: number;
  };
  readonly clientHeap: { readonly stepCount: number; readonly setCount: number };
  readonly wrk: { readonly roundCount: number; readonly seconds: number };
  readonly restartCount: number;
  /** How much of the usual work the parts alone do. */
  readonly microShare: number;
  readonly growth: {
    readonly memberCounts: readonly number[];
    readonly timerCountMax: number;
    readonly storeCountMax: number;
    readonly operationCount: number;
    readonly idleMs: number;
  };
}

export const fullSizes: Sizes = {
  isQuick: false,
  sets: { warmMs: 3000, limitMs: 4500, wayCount: 9 },
  lateness: { timerCount: 10_000, spreadMs: 10_000, leadMs: 3000 },
  burst: { timerCount: 20_000, leadMs: 3500 },
  footprint: {
    smallCount: 200_000,
    largeCount: 1_000_000,
    settleMs: 12_000,
    restMs: 75_000,
    idleMs: 30_000,
  },
  updates: { timerCount: 20_000, updateCount: 200_000, limitMs: 10_000 },
  recurring: { timerCount: 5000, times: 60, spreadMs: 5000 },
  stories: {
    seconds: 150,
    pendingCount: 10_000_000,
    cronCount: 60_000,
    cronPattern: '0,15,30,45 * * * * *',
    cronEveryMs: 15_000,
  },
  clientHeap: { stepCount: 10, setCount: 1_000_000 },
  wrk: { roundCount: 3, seconds: 4 },
  restartCount: 10_000_000,
  microShare: 1,
  growth: {
    memberCounts: [1, 2, 3, 5, 9],
    timerCountMax: 1_000_000,
    storeCountMax: 10_000_000,
    operationCount: 10_000,
    idleMs: 3000,
  },
};

export const quickSizes: Sizes = {
  isQuick: true,
  sets: { warmMs: 100, limitMs: 400, wayCount: 1 },
  lateness: { timerCount: 500, spreadMs: 500, leadMs: 700 },
  burst: { timerCount: 500, leadMs: 700 },
  footprint: { smallCount: 2000, largeCount: 10_000, settleMs: 300, restMs: 300, idleMs: 500 },
  updates: { timerCount: 200, updateCount: 2000, limitMs: 500 },
  recurring: { timerCount: 100, times: 2, spreadMs: 500 },
  stories: {
    seconds: 2,
    pendingCount: 2000,
    cronCount: 200,
    cronPattern: '* * * * * *',
    cronEveryMs: 1000,
  },
  clientHeap: { stepCount: 2, setCount: 1000 },
  wrk: { roundCount: 1, seconds: 1 },
  restartCount: 2000,
  microShare: 0.01,
  growth: {
    memberCounts: [1, 3],
    timerCountMax: 10_000,
    storeCountMax: 100_000,
    operationCount: 500,
    idleMs: 300,
  },
};
