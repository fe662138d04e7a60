import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { startIdleCollect } from './idle-collect.ts';

const mib = 1024 * 1024;

function rig() {
  const clock = new VirtualClock();
  const state = { busy: 0, nextAlarmMs: null as number | null, spareBytes: 0 };
  const collectedMs: number[] = [];
  const stop = startIdleCollect({
    clock,
    busyRatio: () => state.busy,
    nextAlarmMs: () => state.nextAlarmMs,
    spareBytes: () => state.spareBytes,
    collect: () => {
      collectedMs.push(clock.now());
      state.spareBytes = 0;
    },
  });
  return { clock, state, collectedMs, stop };
}

test('memory to spare is given back within seconds of the burst that needed it', async () => {
  const { clock, state, collectedMs } = rig();
  state.spareBytes = 100 * mib;
  state.busy = 0.5;
  await clock.advance(30_000);
  expect(collectedMs).toEqual([]);
  state.busy = 0.001;
  await clock.advance(5_000);
  expect(collectedMs).toHaveLength(1);
});

test('not while a pop is near, and not for a little', async () => {
  const { clock, state, collectedMs } = rig();
  state.spareBytes = 6 * mib;
  await clock.advance(60_000);
  state.spareBytes = 100 * mib;
  for (let i = 0; i < 100; i++) {
    state.nextAlarmMs = clock.now() + 900;
    await clock.advance(600);
  }
  expect(collectedMs).toEqual([]);
  state.nextAlarmMs = clock.now() + 3_600_000;
  await clock.advance(10_000);
  expect(collectedMs).toHaveLength(1);
});

test('once a minute at most, and never after the end', async () => {
  const { clock, state, collectedMs, stop } = rig();
  for (let i = 0; i < 60; i++) {
    state.spareBytes = 100 * mib;
    await clock.advance(5_000);
  }
  expect(collectedMs.length).toBeGreaterThan(2);
  expect(collectedMs.length).toBeLessThanOrEqual(5);
  stop();
  const { length } = collectedMs;
  await clock.advance(300_000);
  expect(collectedMs).toHaveLength(length);
  expect(clock.nextMs()).toBe(null);
});
