/** Gauges whose value is read on demand: each is connected to the part of the member that knows it. */
import { expect, test } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { startMember } from '../start/start-member.ts';
import { startOne, timerBody } from '../testing/one-member.ts';

function valueIn(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

test('a destination that keeps failing shows as an open breaker, and as none when it is back', async () => {
  const one = await startOne();
  const open = (): number =>
    valueIn(one.member.metrics.render(), 'carillon_callback_breakers_open');
  let isBack = false;
  one.receivers.script = () =>
    isBack ? 200 : { kind: 'no-answer', reason: 'refused', detail: 'Nobody listens there.' };
  for (let i = 0; i < 10; i++) await one.request('POST', '/timers', timerBody(1));
  await one.clock.advance(1000);
  expect(open()).toBe(1);
  isBack = true;
  await one.clock.advance(600_000);
  expect(open()).toBe(0);
  await one.stop();
});

test('a member that stops is not ready, and timers are counted once, at their primary', async () => {
  const one = await startOne();
  const read = (name: string): number => valueIn(one.member.metrics.render(), name);
  await one.request('POST', '/timers', timerBody(60));
  expect([read('carillon_primary_timers'), read('carillon_unready')]).toEqual([1, 0]);
  await one.stop();
  expect(read('carillon_unready')).toBe(1);
});

test('a dead letter is counted once, at its primary, until it is discarded', async () => {
  const one = await startOne();
  const read = (name: string): number => valueIn(one.member.metrics.render(), name);
  one.receivers.script = () => 410;
  await one.request('POST', '/timers', timerBody(1));
  expect(read('carillon_primary_dead_letters')).toBe(0);
  await one.clock.advance(2000);
  expect([read('carillon_primary_dead_letters'), read('carillon_primary_timers')]).toEqual([1, 0]);
  await one.request('DELETE', '/dead-letters?all=true');
  expect(read('carillon_primary_dead_letters')).toBe(0);
  await one.stop();
});

test('a fail-over 2 s after the due time has buckets of its own', async () => {
  const one = await startOne();
  const text = one.member.metrics.render();
  for (const le of ['2', '2.1', '2.5', '4']) {
    expect(text).toContain(`carillon_pop_lateness_seconds_bucket{le="${le}"}`);
  }
  await one.stop();
});

test('the event loop is probed every few seconds', async () => {
  const one = await startOne();
  await one.clock.advance(60_000);
  const probes = valueIn(one.member.metrics.render(), 'carillon_event_loop_lag_seconds_count');
  expect(probes).toBeGreaterThanOrEqual(10);
  await one.stop();
});

test('memory and CPU of the process', async () => {
  const flags = { listen: '127.0.0.1:0', durability: 'memory', 'log-level': 'silent' };
  const loaded = loadConfig({ flags });
  if (!loaded.ok) throw new Error(loaded.problems.join(' '));
  const onFailed = (error: unknown): never => {
    throw error;
  };
  const running = await startMember({ config: loaded.config, onFailed, onDrained: () => {} });
  const text = await (await fetch(`http://${running.address}/metrics`)).text();
  const residentBytes = valueIn(text, 'process_resident_memory_bytes');
  expect(valueIn(text, 'carillon_heap_used_bytes')).toBeGreaterThan(1e6);
  expect(residentBytes).toBeGreaterThan(valueIn(text, 'carillon_heap_used_bytes'));
  expect(valueIn(text, 'process_cpu_seconds_total')).toBeGreaterThan(0);
  await running.stop();
});
