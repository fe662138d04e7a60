/** V8's heap: the memory it keeps to spare, and giving that back to the system. */
import { performance, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * New objects begin in the young generation, all of them. V8 puts objects straight into the old one where objects of
 * the same literal lived long: in a batch that waits for the disk, timers, outcomes and their texts. They are garbage a
 * moment later, but only a full collection takes them away. To be called at the start: code that V8 has optimized
 * already stays as it is.
 */
export function beginYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  if (!isWatched && process.versions.node.startsWith(triedRelease)) watchYoung();
}

/** The release of Node whose V8 was seen to take a growth factor of 1; on others V8 decides alone. */
const triedRelease = '24.';
/**
 * Of both halves together: from this size on it is not doubled. Objects that outlive a collection make it up to twice
 * as large until the next one. V8 itself goes up to 128 MiB.
 */
const youngBytesMax = 16 * 1024 * 1024;
let isWatched = false;

/**
 * Keeps the young generation from being doubled beyond `youngBytesMax`. The flag for its size counts only at the
 * start of the process; the one for its growth, at each collection.
 */
function watchYoung(): void {
  isWatched = true;
  let isGrowing = true;
  const look = (): void => {
    const mayGrow = youngBytes() < youngBytesMax;
    if (mayGrow === isGrowing) return;
    isGrowing = mayGrow;
    setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`);
  };
  new PerformanceObserver(look).observe({ entryTypes: ['gc'] });
}

function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return young?.space_size ?? 0;
}

/** By V8 itself: `process.memoryUsage` also reads a file, and throws where no descriptor is free. */
export function spareHeapBytes(): number {
  const { total_heap_size: totalBytes, used_heap_size: usedBytes } = getHeapStatistics();
  return totalBytes - usedBytes;
}

export function usedHeapBytes(): number {
  return getHeapStatistics().used_heap_size;
}

export function heapShare(): { readonly now: number; readonly max: number } {
  const { used_heap_size: now, heap_size_limit: max } = getHeapStatistics();
  return { now, max };
}

let residentKnown = 0;

/** Resident memory of this process; the last known value while no descriptor is free to ask. */
export function residentBytes(ask = () => process.memoryUsage.rss()): number {
  try {
    residentKnown = ask();
  } catch {
    return residentKnown;
  }
  return residentKnown;
}

/**
 * Collects all garbage, also memory that V8 would keep for later. Only the last resort shrinks the young generation
 * too.
 */
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
