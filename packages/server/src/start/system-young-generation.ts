/**
 * V8's young generation, where objects begin. V8 lets it grow to 128 MiB under load, twice the memory of 300,000 timers. It
 * has no use for so much here: objects that outlive a request or a sync are bytes off the heap. Its size is set by flags of
 * the command line alone, but how much it grows at a time can be changed at any time: by 1, it does not.
 *
 * Example with a bound of 32 MiB: 1, 2, 4, 8, 16 MiB under load; a collection finds 32 MiB, growth ends. The member is idle, all
 * memory is given back, the young generation has 1 MiB. The next collection finds that, and growth begins anew. While V8 marks
 * live objects, it may have up to twice its bound.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Cancel } from '@carillon/core';

const youngBytesMax = 32 * 1024 * 1024;

/** V8's own factor of growth. */
const growing = 2;
const bound = 1;

/** The factor is one for the process, however many members it runs. */
let factor = growing;

function change(to: number): void {
  if (factor !== to) setFlagsFromString(`--semi-space-growth-factor=${to}`);
  factor = to;
}

/** Looks after each collection, until told to stop. Does nothing where the command line sets the size. */
export function boundYoungGeneration(bytesMax = youngBytesMax): Cancel {
  if (isSized(process.execArgv, process.env['NODE_OPTIONS'])) return () => undefined;
  const observer = new PerformanceObserver(() =>
    change(youngBytes() >= bytesMax ? bound : growing),
  );
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    observer.disconnect();
    change(growing);
  };
}

/** Whether the flags of a process say how large its young generation is. */
export function isSized(execArgv: readonly string[], nodeOptions = ''): boolean {
  return [...execArgv, nodeOptions].some((text) => /semi[-_]space/.test(text));
}

/** Taken from the system for the young generation. */
function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return young?.space_size ?? 0;
}
