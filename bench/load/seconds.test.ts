import { expect, test } from 'vitest';
import { Seconds } from './seconds.ts';

test('each second has its count, and percentiles to within a twelfth', () => {
  const seconds = new Seconds(1000);
  for (let i = 1; i <= 1000; i++) seconds.add(1500, i / 10);
  seconds.add(3999, 7);
  const [first, second] = seconds.summary();
  expect(first).toMatchObject({ second: 0, count: 1000, maxMs: 100 });
  expect((first?.p50Ms ?? 0) / 50).toBeGreaterThanOrEqual(1);
  expect((first?.p50Ms ?? 0) / 50).toBeLessThan(1.1);
  expect((first?.p99Ms ?? 0) / 99).toBeGreaterThanOrEqual(1);
  expect((first?.p99Ms ?? 0) / 99).toBeLessThan(1.1);
  expect(second).toEqual({ second: 2, count: 1, p50Ms: 7, p99Ms: 7, maxMs: 7 });
});

test('pops that come early, at once or after an hour are counted', () => {
  const seconds = new Seconds(0);
  for (const lateMs of [-1, 0, 3_600_000]) seconds.add(10, lateMs);
  expect(seconds.summary()).toMatchObject([{ count: 3, p50Ms: 0.01, maxMs: 3_600_000 }]);
});
