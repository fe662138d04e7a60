/** P5 over thousands of pops: "A member that gets no processor for a second must come late, not twice." */
import { expect, test } from 'vitest';
import { starve, starveAndRestart } from '../told/starved.ts';

test.each([
  { spanMs: 1000, gapMs: 2000, share: 0, popsMin: 3000 },
  { spanMs: 5000, gapMs: 20_000, share: 0.001, popsMin: 3000 },
  // Without a processor for most of the time, all of them: pops come late, and several in one.
  { spanMs: 5000, gapMs: 2000, share: 0.001, popsMin: 2300 },
])(
  'three members get no processor for up to $spanMs ms, $gapMs ms apart: of 3600 pops at most a share of $share is repeated (R=2, n=4–6 s)',
  async ({ spanMs, gapMs, share, popsMin }) => {
    let [calls, pops] = [0, 0];
    for (const seed of [1, 2]) {
      const seen = await starve(seed, spanMs, gapMs);
      calls += seen.calls;
      pops += seen.pops;
    }
    expect(pops).toBeGreaterThan(popsMin);
    expect(calls - pops).toBeLessThanOrEqual(pops * share);
  },
);

// Seeds 1 and 72 are witnesses in `src/broken/splitting.test.ts`, with nothing broken too.
test('three members on etcd get no processor for moments, and one after the other is told to stop and started again: no pop is made twice (R=2, n=4–6 s)', async () => {
  const { calls, pops } = await starveAndRestart(18, 1000, 1000);
  expect(calls).toBe(pops);
  expect(pops).toBeGreaterThan(1600);
});
