/** Waits for conditions: polls, and names the condition when it takes too long. */
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 50;

/** Resolves with how long it took. An error in the condition counts as "not yet". */
export async function until(
  what: string,
  limitMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<number> {
  const startMs = performance.now();
  let last: unknown = null;
  for (;;) {
    try {
      if (await condition()) return performance.now() - startMs;
      last = null;
    } catch (error) {
      last = error;
    }
    if (performance.now() - startMs > limitMs) {
      throw new Error(`Not within ${limitMs} ms: ${what}`, { cause: last });
    }
    await sleep(pollMs);
  }
}
