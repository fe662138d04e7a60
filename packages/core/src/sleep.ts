import type { Clock } from './env.ts';

/** Resolves after this long on the monotonic clock. */
export function sleep(clock: Pick<Clock, 'now' | 'at'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.at(clock.now() + ms, resolve);
  });
}
