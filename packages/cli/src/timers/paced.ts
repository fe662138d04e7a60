/** Hands out items at an even pace. */
import { setTimeout as sleep } from 'node:timers/promises';

/** The n-th item comes no sooner than n ÷ rate seconds after the first. */
export async function* paced<T>(
  items: Iterable<T>,
  ratePerSecond: number,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const startMs = performance.now();
  let count = 0;
  for (const item of items) {
    const waitMs = startMs + (count * 1000) / ratePerSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    count++;
    yield item;
  }
}
