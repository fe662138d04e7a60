import { expect, test } from 'vitest';
import { CoarseSamples, combined } from './coarse-samples.ts';
import type { Sample } from './events-samples.ts';

function sampleAt(second: number, part: Partial<Sample> = {}): Sample {
  const all = { pops: 0, retried: 0, dead: 0, p50: null, p99: null };
  const none = { delivered: 0, retried: 0, dead: 0, p50: null, p99: null, lag: 0 };
  return { at: second * 1000, ...none, all, ...part };
}

test('samples of a step become one: means of counts, the largest lateness', () => {
  const one = combined([
    sampleAt(1, { delivered: 4, lag: 2, all: { pops: 10, retried: 3, dead: 0, p50: 1, p99: 5 } }),
    sampleAt(2, {
      delivered: 0,
      lag: 7,
      all: { pops: 20, retried: 0, dead: 6, p50: null, p99: 3 },
    }),
    sampleAt(3, { delivered: 2, lag: 1, all: { pops: 0, retried: 0, dead: 0, p50: 2, p99: null } }),
  ]);
  expect(one).toMatchObject({ at: 3000, delivered: 2, lag: 7 });
  expect(one.all).toEqual({ pops: 10, retried: 1, dead: 2, p50: 1.5, p99: 5 });
});

test('steps begin at whole tens of seconds, and the one under way is shown', () => {
  const coarse = new CoarseSamples({ stepMs: 10_000, countMax: 360 });
  for (let second = 5; second < 25; second++) coarse.add(sampleAt(second));
  expect(coarse.all.map(({ at }) => at)).toEqual([9000, 19_000, 24_000]);
});

test('no more are kept than asked for, and none before the first', () => {
  const coarse = new CoarseSamples({ stepMs: 10_000, countMax: 6 });
  expect(coarse.all).toEqual([]);
  for (let second = 0; second < 1000; second++) coarse.add(sampleAt(second));
  expect(coarse.all).toHaveLength(6);
  expect(coarse.all.at(-1)?.at).toBe(999_000);
});

test('a wall clock that stands still or is set back keeps memory bounded', () => {
  const coarse = new CoarseSamples({ stepMs: 10_000, countMax: 6 });
  for (let i = 0; i < 1000; i++) coarse.add(sampleAt(50));
  for (let second = 5000; second > 0; second--) coarse.add(sampleAt(second));
  expect(coarse.all.length).toBeLessThanOrEqual(6);
});
