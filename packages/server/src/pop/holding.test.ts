import { VirtualClock } from '@carillon/core/testing';
import { expect, it } from 'vitest';
import { definitionOf, recordOf } from '../testing/records.ts';
import { Awake } from './awake.ts';
import { type Held, Holding } from './holding.ts';
import { newPop } from './pop.ts';
import type { PopRules } from './pop-rules.ts';
import { Readiness } from './readiness.ts';

/** A pop that is due at 10.000 s, held since 9.990 s, and the time at which it is told of anything. */
function heldPop() {
  const clock = new VirtualClock({ nowMs: 9990, wallMs: 9990 });
  const awake = new Awake(0, ({ retryMs }) => retryMs);
  const readiness = new Readiness({
    clock,
    awake,
    granting: { heldUntilMs: () => null },
    batches: { waitMs: () => 0 },
    rules: {} as PopRules,
    instant: () => ({ nowMs: clock.now(), wallMs: clock.wall() }),
    holds: () => false,
  });
  const record = recordOf({ dueMs: 10_000 });
  const definition = definitionOf({ timing: { kind: 'at', atMs: 10_000 } });
  const to = { uri: '', split: null, namespace: '', batch: false, alone: false };
  const claim = { position: 0, rank: 0, others: ['b'], serial: 1 };
  const pop = newPop({ handle: 0, record, definition, to }, claim);
  const told: [Held, number][] = [];
  new Holding({ clock, awake, readiness }).hold(pop, (_, held) => told.push([held, clock.now()]));
  return { clock, told };
}

/** Nothing runs until this time, as at a member without a processor. */
function standStill(clock: VirtualClock, untilMs: number): void {
  const now = clock.now.bind(clock);
  clock.now = () => Math.max(now(), untilMs);
}

it('a pop that was looked at ahead of its time waits for it', async () => {
  const { clock, told } = heldPop();
  await clock.advance(9);
  expect(told).toEqual([]);
  await clock.advance(1);
  expect(told).toEqual([['due', 10_000]]);
});

it('a wall clock that was set back a little is waited for', async () => {
  const { clock, told } = heldPop();
  clock.wallOffsetMs -= 7;
  await clock.advance(20);
  expect(told).toEqual([['due', 10_007]]);
});

it('a pop is put off whose wall-clock time has gone far away', async () => {
  const { clock, told } = heldPop();
  clock.wallOffsetMs -= 3_600_000;
  await clock.advance(20);
  expect(told).toEqual([['away', 10_000]]);
});

it.each([
  { untilMs: 10_090, held: 'due' },
  { untilMs: 10_400, held: 'due' },
  // Others may have made the pop, or changed its timer.
  { untilMs: 10_600, held: 'slept' },
])('a member that stood still until $untilMs finds the pop $held', async ({ untilMs, held }) => {
  const { clock, told } = heldPop();
  standStill(clock, untilMs);
  await clock.advance(20);
  expect(told).toEqual([[held, untilMs]]);
});

it('messages that have come are read before the pop goes on', async () => {
  const { clock, told } = heldPop();
  const readWith: number[] = [];
  clock.at(10_000, () => readWith.push(told.length));
  await clock.advance(20);
  expect([readWith, told.length]).toEqual([[0], 1]);
});
