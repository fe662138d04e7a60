/** Timers inside the client's process, as a limit to compare with. */
import type { System } from './system.ts';

function baseline(name: 'settimeout' | 'heap', label: string): System {
  return {
    name,
    label,
    kind: 'baseline',
    prepare: async () => null,
    start: async ({ uri }) => ({
      pids: () => [],
      setter: { kind: name, uri },
      work: async () => {},
      settle: async () => {},
      pending: async () => Number.NaN,
      restart: null,
      stop: async () => {},
    }),
  };
}

export const setTimeoutBaseline = baseline('settimeout', 'setTimeout in one process');
export const heapBaseline = baseline('heap', 'binary heap in one process');
