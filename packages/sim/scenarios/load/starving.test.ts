/** P5 over many pops: "A member that gets no processor for a second must come late, not twice." */
import { expect, test } from 'vitest';
import { starve, starveAndRestart } from '../told/starved.ts';

test.each([
  { seed: 1, spanMs: 1000, gapMs: 2000, share: 0, popsMin: 1500 },
  { seed: 2, spanMs: 5000, gapMs: 20_000, share: 0.001, popsMin: 1500 },
  // Without a processor for most of the time, all of them: pops come late, and several in one.
  { seed: 1, spanMs: 5000, gapMs: 2000, share: 0.001, popsMin: 1150 },
])(
  'three members get no processor for up to $spanMs ms, $gapMs ms apart: of 1800 pops at most a share of $share is repeated (R=2, n=4–6 s)',
  async ({ seed, spanMs, gapMs, share, popsMin }) => {
    const { calls, pops } = await starve(seed, spanMs, gapMs);
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
