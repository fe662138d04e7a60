/** Large timers in a cluster of processes: bounded in bytes everywhere, so that readers of them are in nobody's way (P1, P5, P7). */
import { expect, test } from 'vitest';
import { largeTimers, timerCount } from './support/large-timers.ts';

const times = 2;

test('timers of 64 KiB are confirmed with all copies, listed completely while they pop, and no reader makes a pop twice', async () => {
  const { copies, listed, pops, repeated, p99LatenessMs } = await largeTimers(times);
  console.log(
    `${pops} pops while ${listed.length} lists were read, p99 lateness ${p99LatenessMs} ms`,
  );
  expect(copies).toEqual(copies.map(() => '2/2'));
  expect(listed).toEqual(listed.map(() => timerCount));
  expect([copies.length, pops, repeated]).toEqual([timerCount, times * timerCount, 0]);
}, 300_000);
