import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Store } from '../store/store.ts';
import { recordOf } from '../testing/records.ts';
import { Alarm } from './alarm.ts';
import { Awake } from './awake.ts';

/** An alarm over a real store; the records that it takes are under way until the test ends them. */
function rig(activeCountMax = 100) {
  const clock = new VirtualClock();
  const store = new Store();
  const taken: { handle: number; atMs: number }[] = [];
  let active = 0;
  const startMs = clock.now();
  const awake = new Awake(startMs, ({ retryMs }) => retryMs);
  const alarm = new Alarm({
    clock,
    store,
    awake,
    activeCount: () => active,
    activeCountMax,
    due: (handle) => {
      active++;
      taken.push({ handle, atMs: clock.now() - startMs });
    },
  });
  const arm = (lo: number, afterMs: number): number => {
    const handle = store.put(recordOf({ lo }));
    store.arm(handle, startMs + afterMs);
    alarm.adjust();
    return handle;
  };
  const end = (count: number): void => {
    for (let i = 0; i < count; i++) {
      active--;
      alarm.madeRoom();
    }
  };
  return { clock, alarm, awake, taken, arm, end, startMs };
}

test('records are taken at their time, also a record that is due before the alarm was to ring', async () => {
  const { clock, alarm, taken, arm } = rig();
  alarm.start();
  const late = arm(1, 12_500);
  const early = [arm(2, 10_000), arm(3, 10_000)];
  await clock.advance(9999);
  expect(taken).toEqual([]);
  await clock.advance(5000);
  expect(taken.map(({ atMs }) => atMs)).toEqual([10_000, 10_000, 12_500]);
  expect(new Set(taken.slice(0, 2).map(({ handle }) => handle))).toEqual(new Set(early));
  expect(taken[2]?.handle).toBe(late);
});

test('nothing is taken before the start, nor after the stop', async () => {
  const { clock, alarm, taken, arm } = rig();
  arm(1, 100);
  await clock.advance(200);
  expect(taken).toEqual([]);
  alarm.start();
  expect(taken).toHaveLength(1);
  arm(2, 300);
  alarm.stop();
  await clock.advance(1000);
  alarm.poll();
  expect(taken).toHaveLength(1);
});

test('a record that is put back is taken again after that time', async () => {
  const { clock, alarm, taken, arm } = rig();
  alarm.start();
  const handle = arm(1, 100);
  await clock.advance(100);
  alarm.again(handle, 250);
  await clock.advance(1000);
  expect(taken).toEqual([
    { handle, atMs: 100 },
    { handle, atMs: 350 },
  ]);
});

test('with memory full the rest stays in the wheel until a tenth of the room is free', async () => {
  const { clock, alarm, taken, arm, end } = rig(20);
  alarm.start();
  for (let lo = 1; lo <= 30; lo++) arm(lo, 100);
  await clock.advance(100);
  expect(taken).toHaveLength(20);
  end(1);
  await clock.advance(100);
  expect(taken).toHaveLength(20);
  end(1);
  await clock.advance(0);
  expect(taken).toHaveLength(22);
});

test('after a start the member counts as awake since then', async () => {
  const { clock, alarm, awake, startMs } = rig();
  await clock.advance(700);
  alarm.start();
  expect(awake.sinceMs).toBe(startMs + 700);
});
