import { describe, expect, test } from 'vitest';
import type { RecordedCall } from '../e2e/support/recorder.ts';
import type { Counts } from './checker.ts';
import type { Sample } from './sampler.ts';
import { asText, latenessOf, memoryOf, type Played, summarize } from './summary.ts';
import { Windows } from './windows.ts';

const none = { broken: 0, excused: 0 };
const counts: Counts = {
  sets: 10,
  cancels: 1,
  pops: 12,
  callbacks: 13,
  lost: 0,
  early: 0,
  late: none,
  twice: { outside: 0, inside: 1 },
  revived: none,
  fewCopies: none,
  refused: 0,
};

function sample(second: number, pid: number, mib: number): Sample {
  const members = { n0: { pid, rssBytes: mib * 2 ** 20, waitedMs: 0 } };
  return { second, members, callbacks: 0, p50Ms: null, p99Ms: null };
}

function played(given: Partial<Played> = {}): Played {
  return {
    minutes: 30,
    seed: 1,
    verdict: { counts, broken: [] },
    failed: [],
    faults: { killed: 2 },
    skipped: [],
    calls: [],
    windows: new Windows(),
    samples: [],
    ...given,
  };
}

function call(popId: string, startMs: number, latenessMs: number): RecordedCall {
  return { popId, startMs, latenessMs } as RecordedCall;
}

test('lateness is that of the first callback of each pop, apart for quiet times and others', () => {
  const windows = new Windows();
  windows.begin(['n0'], 'paused', 'stood still', 10_000)(11_000);
  const calls = [call('a', 5000, 3), call('b', 10_500, 900), call('b', 10_600, 1000)];
  expect(latenessOf(calls, windows)).toEqual({
    quiet: { callbacks: 1, p50Ms: 3, p99Ms: 3, maxMs: 3 },
    fault: { callbacks: 1, p50Ms: 900, p99Ms: 900, maxMs: 900 },
  });
});

test('memory is judged over the process that lived longest, and told over all of them', () => {
  const samples = [
    ...Array.from({ length: 400 }, (_, s) => sample(s, 1, 100)),
    ...Array.from({ length: 50 }, (_, s) => sample(400 + s, 2, 300)),
  ];
  const { startBytes, maxBytes, endBytes, growth } = memoryOf('n0', samples);
  expect([startBytes, maxBytes, endBytes].map((bytes) => bytes / 2 ** 20)).toEqual([100, 300, 300]);
  expect(growth).toMatchObject({ verdict: 'level', seconds: 399 });
});

describe('a soak has kept its promises', () => {
  test('when nothing was broken; and says so', () => {
    const summary = summarize(played());
    expect(summary.kept).toBe(true);
    expect(asText(summary)).toContain('Every promise was kept.');
  });

  test('not when the checker found something, a fault did not heal, or memory grows', () => {
    const leak = Array.from({ length: 1800 }, (_, s) => sample(s, 1, 100 + s / 10));
    for (const given of [
      { verdict: { counts, broken: ['P2: lost'] } },
      { failed: ['P8: not whole'] },
      { samples: leak },
    ]) {
      const summary = summarize(played(given));
      expect(summary.kept).toBe(false);
      expect(summary.broken).toHaveLength(1);
      expect(asText(summary)).toContain(`  ${summary.broken[0]}`);
    }
  });

  test('faults that could not be had stay in sight', () => {
    const skipped = ['No member is cut off from anybody: network namespaces need root.'];
    expect(asText(summarize(played({ skipped })))).toContain(`skipped      ${skipped[0]}`);
  });

  test('a machine that had no time for the members is named as the cause', () => {
    const windows = new Windows();
    windows.starve('n0', 0, 600_000);
    const text = asText(summarize(played({ windows, samples: [sample(1, 1, 100)] })));
    expect(text).toContain('n0 600.0 s without a processor');
    expect(text).toContain('a quieter machine');
  });
});
