/** V8's heap: what it keeps to spare, and giving that back to the system. */
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export function spareHeapBytes(): number {
  const { heapTotal, heapUsed } = process.memoryUsage();
  return heapTotal - heapUsed;
}

/** Collects all there is, even what V8 would keep for later. Only the last resort shrinks the young generation too. */
export function collectHeap(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: { type: string; flavor: string }) => void;
  gc({ type: 'major', flavor: 'last-resort' });
}

/** The share of the time since the last call that the event loop was at work. */
export function busyRatioMeter(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
