import { expect, test } from 'vitest';
import { drawPlan, wholePlan } from '../plan.ts';

const dense = { ...wholePlan, dense: true };

test('a dense plan has the faults of the usual one, and as many timers, each within seconds of a fault', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const usual = drawPlan(seed, wholePlan);
    const plan = drawPlan(seed, dense);
    expect({ ...plan, timers: [] }).toEqual({ ...usual, timers: [] });
    expect(plan.timers).toHaveLength(usual.timers.length);
    const momentsMs = plan.faults.flatMap(({ atMs, forMs }) => [atMs, atMs + forMs]);
    if (momentsMs.length === 0) continue;
    for (const { startMs, steps } of plan.timers) {
      const isNear = momentsMs.some((ms) => startMs >= ms - 8000 && startMs <= ms + 4000);
      expect(isNear || startMs === 2000).toBe(true);
      expect(steps[0]?.does).toBe('set');
    }
  }
});
