import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { LoadMeter } from './load.ts';
import { Metrics } from './metrics.ts';

function scene() {
  const clock = new VirtualClock();
  const metrics = new Metrics({ version: '0', runtime: 'test' });
  const pop = (count: number, lateMs: number): void => {
    for (let i = 0; i < count; i++) {
      metrics.pops.add('delivered');
      metrics.popLateness.observe(lateMs);
    }
  };
  return { clock, metrics, pop, meter: new LoadMeter(metrics, clock) };
}

test('a member that did nothing has no pops and no lateness', async () => {
  const { clock, meter } = scene();
  await clock.advance(5000);
  expect(meter.now()).toEqual({
    popsPerSecond: 0,
    retriedPerSecond: 0,
    givenUpPerSecond: 0,
    latenessP50Ms: null,
    latenessP99Ms: null,
    lagMs: null,
  });
});

test('counts the last ten seconds, however often it is asked', async () => {
  const { clock, metrics, pop, meter } = scene();
  for (let second = 0; second < 20; second++) {
    pop(second < 10 ? 100 : 5, second < 10 ? 900 : 1);
    await clock.advance(500);
    meter.now();
    await clock.advance(500);
    meter.now();
  }
  metrics.eventLoopLag.observe(40);
  for (let i = 0; i < 20; i++) metrics.pops.add('retried');
  metrics.pops.add('dead');
  await clock.advance(1000);
  const load = meter.now();
  expect(load.popsPerSecond).toBeCloseTo(4.5, 1);
  expect(load.latenessP99Ms).toBeLessThanOrEqual(1);
  expect(load.lagMs).toBe(50);
  expect(load.retriedPerSecond).toBeCloseTo(2, 0);
  expect(load.givenUpPerSecond).toBeGreaterThan(0);
});

test('within a second the answer is the same', async () => {
  const { clock, pop, meter } = scene();
  await clock.advance(2000);
  const before = meter.now();
  pop(50, 1);
  await clock.advance(900);
  expect(meter.now()).toBe(before);
  await clock.advance(100);
  expect(meter.now().popsPerSecond).toBeGreaterThan(0);
});
