/** An attack that once stopped or misled a member: its figure then, its limit, and how to make it again. */

export interface Measured {
  /** The figure of this run, in words. */
  readonly now: string;
  readonly holds: boolean;
}

export interface Finding {
  readonly number: number;
  readonly attack: string;
  /** The figure before it was mended. */
  readonly before: string;
  readonly limit: string;
  readonly run: () => Promise<Measured>;
}

/**
 * CPU time of this thread for some work without a pause. Work that is quick is done often: the kernel counts in
 * milliseconds.
 */
export function cpuMs(work: () => unknown): number {
  const startMs = performance.now();
  work();
  const times = performance.now() - startMs > 50 ? 1 : 200;
  const before = process.threadCpuUsage();
  for (let i = 0; i < times; i++) work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000 / times;
}

export const shownMs = (ms: number): string => (ms < 0.1 ? '< 0.1 ms' : `${ms.toFixed(1)} ms`);
