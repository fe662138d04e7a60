import { describe, expect, test } from 'vitest';
import { type ProcessReading, procObstacle, readProcess, rssOf, stolenOf, waitOf } from './proc.ts';
import { starvedIn, stolenMs, waitedMs } from './starvation.ts';

function reading(pid: number, waits: Readonly<Record<string, number>>): ProcessReading {
  const waitedNs = new Map(Object.entries(waits).map(([thread, ms]) => [thread, ms * 1e6]));
  return { pid, rssBytes: 0, waitedNs };
}

describe('how long a process waited', () => {
  test('is the longest wait of one of its threads since the last look', () => {
    const before = reading(7, { main: 1000, disk: 5000 });
    expect(waitedMs(before, reading(7, { main: 1300, disk: 5100, fresh: 20 }))).toBe(300);
  });

  test('counts from its start for one that was started anew', () => {
    expect(waitedMs(reading(7, { main: 1000 }), reading(8, { main: 40 }))).toBe(40);
    expect(waitedMs(null, reading(8, { main: 40 }))).toBe(40);
  });

  test('stolen time is that of the processor that lost most', () => {
    expect(stolenMs([100, 200], [150, 210])).toBe(50);
    expect(stolenMs([], [150, 210])).toBe(0);
  });
});

describe('a member counts as paused', () => {
  const looked = { fromMs: 1000, toMs: 2000 };

  test('when it waited for more than half of the time between two looks', () => {
    expect(starvedIn(looked, 500)).toBeNull();
    expect(starvedIn(looked, 501)).toEqual(looked);
  });

  test('from the beginning of a wait that is longer than the time between the looks', () => {
    expect(starvedIn(looked, 3000)).toEqual({ fromMs: -1000, toMs: 2000 });
  });
});

describe('the figures of the kernel', () => {
  test('waits are the second figure of schedstat', () => {
    expect(waitOf('38459310 132374 11\n')).toBe(132_374);
  });

  test('stolen time is the eighth figure of each processor, in hundredths', () => {
    const stat =
      'cpu  9 9 9 9 9 9 9 99 0 0\ncpu0 1 2 3 4 5 6 7 12 0 0\ncpu1 1 2 3 4 5 6 7 3 0 0\nintr 5\n';
    expect(stolenOf(stat)).toEqual([120, 30]);
  });

  test('memory is VmRSS; a process that has ended has none', () => {
    expect(rssOf('Name:\tnode\nVmRSS:\t    1024 kB\nThreads:\t11\n')).toBe(2 ** 20);
    expect(rssOf('Name:\tnode\nState:\tZ (zombie)\n')).toBeNull();
  });

  test.skipIf(procObstacle() !== null)(
    'this process has memory and a main thread; none has pid 0',
    () => {
      const own = readProcess(process.pid);
      expect(own?.rssBytes).toBeGreaterThan(2 ** 20);
      expect(own?.waitedNs.has(String(process.pid))).toBe(true);
      expect(readProcess(0)).toBeNull();
    },
  );
});
