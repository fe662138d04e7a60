/**
 * A member with little to do gives memory back. For a burst of requests V8 takes some hundred MiB, and it keeps them
 * for as long as it likes: on a member that then waits for an hour that is several times the memory of its timers.
 * Collecting everything stops the world for a tenth of a second, so it happens only when nothing is due meanwhile.
 */
import type { Cancel, Clock } from '@carillon/core';

export interface IdleCollectOptions {
  readonly clock: Clock;
  /** The share of the time since it was last asked that the event loop was at work. */
  readonly busyRatio: () => number;
  /** When the next alarm of a timer rings; null: there is none. */
  readonly nextAlarmMs: () => number | null;
  /** Heap that was taken from the system and is not used. */
  readonly spareBytes: () => number;
  readonly collect: () => void;
}

const lookMs = 5000;
const spareBytesMin = 8 * 1024 * 1024;
/** Above this share of busy time, clients are waiting for answers. */
const busyRatioMax = 0.02;
/** The longest that collecting takes, generously. */
const pauseMs = 1000;
/** After collecting, the next try waits this long: one that freed little would free no more. */
const againMs = 60_000;

/** Looks from time to time, until told to stop. */
export function startIdleCollect(options: IdleCollectOptions): Cancel {
  const { clock, busyRatio, nextAlarmMs, spareBytes, collect } = options;
  let collectedMs = Number.NEGATIVE_INFINITY;
  let cancel: Cancel = () => undefined;
  const look = (): void => {
    const nowMs = clock.now();
    const quiet = busyRatio() < busyRatioMax && (nextAlarmMs() ?? Infinity) > nowMs + pauseMs;
    if (quiet && nowMs - collectedMs > againMs && spareBytes() > spareBytesMin) {
      collectedMs = nowMs;
      collect();
    }
    cancel = clock.at(clock.now() + lookMs, look);
  };
  look();
  return () => cancel();
}
