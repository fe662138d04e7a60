import { describe, expect, test } from 'vitest';
import { History, type Operation, type TimerWish } from '../history.ts';
import { Judge } from '../judge.ts';
import { drawPlan, wholePlan } from '../plan.ts';
import type { SimCluster } from '../sim-cluster.ts';
import { Dues } from './dues.ts';

/** Due times in a run whose wall clocks are off by so much at most. */
function duesOf(wallOffsetMs: number): Dues {
  const members = [{ name: 'm0', clock: { driftPpm: 0, wallOffsetMs } }];
  const plan = { ...drawPlan(1, wholePlan), members, faults: [] };
  return new Dues(new Judge({} as SimCluster, new History(), plan));
}

/** Asked for at 13 s, acknowledged at 14 s. */
function operationOf(wish: Pick<TimerWish, 'intervalMs' | 'count' | 'wall'>): Operation {
  const history = new History();
  const wished = { factor: 1, receiver: 'r0', ...wish };
  const operation = history.operation(history.timer(), 'set', wished, false);
  const attempt = { member: 'm0', sentMs: 13_000, settledMs: 14_000, status: 200 };
  operation.attempts.push({ ...attempt, arrivedMs: 13_001 });
  operation.ackMs = 14_000;
  return operation;
}

const cron = { kind: 'cron', zone: null, ends: 'count' } as const;
const byCount = operationOf({ intervalMs: 10_000, count: 3, wall: cron });
const byUntil = operationOf({ intervalMs: 10_000, count: 3, wall: { ...cron, ends: 'until' } });

describe('pops by the wall clock', () => {
  test('with clocks that are right: exact, but for the millisecond in which clocks are read', () => {
    const dues = duesOf(0);
    expect([1, 2, 3].map((k) => dues.notBeforeMs(byCount, k))).toEqual([20_000, 30_000, 40_000]);
    expect([1, 2, 3].map((k) => dues.dueByMs(byCount, k))).toEqual([20_001, 30_001, 40_001]);
    expect([dues.countMin(byUntil), dues.countMax(byUntil)]).toEqual([3, 3]);
    expect(dues.livesUntilMs(byUntil)).toBe(40_000);
  });

  test('at an instant: then, or at once when it has passed', () => {
    const wall = { kind: 'at', roundMs: 10_000, offsetMinutes: 0 } as const;
    const ahead = operationOf({ intervalMs: 10_000, count: 1, wall });
    const passed = operationOf({ intervalMs: -1000, count: 1, wall: { ...wall, roundMs: 1 } });
    const dues = duesOf(0);
    expect([dues.notBeforeMs(ahead, 1), dues.dueByMs(ahead, 1)]).toEqual([30_000, 30_001]);
    expect([dues.notBeforeMs(passed, 1), dues.dueByMs(passed, 1)]).toEqual([13_001, 14_000]);
  });

  test('with clocks that are off: by as much earlier and later', () => {
    const dues = duesOf(2000);
    expect([dues.notBeforeMs(byCount, 1), dues.dueByMs(byCount, 1)]).toEqual([18_000, 22_001]);
    expect(dues.countMin(byUntil)).toBe(3);
  });

  test('with clocks half a period apart: no time after the first has a bound below', () => {
    const dues = duesOf(2500);
    expect(dues.notBeforeMs(byCount, 3)).toBe(dues.notBeforeMs(byCount, 1));
    expect(dues.countMax(byUntil)).toBe(Number.POSITIVE_INFINITY);
    expect(dues.countMax(byCount)).toBe(3);
  });
});
