import { expect, it } from 'vitest';
import { Deadlines, type Deadlined } from './deadlines.ts';
import { VirtualClock } from './testing/virtual-clock.ts';

const lengthMs = 250;

function rig() {
  const clock = new VirtualClock();
  const deadlines = new Deadlines(clock, lengthMs);
  const over: [name: string, atMs: number][] = [];
  const begin = (name: string): Deadlined => {
    const waiting: Deadlined = {
      startMs: clock.now(),
      before: null,
      after: null,
      overdue: () => over.push([name, clock.now()]),
    };
    deadlines.add(waiting);
    return waiting;
  };
  return { clock, deadlines, over, begin };
}

it('ends each wait at its own time, in order, whichever were removed meanwhile', async () => {
  const { clock, deadlines, over, begin } = rig();
  const startMs = clock.now();
  const waits: Deadlined[] = [];
  for (let i = 0; i < 6; i++) {
    await clock.advanceTo(startMs + i * 10);
    waits.push(begin(String(i)));
  }
  // The first, one in the middle and the last; one of them twice.
  for (const i of [0, 3, 5, 3]) deadlines.remove(waits[i] as Deadlined);
  await clock.advanceTo(startMs + 1000);
  expect(over).toEqual([
    ['1', startMs + 10 + lengthMs],
    ['2', startMs + 20 + lengthMs],
    ['4', startMs + 40 + lengthMs],
  ]);
});

it('an answer that has arrived by the time of the alarm comes first, although the alarm was set before', async () => {
  const { clock, deadlines, over, begin } = rig();
  const waiting = begin('answered');
  clock.at(waiting.startMs + lengthMs, () => deadlines.remove(waiting));
  await clock.advance(lengthMs + 10);
  expect(over).toEqual([]);
});

it('sets an alarm again for an item that is added after all others were removed', async () => {
  const { clock, deadlines, over, begin } = rig();
  const startMs = clock.now();
  deadlines.remove(begin('gone'));
  await clock.advanceTo(startMs + 100);
  begin('stays');
  await clock.advanceTo(startMs + 100 + lengthMs - 1);
  expect(over).toEqual([]);
  await clock.advanceTo(startMs + 100 + lengthMs);
  expect(over).toEqual([['stays', startMs + 100 + lengthMs]]);
  expect(clock.nextMs()).toBe(null);
});

it('ends no wait and keeps no alarm once it was stopped', async () => {
  const { clock, deadlines, over, begin } = rig();
  begin('a');
  expect(deadlines.isEmpty).toBe(false);
  deadlines.stop();
  // Nothing is left to happen.
  expect(clock.step()).toBe(false);
  expect(over).toEqual([]);
});
