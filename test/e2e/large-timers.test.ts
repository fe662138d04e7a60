/**
 * Large timers in a cluster of processes: bounded in bytes everywhere, so that reading them delays no other client (P1,
 * P5, P7).
 */
import { expect, test } from 'vitest';
import { largeTimers } from './support/large-timers.ts';

const timers = 200;
const times = 2;

test('timers of 64 KiB are confirmed with all copies, listed and exported completely while they pop, and no reader makes a pop twice', {
  timeout: 300_000,
  // A pop that came twice in one of two attempts came twice.
  retry: 0,
}, async () => {
  const pages = [1000, 100, 1000];
  const result = await largeTimers({ timers, times, intervalSeconds: 8, pages });
  const { copies, listed, written, pops, merged, repeated, p99LatenessMs } = result;
  console.log(
    `${pops} pops while ${listed.length} lists were read, p99 lateness ${p99LatenessMs} ms`,
  );
  expect(copies).toEqual(copies.map(() => '2/2'));
  expect(listed).toEqual(listed.map(() => timers));
  expect(written).toEqual({ 'list --all': timers, export: timers });
  expect([copies.length, pops + merged, repeated]).toEqual([timers, times * timers, 0]);
});
